package browser

import (
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/cdproto/webauthn"

	"takeover/cdp"
)

// targetFilter excludes the browser's own user interface (browser_ui: an
// invisible omnibox) and the targets that Chromium excludes by default.
var targetFilter = target.Filter{
	{Type: "browser", Exclude: true},
	{Type: "tab", Exclude: true},
	{Type: "browser_ui", Exclude: true},
	{},
}

// autoAttach attaches to all current and future targets that belong to a session,
// and pauses each of them until it is set up.
var autoAttach = target.SetAutoAttachParams{
	AutoAttach:             true,
	WaitForDebuggerOnStart: true,
	Flatten:                new(true),
	Filter:                 targetFilter,
}

// setUpSteps is the number of replies that complete a session's setup: the one
// with the frame tree, and the one to the last setup command.
const setUpSteps = 2

// attachment is the model's session with a page, with a frame in another process,
// or with a worker. A service worker's session has a page only to keep the
// worker's requests.
type attachment struct {
	browser *Browser
	session *cdp.Session
	page    *Page
	root    proto.FrameID // the topmost frame of the target
	parent  *attachment   // the session under which it was attached; nil for a page
	worker  *Worker       // the session's worker, or nil

	// Guarded by the browser's lock.
	steps      int                         // number of finished setUpSteps
	worlds     map[string]*World           // by unique id
	contexts   map[string]executionContext // all that are there, by unique id
	dead       bool                        // the renderer died
	crashed    chan struct{}               // closed when subscribers know of the crash; replaced when the page lives again
	intercepts holding                     // the requests that Chromium holds back

	authenticator webauthn.AuthenticatorID // of a page whose context has passkeys
}

// attachedLocked adds a new session. Targets that the model does not need are
// resumed and left.
func (b *Browser) attachedLocked(parent *attachment, e target.EventAttachedToTarget) {
	s := b.client.Session(cdp.SessionID(e.SessionID))
	info := e.TargetInfo
	a := &attachment{
		browser: b, session: s, root: proto.FrameID(info.TargetID), parent: parent,
		worlds: map[string]*World{}, contexts: map[string]executionContext{}, crashed: make(chan struct{}),
	}
	switch {
	case info.Type == "page" && parent == nil && info.Subtype == "":
		a.page = b.newPageLocked(a, info)
	case info.Type == "iframe" && parent != nil:
		a.page = parent.page
		f := a.page.frameLocked(parent, proto.FrameID(info.TargetID), info.ParentFrameID)
		f.attachment = a
	case info.Type == "worker" && parent != nil && parent.page != nil:
		b.newWorkerLocked(parent, s, info)
		return
	case info.Type == "service_worker" && parent == nil && b.newServiceSessionLocked(s, info):
		return
	default:
		b.leave(parent, s)
		return
	}
	b.attachments[s.ID()] = a
	a.setUpLocked()
}

// leave lets an unneeded target run, and detaches from it, because an attached
// service worker never stops.
func (b *Browser) leave(parent *attachment, s *cdp.Session) {
	on := b.client.Browser()
	if parent != nil {
		on = parent.session
	}
	// The commands must go one after the other: a worker whose session ends
	// before it is resumed waits for ever.
	b.send(post(s, runtime.RunIfWaitingForDebugger, proto.Empty{}, func(proto.Empty, error) {
		b.send(cdp.Send(on, target.DetachFromTarget, target.DetachFromTargetParams{SessionID: target.SessionID(s.ID())}))
	}))
}

// setUpLocked sends all commands that a new session needs at once, so that they
// cost one round trip, and then lets the target run. Its first script then finds
// everything in place.
func (a *attachment) setUpLocked() {
	s, b := a.session, a.browser
	b.send(cdp.Send(s, page.Enable, page.EnableParams{}))
	b.send(post(s, page.GetFrameTree, proto.Empty{}, func(res page.GetFrameTreeResult, err error) {
		if err == nil {
			a.frameTreeLocked(res.FrameTree)
			a.setUpStepLocked()
		}
	}))
	b.send(cdp.Send(s, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{Enabled: true}))
	b.send(cdp.Send(s, runtime.Enable, proto.Empty{}))
	b.send(cdp.Send(s, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		WorldName:      b.utilityName,
		RunImmediately: new(true), // also makes the world in existing documents
	}))
	a.sendInitScriptsLocked()
	a.enableLog()
	a.setUpNetworkLocked()
	b.send(cdp.Send(s, target.SetAutoAttach, autoAttach))
	b.send(cdp.Send(s, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	if a.page.choosers > 0 {
		b.send(cdp.Send(s, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true}))
	}
	a.emulateLocked()
	if a.parent == nil && a.page.context.passkeys != nil {
		a.addAuthenticatorLocked(a.resumeLocked) // costs a further round trip
		return
	}
	a.resumeLocked()
}

// resumeLocked lets the target of a new session run.
func (a *attachment) resumeLocked() {
	s, b := a.session, a.browser
	b.send(post(s, runtime.RunIfWaitingForDebugger, proto.Empty{}, func(_ proto.Empty, err error) {
		if err == nil {
			a.setUpStepLocked()
		}
	}))
}

func (a *attachment) setUpStepLocked() {
	a.steps++
	a.page.readyLocked()
}

func (a *attachment) sendViewport(v Viewport) {
	if v.Width > 0 {
		a.browser.send(a.session.Send(emulation.SetDeviceMetricsOverride.Method, v.metrics(a.browser.options.Density)))
	}
	if v.Width > 0 || v.HasTouch {
		a.browser.send(cdp.Send(a.session, emulation.SetTouchEmulationEnabled, v.touch()))
	}
}

// send logs err, if a command could not be sent. The usual reason is the end of the
// session, which has an event of its own.
func (b *Browser) send(err error) {
	if err != nil {
		b.logger.Debug("command not sent", "error", err)
	}
}

// detachedLocked removes a session from the model. The frame of a frame's session
// stays: it may be moving back to its parent's process, whose session then
// reports it. When the parent removes the frame for good, the parent's session
// reports that too.
func (b *Browser) detachedLocked(id cdp.SessionID) {
	a := b.attachments[id]
	if a == nil {
		return
	}
	for child, c := range b.attachments {
		if c.parent == a {
			b.detachedLocked(child)
		}
	}
	delete(b.attachments, id)
	a.destroyWorldsLocked()
	if a.worker != nil {
		a.worker.detachedLocked()
		return
	}
	a.forgetInitScriptsLocked()
	if a.parent == nil {
		b.closePageLocked(a.page)
		return
	}
	a.page.readyLocked()
}
