package automation_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"takeover/automation"
)

func TestRefusedAddresses(t *testing.T) {
	s := site(t, map[string]string{"/ok": "<p>ok</p>", "/a%b": "<p>ok</p>"})
	inner := strings.TrimPrefix(s.URL, "http://")
	r := newRig(t, func(o *automation.Options) {
		o.CheckURL = func(u *url.URL) error {
			if u.Hostname() == "forbidden.test" {
				return errors.New("forbidden.test is not for scripts")
			}
			return nil
		}
	})
	for _, tt := range []struct{ url, want string }{
		{"file:///etc/passwd", "file: addresses cannot be opened here"},
		{" FILE:///etc/passwd", "file: addresses cannot be opened here"},
		{"fi\nle:/etc/passwd", "file: addresses cannot be opened here"},
		{"\x00file:///etc/passwd", "file: addresses cannot be opened here"},
		{"chrome://version", "chrome: addresses cannot be opened here"},
		{"about:version", "about: addresses other than about:blank cannot be opened here"},
		{"view-source:" + s.URL, "view-source: addresses cannot be opened here"},
		{"devtools://devtools/bundled/inspector.html", "devtools: addresses cannot be opened here"},
		{"filesystem:" + s.URL + "/temporary/x", "filesystem: addresses cannot be opened here"},
		{"javascript:alert(1)", "javascript: addresses cannot be opened here"},
		{"ftp://a.example", "ftp: addresses cannot be opened here"},
		{"http://forbidden.test/x", "forbidden.test is not for scripts"},
		{"https:forbidden.test", "forbidden.test is not for scripts"},
		{`http:\\forbidden.test\100%`, "forbidden.test is not for scripts"},
		{`http://forbidden.test\@` + inner, "forbidden.test is not for scripts"},
		{"http://a%b/", `the address cannot be opened here: parse "http://a%b": invalid URL escape "%b"`},
		{"about:blank", ""}, {"about:blank?x#y", ""}, {"data:text/html,<p>ok", ""}, {s.URL + "/ok", ""}, {"http:" + inner + "/ok", ""}, {inner + "/ok", ""},
	} {
		err := r.call("frame.goto", params{"url": tt.url, "timeout": 5000}, nil)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q: %v", tt.url, err)
		case tt.want != "" && (err == nil || err.Error() != tt.want):
			t.Errorf("%q: got %v, want %s", tt.url, err, tt.want)
		}
	}
	equal(t, "the page", r.eval("document.body.textContent"), "ok")
}
