package chromium_test

import (
	"regexp"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/chromium"
)

// TestUserAgent compares the user agent that a page sees with the user agent of a
// Chromium that has a window.
func TestUserAgent(t *testing.T) {
	page := browsertest.PageOf(t, browsertest.Launch(t, chromium.LaunchOptions{}).Conn())
	page.HTML("<p>")
	var got struct {
		Agent, Version string
		Brands         []string
	}
	page.Eval(`({ agent: navigator.userAgent, version: navigator.appVersion, brands: navigator.userAgentData?.brands.map(b => b.brand) ?? [] })`, &got)
	if !regexp.MustCompile(`^Mozilla/5\.0 \(X11; Linux x86_64\) AppleWebKit/537\.36 \(KHTML, like Gecko\) Chrome/[1-9]\d*\.0\.0\.0 Safari/537\.36$`).MatchString(got.Agent) {
		t.Errorf("user agent %q", got.Agent)
	}
	if !strings.HasSuffix(got.Agent, got.Version) || strings.Contains(strings.Join(got.Brands, " "), "Headless") {
		t.Errorf("version %q, brands %q", got.Version, got.Brands)
	}
}

// TestUserAgentOfASilentExecutable checks that an executable that never prints
// its version delays the start only for a moment.
func TestUserAgentOfASilentExecutable(t *testing.T) {
	_, err := chromium.Launch(t.Context(), chromium.LaunchOptions{Dir: t.TempDir(), ExecPath: script(t, `[ "$1" = --version ] && { sleep 1000 & wait; }; exit 5`)})
	if err == nil || !strings.Contains(err.Error(), "exit status 5") {
		t.Errorf("got %v", err)
	}
}
