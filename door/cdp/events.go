package cdp

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/cdp"
	"takeover/cdp/policy"
	"takeover/session"
)

// visibleTargets are what a client sees of the browser: its sessions, and which targets are
// the server's own.
type visibleTargets struct {
	mu       sync.Mutex // guards what follows
	root     cdp.SessionID
	browser  string // the client's own target of type browser
	sessions map[cdp.SessionID]*attached
	hidden   map[string]bool // targets that were announced and left out
	crashes  []crash         // which the client was not told of, oldest first
}

// attached is one of the client's sessions.
type attached struct {
	id         cdp.SessionID
	target     string
	paused     bool      // the target waits until the client lets it run
	since      time.Time // when it was announced
	begun      bool      // the client has set it up: has let it run, or has sent something that writes
	dialogs    uint64
	dialogOpen bool
	scope      *policy.Scope
}

func newVisibleTargets() visibleTargets {
	return visibleTargets{sessions: map[cdp.SessionID]*attached{}, hidden: map[string]bool{}}
}

// begin sets the root, before the first command.
func (v *visibleTargets) begin(raw *session.RawClient, page string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.root, v.browser = raw.Root(), raw.BrowserTarget()
	kind := "page"
	if page == "" {
		page, kind = v.browser, "browser"
	}
	v.sessions[v.root] = &attached{id: v.root, target: page, scope: policy.NewScope(raw, policy.Client, page, kind)}
}

// find returns the session that a client names; an empty id is its root.
func (v *visibleTargets) find(id cdp.SessionID) (attached, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if id == "" {
		id = v.root
	}
	a := v.sessions[id]
	if a == nil {
		return attached{}, false
	}
	return *a, true
}

// change changes a session, if it is still there.
func (v *visibleTargets) change(id cdp.SessionID, change func(*attached)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if a := v.sessions[id]; a != nil {
		change(a)
	}
}

// start records that the client has set up a session, or has sent something else that
// writes.
func (v *visibleTargets) start(id cdp.SessionID) {
	v.change(id, func(a *attached) { a.begun = true })
}

// paused returns the sessions whose targets wait for the client.
func (v *visibleTargets) paused() (ids []cdp.SessionID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, a := range v.sessions {
		if a.paused && !a.begun {
			ids = append(ids, id)
		}
	}
	return ids
}

// settingUp reports whether a command belongs to setting up a paused target, which
// never waits for a person: the person's own new page would wait with it.
func (a attached) settingUp(method string) bool {
	return a.paused && !a.begun && (isSetting(method) || setUpCommands[method])
}

// setsLater reports whether a command is a setting of a page that the client has just
// attached to. Most programs attach to all pages at once and go on when their settings
// are answered.
func (a attached) setsLater(method string) bool {
	return !a.paused && !a.begun && isSetting(method)
}

// isSetting reports whether a command sets how a page looks or is loaded. Chromium's
// answer to it is empty.
func isSetting(method string) bool {
	return domainOf(method) == "Emulation" && !standstill[method] || settings[method]
}

// standstill has the settings that keep a page from going on.
var standstill = map[string]bool{
	"Emulation.setVirtualTimePolicy": true, "Emulation.setScriptExecutionDisabled": true, "Emulation.setCPUThrottlingRate": true, "Emulation.setDocumentCookieDisabled": true,
}

// settings are the settings outside the domain Emulation.
var settings = map[string]bool{
	"Page.setFontFamilies": true, "Page.setBypassCSP": true, "Security.setIgnoreCertificateErrors": true,
	"Network.setCacheDisabled": true, "Network.setExtraHTTPHeaders": true, "Network.setUserAgentOverride": true,
	"Network.emulateNetworkConditions": true, "Network.setBypassServiceWorker": true, "Page.setPrerenderingAllowed": true,
}

// setUpCommands are what else programs send to a paused target. Code in it would reach
// its opener; see notAtOnce.
var setUpCommands = map[string]bool{
	"Emulation.setScriptExecutionDisabled": true, "Fetch.enable": true, page.AddScriptToEvaluateOnNewDocument.Method: true,
}

// targetInfo has the members of Target.TargetInfo that decide who sees a target.
type targetInfo struct {
	TargetID string                    `json:"targetId"`
	Type     string                    `json:"type"`
	Context  string                    `json:"browserContextId"`
	Embedder map[string]jsontext.Value `json:"embedderData"`
}

// isOurs reports whether a target is the server's own or the browser's: a page made
// with Target.createTarget's hidden has the type "other", and its tab is in no tab
// strip; "browser_ui" is the browser's own user interface.
func (t targetInfo) isOurs() bool {
	switch t.Type {
	case "other", "browser_ui":
		return true
	case "tab":
		return len(t.Embedder) == 0
	}
	return false
}

// isStrange reports whether the client must not see a target: one of the server's,
// or the browser target of another client.
func (v *visibleTargets) isStrange(t targetInfo) bool {
	return t.isOurs() || t.Type == "browser" && t.TargetID != v.browser
}

// decode decodes what Chromium sent.
func decode(raw []byte, into any) bool {
	return jsonv2.Unmarshal(raw, into, jsontext.AllowInvalidUTF8(true)) == nil
}

// shows reports whether the client gets an event, and keeps its sessions. It
// removes the session's id from events of the root. It runs on the connection's
// read loop.
func (c *Client) shows(ev *cdp.Event) bool {
	c.targets.mu.Lock()
	on := c.targets.sessions[ev.Session]
	root := c.targets.root
	var target string
	var scope *policy.Scope
	if on != nil {
		target, scope = on.target, on.scope
	}
	c.targets.mu.Unlock()
	if on == nil {
		c.mayEnd(ev, root)
		return false
	}
	at := ev.Session
	if at == root {
		ev.Session = ""
	}
	switch ev.Method {
	case inspector.TargetCrashed.Method:
		return c.showsCrash(ev, at, target)
	case inspector.TargetReloadedAfterCrash.Method:
		return c.showsRevival(at)
	}
	if domainOf(ev.Method) == "Target" {
		return c.showsTarget(ev, at)
	}
	shown, then := scope.Visible(ev.Method, ev.Params)
	ev.Params = scope.Told(ev.Method, ev.Params)
	c.tellAll(at, then)
	if scope.Holds() {
		c.watchOver()
	}
	c.countDialogs(ev.Method, at)
	return shown
}

// mayEnd ends the connection of a client whose root is a page, when that page is
// gone. The event comes on the browser session, which such a client does not see.
func (c *Client) mayEnd(ev *cdp.Event, root cdp.SessionID) {
	var e target.EventDetachedFromTarget
	if ev.Method == target.DetachedFromTarget.Method && root != "" && decode(ev.Params, &e) && cdp.SessionID(e.SessionID) == root {
		c.cancel(errPageGone)
	}
}

// showsTarget handles the events that announce targets and sessions.
func (c *Client) showsTarget(ev *cdp.Event, at cdp.SessionID) bool {
	var e struct {
		SessionID cdp.SessionID `json:"sessionId"`
		TargetID  string        `json:"targetId"`
		Info      targetInfo    `json:"targetInfo"`
		Paused    bool          `json:"waitingForDebugger"`
	}
	if !decode(ev.Params, &e) {
		return false
	}
	switch ev.Method {
	case target.TargetCreated.Method, target.TargetInfoChanged.Method:
		c.targets.mu.Lock()
		defer c.targets.mu.Unlock()
		if strange := c.targets.isStrange(e.Info); !strange {
			return true
		}
		c.targets.hidden[e.Info.TargetID] = true
		return false
	case target.TargetDestroyed.Method, target.TargetCrashed.Method:
		c.targets.mu.Lock()
		hidden := c.targets.hidden[e.TargetID]
		if ev.Method == target.TargetDestroyed.Method {
			delete(c.targets.hidden, e.TargetID)
			c.targets.forget(func(k crash) bool { return k.target == e.TargetID })
		}
		c.targets.mu.Unlock()
		return !hidden && (ev.Method == target.TargetDestroyed.Method || c.showsCrash(ev, at, e.TargetID))
	case target.AttachedToTarget.Method:
		if e.Info.isOurs() {
			c.leave(at, e.SessionID)
			return false
		}
		c.targets.mu.Lock()
		defer c.targets.mu.Unlock()
		c.targets.sessions[e.SessionID] = &attached{id: e.SessionID, target: e.Info.TargetID, paused: e.Paused, since: time.Now(), scope: policy.NewScope(c.raw, policy.Client, e.Info.TargetID, e.Info.Type)}
		if e.Paused {
			c.watchOver()
			select {
			case c.holding <- struct{}{}:
			default:
			}
		}
	case target.DetachedFromTarget.Method:
		c.targets.mu.Lock()
		defer c.targets.mu.Unlock()
		known := c.targets.sessions[e.SessionID] != nil
		delete(c.targets.sessions, e.SessionID)
		c.targets.forget(func(k crash) bool { return k.at == e.SessionID })
		return known
	}
	return true
}

// leave lets a target of the server run, and detaches from it. The commands must go
// one after the other: a target whose session ends before it runs waits for ever.
func (c *Client) leave(parent, child cdp.SessionID) {
	c.tell(child, runtime.RunIfWaitingForDebugger.Method, nil, func() {
		raw, err := json.Marshal(map[string]cdp.SessionID{"sessionId": child})
		if err == nil {
			c.tell(parent, target.DetachFromTarget.Method, raw, nil)
		}
	})
}

// countDialogs counts the dialogs of a session.
func (c *Client) countDialogs(method string, at cdp.SessionID) {
	switch method {
	case page.JavascriptDialogOpening.Method:
		c.targets.change(at, func(a *attached) { a.dialogs++; a.dialogOpen = true })
	case page.JavascriptDialogClosed.Method:
		c.targets.change(at, func(a *attached) { a.dialogOpen = false })
	}
}

// stillMeant returns the reply to a command that has waited and has lost its
// meaning: an answer to a dialog that a person has answered meanwhile.
func (c *Client) stillMeant(cmd *call) error {
	if cmd.method != page.HandleJavaScriptDialog.Method || cmd.dialogs == 0 {
		return nil
	}
	if now, ok := c.targets.find(cmd.session); ok && now.dialogOpen && now.dialogs == cmd.dialogs {
		return nil
	}
	return &policy.RefusedError{Code: policy.CodeParams, Message: "No dialog is showing"}
}

// bringToFront shows people the page that a command brings to the front.
func (c *Client) bringToFront(cmd *call) {
	switch cmd.method {
	case page.BringToFront.Method:
		if on, ok := c.targets.find(cmd.session); ok {
			c.raw.Show(on.target)
		}
	case target.ActivateTarget.Method:
		var p struct {
			Target string `json:"targetId"`
		}
		if cmd.decode(&p) == nil {
			c.raw.Show(p.Target)
		}
	}
}

// observe records what a command that is about to be sent changes.
func (c *Client) observe(cmd *call, on attached) {
	if cmd.method == runtime.RunIfWaitingForDebugger.Method || cmd.writes && !on.paused && !cmd.answered {
		c.targets.start(on.id)
	}
	switch {
	case cmd.method == page.Enable.Method:
		c.raw.Hears()
	case cmd.method == browser.GetWindowForTarget.Method:
		c.noteWindow(cmd, on)
	case cmd.method == page.CreateIsolatedWorld.Method:
		cmd.result = func(raw json.RawMessage) (json.RawMessage, error) { // a client may use the world at once, and the server judges that
			var made struct {
				World int64 `json:"executionContextId"`
			}
			if decode(raw, &made) {
				c.raw.AwaitWorld(c.ctx, on.target, made.World)
			}
			return raw, nil
		}
	case strings.HasPrefix(cmd.method, "Emulation."), cmd.method == page.SetWebLifecycleState.Method, cmd.method == "Network.setUserAgentOverride":
		c.raw.Emulated(on.target)
	}
}
