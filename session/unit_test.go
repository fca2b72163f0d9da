package session

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"takeover/invalid"
)

func TestParseAddress(t *testing.T) {
	refuse := func(u *url.URL) error {
		if u.Host == "127.0.0.1:8080" && !strings.HasPrefix(u.Path, "/demo") {
			return errors.New("this is the server itself")
		}
		return nil
	}
	for text, want := range map[string]string{
		"":                               "about:blank",
		"about:blank":                    "about:blank",
		"example.com":                    "https://example.com",
		"example.com/a?b=c#d":            "https://example.com/a?b=c#d",
		"http://example.com/":            "http://example.com/",
		"localhost:3000/x":               "http://localhost:3000/x",
		"127.0.0.1:3000":                 "http://127.0.0.1:3000",
		"http://127.0.0.1:8080/demo/":    "http://127.0.0.1:8080/demo/",
		" example.com ":                  "https://example.com",
		"http://127.0.0.1:8080/sessions": "!",
		"file:///etc/passwd":             "!",
		"file:/etc/passwd":               "!",
		"chrome://settings":              "!",
		"view-source:https://a.example":  "!",
		"javascript:alert(1)":            "!",
		"data:text/html,hi":              "!",
		"ftp://example.com":              "!",
		"two words":                      "!",
		"http://":                        "!",
		"https://example.com\x00":        "!",
	} {
		got, err := parseAddress(text, refuse)
		if want == "!" {
			if err == nil {
				t.Errorf("%q was taken as %q", text, got)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q gave %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestURLPattern(t *testing.T) {
	for _, c := range []struct {
		glob, url string
		want      bool
	}{
		{"**/welcome", "https://a.example/x/welcome", true},
		{"**/welcome", "https://a.example/welcome?x", false},
		{"https://a.example/*", "https://a.example/x", true},
		{"https://a.example/*", "https://a.example/x/y", false},
		{"https://a.example/**", "https://a.example/x/y", true},
		{"/demo/welcome", "http://127.0.0.1:1/demo/welcome", true},
		{"/demo/*", "http://127.0.0.1:1/demo/a/b", false},
		{"**/{a,b}", "https://x.example/b", true},
		{"**/{a,b}", "https://x.example/c", false},
		{"https://a.example/?q=1", "https://a.example/?q=1", true},
		{"https://a.example/(x", "https://a.example/(x", true},
		{"https://A.example", "https://a.example/", true},
		{"https://a.example/**/x", "https://a.example/x", true},
		{`**/a\*`, "https://a.example/a*", true},
		{"/[a]?x", "https://a.example/[a]?x", true},
	} {
		p, err := urlPattern(c.glob)
		if err != nil {
			t.Errorf("%q: %v", c.glob, err)
			continue
		}
		if got := p.Match(c.url); got != c.want {
			t.Errorf("%q on %q is %v", c.glob, c.url, got)
		}
	}
	for until, want := range map[string]bool{"#done": false, "//h1": false, "text=Welcome": false, "**/x": true, "/x": true, "https://a/": true} {
		if isURLGlob(until) != want {
			t.Errorf("%q is a URL glob: %v", until, !want)
		}
	}
}

func TestCreateOptionsNameTheField(t *testing.T) {
	server := Options{Dir: t.TempDir()}
	server.setDefaults()
	for field, o := range map[string]CreateOptions{
		"timeout":           {Timeout: time.Millisecond},
		"idleTimeout":       {IdleTimeout: -time.Second},
		"dimensions.width":  {Dimensions: Dimensions{Width: 10, Height: 500}},
		"dimensions.height": {Dimensions: Dimensions{Width: 500, Height: 50_000}},
		"deviceScaleFactor": {DeviceScaleFactor: 9},
		"url":               {URL: "file:///etc/passwd"},
		"proxyUrl":          {ProxyURL: "gopher://x"},
	} {
		err := o.check(&server)
		bad := (*invalid.Error)(nil)
		if !errors.As(err, &bad) || len(bad.Fields) != 1 || bad.Fields[0].Field != field {
			t.Errorf("bad %s gave %v", field, err)
		}
	}
	var o CreateOptions
	if err := o.check(&server); err != nil || o.Timeout != DefaultTimeout || o.Dimensions.Width != DefaultWidth {
		t.Errorf("defaults: %+v, %v", o, err)
	}
}
