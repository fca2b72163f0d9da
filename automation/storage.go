package automation

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	fetchproto "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	prototarget "github.com/chromedp/cdproto/target"

	"takeover/browser"
	"takeover/cdp"
	"takeover/fetch"
	"takeover/storagestate"
)

const (
	// openPagePatience is how long an open page may take to return its storage.
	// After that, the storage is read in another way.
	openPagePatience = 2 * time.Second

	// originPatience bounds reading or writing the storage of one origin.
	originPatience = 30 * time.Second

	// maxStateOrigins bounds the origins of a state that a script sets.
	maxStateOrigins = 1000
)

type storageParams struct {
	Context     string `json:"context"`
	IndexedDB   bool   `json:"indexedDB"`
	OPFS        bool   `json:"opfs"`
	Credentials bool   `json:"credentials"`
}

// givenState is a state that a script sets.
type givenState struct {
	Cookies []json.RawMessage     `json:"cookies"`
	Origins []storagestate.Origin `json:"origins"`

	Credentials []storagestate.Passkey `json:"credentials"`
}

// storageScript calls a method of Playwright's storage script.
func storageScript(method string, arg any) (string, error) {
	s, err := scripts()
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(arg)
	if err != nil {
		return "", err
	}
	return "(()=>{const module={exports:{}};" + s.storage + "\nreturn new (module.exports.StorageScript())('chromium')." + method + "(" + string(raw) + ")})()", nil
}

// opStorageState reads a context's cookies and the storage of all origins that
// its pages have shown.
func opStorageState(ctx context.Context, c *Client, p *storageParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	cookies, err := readCookies(ctx, bc)
	if err != nil {
		return nil, err
	}
	origins, err := readOrigins(ctx, bc, p.IndexedDB, p.OPFS)
	if err != nil {
		return nil, err
	}
	state := newState(cookies, origins)
	if p.Credentials {
		state.Credentials, err = readPasskeys(bc)
	}
	return state, err
}

func newState(cookies []wireCookie, origins []storagestate.Origin) *storagestate.State {
	state := &storagestate.State{Cookies: make([]fetch.Cookie, len(cookies)), Origins: origins}
	for i, w := range cookies {
		state.Cookies[i] = w.plain()
	}
	return state
}

// StorageState reads the cookies of the default context, and the local storage and
// databases of all origins that its pages have shown or that SetStorageState has
// written, and its passkeys. Each origin also has the session storage of an open page or frame.
func (a *Automation) StorageState(ctx context.Context) (*storagestate.State, error) {
	bc := a.browser.DefaultContext()
	cookies, err := readCookies(ctx, bc)
	if err != nil {
		return nil, err
	}
	origins, err := readOrigins(ctx, bc, true, false)
	if err != nil {
		return nil, err
	}
	state := newState(cookies, addSessionStorage(ctx, bc, origins))
	state.Credentials, err = readPasskeys(bc)
	return state, err
}

// SetStorageState adds a state to the default context. Its oldest page gets the
// session storage.
func (a *Automation) SetStorageState(ctx context.Context, state *storagestate.State) error {
	if err := a.RestoreTabState(ctx, state); err != nil {
		return err
	}
	bc := a.browser.DefaultContext()
	if err := restoreOrigins(ctx, bc, state.OriginNames(), state.Origins); err != nil {
		return err
	}
	if len(state.Credentials) > 0 {
		return restorePasskeys(ctx, bc, state.Credentials)
	}
	return nil
}

// TabState reads what Chromium's folder does not keep: of all cookies, also those that last as
// long as Chromium, and the session storage of open pages.
func (a *Automation) TabState(ctx context.Context) (*storagestate.State, error) {
	bc := a.browser.DefaultContext()
	cookies, err := readCookies(ctx, bc)
	if err != nil {
		return nil, err
	}
	return newState(cookies, addSessionStorage(ctx, bc, nil)), nil
}

// RestoreTabState gives a Chromium that was started again in its folder what that does not
// keep of a state: the cookies that last as long as Chromium, and in its oldest page the
// session storage.
func (a *Automation) RestoreTabState(ctx context.Context, state *storagestate.State) error {
	bc := a.browser.DefaultContext()
	cookies := make([]newCookie, len(state.Cookies))
	for i, c := range state.Cookies {
		cookies[i] = newCookieOf(c)
	}
	if err := addCookies(ctx, bc, cookies); err != nil {
		return err
	}
	if pages := bc.Pages(); len(pages) > 0 {
		return restoreTabStorage(ctx, pages[0], state.Origins)
	}
	return nil
}

// addSessionStorage adds the session storage of open pages to their origins.
func addSessionStorage(ctx context.Context, bc *browser.Context, origins []storagestate.Origin) []storagestate.Origin {
	for _, o := range origins {
		o["sessionStorage"] = json.RawMessage("[]")
	}
	for _, page := range bc.Pages() {
		for _, frame := range page.Frames() {
			origin, items := readSessionStorage(ctx, frame)
			if items == nil {
				continue
			}
			at := slices.IndexFunc(origins, func(o storagestate.Origin) bool { return o.Name() == origin })
			if at < 0 {
				added := storagestate.Origin{"localStorage": json.RawMessage("[]")}
				added.SetName(origin)
				origins = append(origins, added)
				at = len(origins) - 1
			}
			if held := string(origins[at]["sessionStorage"]); held == "" || held == "[]" {
				origins[at]["sessionStorage"] = items
			}
		}
	}
	return origins
}

// readSessionStorage reads the session storage of a frame's origin. It returns
// nil when the storage is empty or the frame has none, as with about:blank or a
// sandboxed frame.
func readSessionStorage(ctx context.Context, f *browser.Frame) (origin string, items json.RawMessage) {
	if browser.Origin(f.URL()) == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, openPagePatience)
	defer cancel()
	world, err := f.World(ctx, browser.WorldUtility)
	if err != nil {
		return "", nil
	}
	const read = `() => ({ origin: location.origin, items: Object.keys(sessionStorage).map(name => ({ name, value: sessionStorage.getItem(name) })) })`
	res, err := world.Call(ctx, browser.CallOptions{Function: read, ByValue: true})
	if err != nil {
		return "", nil
	}
	var found struct {
		Origin string          `json:"origin"`
		Items  json.RawMessage `json:"items"`
	}
	if json.Unmarshal(res.Value, &found) != nil || string(found.Items) == "[]" {
		return "", nil
	}
	return found.Origin, found.Items
}

// readOrigins reads the non-empty storage of all origins that a context's pages
// have shown.
func readOrigins(ctx context.Context, bc *browser.Context, indexedDB, opfs bool) ([]storagestate.Origin, error) {
	code, err := storageScript("collect", map[string]bool{"indexedDB": indexedDB, "opfs": opfs})
	if err != nil {
		return nil, err
	}
	left := bc.Origins()
	found := []storagestate.Origin{}
	add := func(origin string, raw json.RawMessage) error {
		var state storagestate.Origin
		if err := json.Unmarshal(raw, &state); err != nil {
			return fmt.Errorf("storage of %s: %w", origin, err)
		}
		left = slices.DeleteFunc(left, func(o string) bool { return o == origin })
		if !state.Empty() {
			state.SetName(origin)
			found = append(found, state)
		}
		return nil
	}
	for _, page := range bc.Pages() {
		origin, raw := readOpenPage(ctx, page, left, code)
		if raw != nil {
			if err := add(origin, raw); err != nil {
				return nil, err
			}
		}
	}
	err = visitOrigins(ctx, bc, slices.Clone(left), func(string) (string, error) { return code, nil }, add)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// readOpenPage reads the storage of the origin that a page shows. It returns nil
// when that origin is not wanted, or the page does not answer.
func readOpenPage(ctx context.Context, page *browser.Page, wanted []string, code string) (string, json.RawMessage) {
	u, err := url.Parse(page.URL())
	if err != nil || page.Crashed() || page.Dialog() != nil {
		return "", nil
	}
	origin := u.Scheme + "://" + u.Host
	if !slices.Contains(wanted, origin) {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, openPagePatience)
	defer cancel()
	w, err := page.MainFrame().World(ctx, browser.WorldUtility)
	if err != nil {
		return "", nil
	}
	res, err := w.Call(ctx, browser.CallOptions{Function: "() => location.origin === " + string(mustJSON(origin)) + " ? " + code + " : null", ByValue: true, AwaitPromise: true})
	if err != nil || len(res.Value) == 0 || string(res.Value) == "null" {
		return "", nil
	}
	return origin, json.RawMessage(res.Value)
}

func mustJSON(text string) []byte {
	raw, _ := json.Marshal(text) // encoding a string cannot fail
	return raw
}

type setStorageParams struct {
	Context string      `json:"context"`
	State   *givenState `json:"state"`
	Initial bool        `json:"initial"`
}

// opSetStorageState replaces the cookies and the storage of a context or, with
// Initial, adds to them.
func opSetStorageState(ctx context.Context, c *Client, p *setStorageParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	if p.State == nil {
		p.State = &givenState{}
	}
	for _, o := range p.State.Origins {
		if !storagestate.IsOrigin(o.Name()) {
			return nil, errorf("Error setting storage state:\nInvalid URL: %s", o.Name())
		}
	}
	if len(p.State.Origins) > maxStateOrigins {
		return nil, errorf("Error setting storage state:\nmore than %d origins", maxStateOrigins)
	}
	var origins []string
	for _, o := range p.State.Origins {
		origins = append(origins, o.Name())
	}
	if !p.Initial {
		for _, known := range bc.Origins() {
			if !slices.Contains(origins, known) {
				origins = append(origins, known)
			}
		}
		if err := bc.Browser().Session().Call(ctx, storage.ClearCookies.Method, map[string]string{"browserContextId": bc.ID()}, nil); err != nil {
			return nil, err
		}
	}
	if err := setCookieState(ctx, bc, p.State.Cookies); err != nil {
		return nil, err
	}
	if err := restoreOrigins(ctx, bc, origins, p.State.Origins); err != nil {
		return nil, err
	}
	if !p.Initial {
		bc.ForgetPasskeys()
	}
	if len(p.State.Credentials) > 0 {
		if err := storagestate.CheckPasskeys(p.State.Credentials); err != nil {
			return nil, errorf("Error setting storage state:\n%v", err)
		}
		return emptyJSON, restorePasskeys(ctx, bc, p.State.Credentials)
	}
	return emptyJSON, nil
}

// restoreOrigins writes the storage of origins, and clears that of the named
// origins without a state.
func restoreOrigins(ctx context.Context, bc *browser.Context, names []string, origins []storagestate.Origin) error {
	states := map[string]storagestate.Origin{}
	for _, o := range origins {
		states[o.Name()] = o
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	err := visitOrigins(ctx, bc, names, func(origin string) (string, error) {
		state := states[origin]
		if state == nil {
			state = storagestate.Origin{}
		}
		return storageScript("restore", state)
	}, func(string, json.RawMessage) error { return nil })
	bc.Remember(names)
	return err
}

func setCookieState(ctx context.Context, bc *browser.Context, raw []json.RawMessage) error {
	cookies := make([]newCookie, len(raw))
	for i, r := range raw {
		if err := json.Unmarshal(r, &cookies[i]); err != nil {
			return errorf("Error setting storage state:\n%v", err)
		}
	}
	return addCookies(ctx, bc, cookies)
}

// visitOrigins runs code in an empty document of each origin, and passes each
// result to told. It does so in a page that neither the model nor people see, and
// that sends no requests.
func visitOrigins(ctx context.Context, bc *browser.Context, origins []string, code func(origin string) (string, error), told func(origin string, value json.RawMessage) error) (err error) {
	if len(origins) == 0 {
		return nil
	}
	root := bc.Browser().Session()
	created, err := cdp.Call(ctx, root, prototarget.CreateTarget, prototarget.CreateTargetParams{
		URL: "about:blank", BrowserContextID: bc.TargetContext(), Hidden: new(true), Background: new(true),
	})
	if err != nil {
		return fmt.Errorf("open storage page: %w", err)
	}
	var client *cdp.Client
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_, closing := cdp.Call(end, root, prototarget.CloseTarget, prototarget.CloseTargetParams{TargetID: created.TargetID})
		if client != nil {
			closing = errors.Join(closing, client.Close(end))
		}
		if err == nil {
			err = closing
		}
	}()
	client, err = root.Client().Conn().NewClient(ctx, cdp.SinkFunc(answerEmpty(func() *cdp.Client { return client })))
	if err != nil {
		return err
	}
	s, err := client.Attach(ctx, created.TargetID)
	if err != nil {
		return err
	}
	for _, command := range []struct {
		method string
		params any
	}{
		{network.Enable.Method, network.EnableParams{}},
		{network.SetBypassServiceWorker.Method, network.SetBypassServiceWorkerParams{Bypass: true}},
		{fetchproto.Enable.Method, fetchproto.EnableParams{}},
	} {
		if err := s.Call(ctx, command.method, command.params, nil); err != nil {
			return err
		}
	}
	for _, origin := range origins {
		source, err := code(origin)
		if err != nil {
			return err
		}
		value, err := visit(ctx, s, origin, source)
		if err != nil {
			return fmt.Errorf("storage of %s: %w", origin, err)
		}
		if err := told(origin, value); err != nil {
			return err
		}
	}
	return nil
}

// visit opens an empty document of an origin and evaluates code in it.
func visit(ctx context.Context, s *cdp.Session, origin, code string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, originPatience)
	defer cancel()
	nav, err := cdp.Call(ctx, s, page.Navigate, page.NavigateParams{URL: origin})
	if err != nil {
		return nil, err
	}
	if nav.ErrorText != "" {
		return nil, errors.New(nav.ErrorText)
	}
	res, err := cdp.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{Expression: code, AwaitPromise: new(true), ReturnByValue: new(true)})
	if err != nil {
		return nil, err
	}
	if e := res.ExceptionDetails; e != nil {
		if e.Exception != nil && e.Exception.Description != "" {
			return nil, errors.New(e.Exception.Description)
		}
		return nil, errors.New(e.Text)
	}
	return json.RawMessage(res.Result.Value), nil
}

// answerEmpty answers every request of a session with an empty document.
func answerEmpty(client func() *cdp.Client) func(cdp.Event) {
	body := base64.StdEncoding.EncodeToString([]byte("<html></html>"))
	return func(ev cdp.Event) {
		defer ev.Release()
		if ev.Method != fetchproto.RequestPaused.Method {
			return
		}
		var paused struct {
			RequestID string `json:"requestId"`
		}
		if jsonv2.Unmarshal(ev.Params, &paused, jsonv2.AllowInvalidUTF8(true)) != nil {
			return
		}
		_ = client().Session(ev.Session).Send(fetchproto.FulfillRequest.Method, map[string]any{ // a closed page needs no answer
			"requestId": paused.RequestID, "responseCode": 200, "body": body,
			"responseHeaders": []map[string]string{{"name": "content-type", "value": "text/html"}},
		})
	}
}
