package web

import (
	"net/url"
	"testing"
)

// TestIsDemo checks that no spelling of a path leads out of the demo site.
func TestIsDemo(t *testing.T) {
	for text, demo := range map[string]bool{
		"/demo": true, "/demo/": true, "/demo/shop?a=..": true, "/demo/login": true,
		"/": false, "/demonstration": false, "/login": false, "/../demo/../login": false,
		"/demo/../login": false, "/demo/%2e%2e/login": false, "/demo/.%2E/login": false, "/demo/x/../../login": false, "/demo%2f..%2flogin": false, `/demo/..\login`: false,
	} {
		u, err := url.Parse("http://127.0.0.1:8191" + text)
		if err != nil {
			t.Fatal(err)
		}
		if IsDemo(u.Path) != demo {
			t.Errorf("%s: demo %v", text, !demo)
		}
	}
}
