package browser

import (
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/cdp"
)

// targetFilter leaves out what is not a page's: the browser's own user
// interface (browser_ui: an omnibox that nobody sees) and the default ones.
var targetFilter = target.Filter{
	{Type: "browser", Exclude: true},
	{Type: "tab", Exclude: true},
	{Type: "browser_ui", Exclude: true},
	{},
}

// autoAttach attaches to everything that belongs to a session, now and later,
// and halts it until it is set up.
var autoAttach = target.SetAutoAttachParams{
	AutoAttach:             true,
	WaitForDebuggerOnStart: true,
	Flatten:                new(true),
	Filter:                 targetFilter,
}

// setUpSteps are the replies that say that a session is set up: its frame tree,
// and the last of the commands that were sent with it.
const setUpSteps = 2

// attachment is the model's session with a page, with a frame of it that lives
// in another process, or with a worker. A service worker's has a page that only keeps its requests.
type attachment struct {
	browser *Browser
	session *cdp.Session
	page    *Page
	root    proto.FrameID // the topmost frame of the target
	parent  *attachment   // the one it was attached under; nil for a page
	worker  *Worker       // whose session it is, or nil

	// Guarded by the browser's lock.
	steps      int               // of setUpSteps, done
	worlds     map[string]*World // by unique id
	dead       bool              // the renderer died
	crashed    chan struct{}     // closed when that was told; a new one when it lives again
	intercepts holding           // what Chromium holds back of its requests
}

// attachedLocked takes in a new session. What is not modelled is sent on its way.
func (b *Browser) attachedLocked(parent *attachment, e target.EventAttachedToTarget) {
	s := b.client.Session(cdp.SessionID(e.SessionID))
	info := e.TargetInfo
	a := &attachment{
		browser: b, session: s, root: proto.FrameID(info.TargetID), parent: parent,
		worlds: map[string]*World{}, crashed: make(chan struct{}),
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

// leave lets a target that is not modelled run, and detaches from it: a service
// worker with somebody attached would never be stopped.
func (b *Browser) leave(parent *attachment, s *cdp.Session) {
	on := b.client.Browser()
	if parent != nil {
		on = parent.session
	}
	// One after the other: a worker whose session ends before it was let go waits
	// for ever.
	b.send(post(s, runtime.RunIfWaitingForDebugger, proto.Empty{}, func(proto.Empty, error) {
		b.send(cdp.Send(on, target.DetachFromTarget, target.DetachFromTargetParams{SessionID: target.SessionID(s.ID())}))
	}))
}

// setUpLocked sends everything that a new session needs in one go, so that it
// costs one round trip, and then lets the target run: its first script finds
// all of it in place.
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
		RunImmediately: new(true), // makes the world in the documents that are there
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

// send logs a command that could not be sent. The session's end, which is the
// usual reason, is told by an event of its own.
func (b *Browser) send(err error) {
	if err != nil {
		b.logger.Debug("command not sent", "error", err)
	}
}

// detachedLocked takes a session out of the model. The frame of a frame's
// session stays: it may be on its way back into its parent's process, which then
// tells of it; and whoever removes it for good is its parent, which tells too.
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
