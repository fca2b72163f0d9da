package automation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"takeover/automation"
	"takeover/browser"
)

// openIn opens a page in a new context and makes it the rig's page.
func (r *rig) openIn(options params) string {
	r.Helper()
	var made struct{ Context string }
	r.do("browser.newContext", options, &made)
	var page struct{ Page string }
	r.do("context.newPage", params{"context": made.Context}, &page)
	r.adopt(page.Page)
	return made.Context
}

// adopt makes a page from an event the rig's page.
func (r *rig) adopt(page string) {
	r.Helper()
	r.page = page
	var created struct {
		P struct {
			ID        string
			MainFrame struct{ ID string }
		}
	}
	r.await("page.created", &created)
	if created.P.ID != page {
		r.Fatalf("the newest page is %s, not %s", created.P.ID, page)
	}
	r.frame = created.P.MainFrame.ID
}

func TestNewContextOptions(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>", "/csp": `<meta http-equiv="Content-Security-Policy" content="script-src 'none'">`})
	r := newRig(t)
	for _, tt := range []struct {
		name    string
		options params
		path    string
		cases   map[string]any
	}{
		{"defaults", nil, "/", map[string]any{
			"[innerWidth, innerHeight, devicePixelRatio]": []int{1280, 720, 1}, "'ontouchstart' in window": false,
			"matchMedia('(prefers-color-scheme: light)').matches": true, "matchMedia('(prefers-reduced-motion: no-preference)').matches": true,
		}},
		{"phone", params{"viewport": params{"width": 400, "height": 800}, "screen": params{"width": 410, "height": 900}, "deviceScaleFactor": 2.5, "isMobile": true, "hasTouch": true, "userAgent": "Mozilla/5.0 (Linux; Android 14; X) Mobile"}, "/", map[string]any{
			"[screen.width, screen.height, devicePixelRatio]": []any{410, 900, 2.5}, "'ontouchstart' in window": true, "navigator.maxTouchPoints > 0": true,
			"navigator.userAgent": "Mozilla/5.0 (Linux; Android 14; X) Mobile", "screen.orientation.type": "portrait-primary", "matchMedia('(pointer: coarse)').matches": true,
		}},
		{"place", params{"locale": "de-DE", "timezoneId": "Asia/Tokyo"}, "/", map[string]any{
			"navigator.language": "de-DE", "(1234.5).toLocaleString()": "1.234,5", "Intl.DateTimeFormat().resolvedOptions().timeZone": "Asia/Tokyo",
		}},
		{"media", params{"colorScheme": "dark", "reducedMotion": "reduce", "forcedColors": "active", "contrast": "more"}, "/", map[string]any{
			"matchMedia('(prefers-color-scheme: dark)').matches": true, "matchMedia('(prefers-reduced-motion: reduce)').matches": true,
			"matchMedia('(forced-colors: active)').matches": true, "matchMedia('(prefers-contrast: more)').matches": true,
		}},
		{"no policy", params{"bypassCSP": true}, "/csp", map[string]any{"(() => { const s = document.createElement('script'); s.text = 'window.ran = 1'; document.head.append(s); return window.ran })()": 1}},
		{"no scripts", params{"javaScriptDisabled": true}, "/", map[string]any{"(() => { const s = document.createElement('script'); s.text = 'document.title = 1'; document.head.append(s); return document.title })()": "t"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			context := r.openIn(tt.options)
			r.do("frame.goto", params{"url": s.URL + tt.path}, nil)
			for expression, want := range tt.cases {
				equal(t, expression, r.eval(expression), want)
			}
			r.do("context.close", params{"context": context}, nil)
		})
	}
	for _, tt := range []struct {
		options params
		want    string
	}{
		{params{"noViewport": true, "isMobile": true}, `"isMobile" option is not supported with null "viewport"`},
		{params{"noViewport": true, "deviceScaleFactor": 2}, `"deviceScaleFactor" option is not supported with null "viewport"`},
		{params{"colorScheme": "pink"}, "colorScheme: expected one of (dark|light|no-preference|no-override)"},
		{params{"geolocation": params{"latitude": 91, "longitude": 0}}, "geolocation.latitude: precondition -90 <= LATITUDE <= 90 failed."},
		{params{"permissions": []string{"everything"}}, "Unknown permission: everything"},
	} {
		equal(t, tt.want, fmt.Sprint(r.call("browser.newContext", tt.options, nil)), tt.want)
	}
}

// TestEmulationOfPopups checks that popups and frames in other processes have
// their context's emulation before their first script.
func TestEmulationOfPopups(t *testing.T) {
	const probe = `<script>window.seen = [navigator.userAgent, navigator.language, matchMedia('(prefers-color-scheme: dark)').matches, Intl.DateTimeFormat().resolvedOptions().timeZone, 'ontouchstart' in window].join()</script>`
	other := site(t, map[string]string{"/": probe})
	far := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	s := site(t, map[string]string{"/": probe + `<iframe src="` + far + `"></iframe>`, "/popup": probe})
	r := newRig(t)
	r.openIn(params{"userAgent": "me/1", "locale": "fr-FR", "colorScheme": "dark", "timezoneId": "Asia/Tokyo", "hasTouch": true, "viewport": params{"width": 500, "height": 400}})
	const want = "me/1,fr-FR,true,Asia/Tokyo,true"
	r.do("frame.goto", params{"url": s.URL}, nil)
	equal(t, "the page", r.eval("window.seen"), want)
	var popup struct{ P struct{ ID, Opener string } }
	r.eval("(window.open('/popup'), 1)")
	for popup.P.Opener == "" {
		r.next("page.created", &popup)
	}
	first, frame := r.page, r.frame
	r.adopt(popup.P.ID)
	r.do("frame.waitForLoadState", params{"state": "load", "timeout": 5000}, nil)
	equal(t, "the popup", r.eval("window.seen"), want)
	equal(t, "its size", r.eval("innerWidth"), 500)
	r.page, r.frame = first, frame
	var handle struct{ Handle string }
	r.do("frame.querySelector", params{"selector": "iframe"}, &handle)
	var inner struct{ Frame string }
	r.do("handle.contentFrame", params{"handle": handle.Handle}, &inner)
	r.frame = inner.Frame
	equal(t, "the frame", r.eval("window.seen"), want)
}

func TestEmulateMedia(t *testing.T) {
	r := newRig(t)
	dark := func() any {
		return r.eval("[matchMedia('print').matches, matchMedia('(prefers-color-scheme: dark)').matches]")
	}
	r.do("page.emulateMedia", params{"media": "print", "colorScheme": "dark"}, nil)
	equal(t, "both", dark(), []bool{true, true})
	r.do("page.emulateMedia", params{"media": "no-override"}, nil)
	equal(t, "dark stays", dark(), []bool{false, true})
	r.do("page.emulateMedia", params{"colorScheme": "no-override"}, nil)
	equal(t, "neither", dark(), []bool{false, false})
}

func TestGeolocationAndPermissions(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>"})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	state := func(name string) any {
		var out struct{ Value struct{ S string } }
		r.do("frame.evaluate", params{"expression": "name => navigator.permissions.query({name}).then(s => s.state)", "isFunction": true, "arg": params{"value": params{"s": name}}}, &out)
		return out.Value.S
	}
	before := state("geolocation")
	r.do("context.grantPermissions", params{"permissions": []string{"geolocation"}}, nil)
	r.do("context.grantPermissions", params{"permissions": []string{"notifications"}, "origin": s.URL}, nil)
	r.do("context.grantPermissions", params{"permissions": []string{"geolocation"}, "origin": s.URL}, nil)
	equal(t, "granted", []any{state("geolocation"), state("notifications")}, []string{"granted", "granted"})
	r.do("context.setGeolocation", params{"geolocation": params{"latitude": 52.5, "longitude": 13.4, "accuracy": 10}}, nil)
	var place struct{ Value struct{ S string } }
	r.do("frame.evaluate", params{"expression": "() => new Promise((f, r) => navigator.geolocation.getCurrentPosition(p => f(p.coords.latitude + ' ' + p.coords.accuracy), r))", "isFunction": true}, &place)
	equal(t, "place", place.Value.S, "52.5 10")
	r.do("context.clearPermissions", nil, nil)
	equal(t, "as before", state("geolocation"), before)
}

// TestPermissionsOfOthers checks that a client's grants stay when another client
// removes its own grants, or ends.
func TestPermissionsOfOthers(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>"})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	states := func() string {
		var out struct{ Value struct{ S string } }
		r.do("frame.evaluate", params{"expression": "Promise.all(['geolocation', 'notifications', 'midi'].map(name => navigator.permissions.query({name}).then(s => s.state))).then(String)", "isFunction": false}, &out)
		return out.Value.S
	}
	before := states()
	other := r.automation.NewClient(automation.ClientOptions{Context: r.context})
	t.Cleanup(other.Close)
	grant := func(c *automation.Client, name string) {
		t.Helper()
		raw, err := json.Marshal(params{"permissions": []string{name}, "origin": s.URL})
		if err == nil {
			_, err = c.Do(t.Context(), automation.Call{Name: "context.grantPermissions", Params: raw})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	grant(other, "notifications")
	grant(r.client, "geolocation")
	grant(r.client, "notifications")
	equal(t, "granted by both", strings.HasPrefix(states(), "granted,granted"), true)
	r.do("context.clearPermissions", nil, nil)
	equal(t, "of the other", strings.Split(states(), ",")[:2], []string{"denied", "granted"}) // Chromium denies permissions that were not granted
	grant(r.client, "midi")
	equal(t, "together", strings.HasSuffix(states(), "granted,granted"), true)
	other.Close()
	equal(t, "without the other", strings.Split(states(), ",")[1:], []string{"denied", "granted"})
	r.do("context.clearPermissions", nil, nil)
	equal(t, "as before", states(), before)
}

// TestSettingsEndWithClient checks that a client's settings in pages and contexts
// of others end with it.
func TestSettingsEndWithClient(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>"})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	look := `[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]`
	before := r.eval(look)
	r.do("page.setViewportSize", params{"width": 333, "height": 444}, nil)
	r.do("page.emulateMedia", params{"colorScheme": "dark"}, nil)
	r.do("context.grantPermissions", params{"permissions": []string{"geolocation"}}, nil)
	r.do("context.setGeolocation", params{"geolocation": params{"latitude": 1, "longitude": 2}}, nil)
	equal(t, "changed", r.eval(look), []any{333, true})
	r.client.Close()

	r.client = r.automation.NewClient(automation.ClientOptions{Context: r.context, Emit: r.emit})
	t.Cleanup(r.client.Close)
	r.rename()
	equal(t, "as it was", r.eval(look), before)
	equal(t, "the model", r.context.Options().Geolocation, (*browser.Geolocation)(nil))
	var state struct{ Value struct{ S string } }
	r.do("frame.evaluate", params{"expression": "() => navigator.permissions.query({name: 'geolocation'}).then(s => s.state)", "isFunction": true}, &state)
	equal(t, "permission", state.Value.S == "granted", false)
}
