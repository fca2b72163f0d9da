package browser

import (
	"slices"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
)

// frameLocked returns the frame with an id, and adds it if it is new. When the
// model is attached to a page with frames in several processes, a parent may not
// be known yet; it is added too, and gets its own parent later.
func (p *Page) frameLocked(a *attachment, id, parentID proto.FrameID) *Frame {
	f := p.frames[id]
	if f == nil {
		f = &Frame{page: p, id: id, seq: p.lastFrame, attachment: a, initial: true}
		p.lastFrame++
		p.frames[id] = f
		if id != proto.FrameID(p.id) {
			f.joinLocked(p.parentLocked(a, parentID))
		}
		p.tellLocked(FrameAttached{Frame: f})
		f.startIdleLocked()
	}
	if f.parent != nil && parentID != "" && f.parent.id != parentID {
		f.leaveLocked()
		f.joinLocked(p.parentLocked(a, parentID))
	}
	return f
}

func (p *Page) parentLocked(a *attachment, id proto.FrameID) *Frame {
	if id == "" {
		return p.main
	}
	return p.frameLocked(a, id, "")
}

func (f *Frame) joinLocked(parent *Frame) {
	f.parent = parent
	parent.children = append(parent.children, f)
}

func (f *Frame) leaveLocked() {
	f.parent.children = slices.DeleteFunc(f.parent.children, func(c *Frame) bool { return c == f })
}

// detachLocked removes a child frame and all frames below it, the deepest first.
func (f *Frame) detachLocked() {
	f.detachChildrenLocked()
	p := f.page
	f.detached = true
	f.stopIdleLocked()
	f.destroyWorldsLocked()
	f.dropRequestsLocked("")
	f.dropAttemptsLocked()
	delete(p.frames, f.id)
	p.tellLocked(FrameDetached{Frame: f})
	f.leaveLocked()
	f.parent.idleChangedLocked()
}

func (f *Frame) detachChildrenLocked() {
	for _, c := range slices.Clone(f.children) {
		c.detachLocked()
	}
}

// frameTreeLocked handles the list of frames that a process now has.
func (a *attachment) frameTreeLocked(tree *page.FrameTree) {
	f := a.page.frameLocked(a, tree.Frame.ID, tree.Frame.ParentID)
	f.attachment = a
	// The empty document of a new frame has no URL. An event reports the document
	// that replaces it.
	if tree.Frame.URL != "" && f.loaderID != tree.Frame.LoaderID {
		if !f.initial { // otherwise the children belong to this document, which came from another process, and were added earlier
			f.detachChildrenLocked()
		}
		f.commitLocked(a, tree.Frame, page.NavigationTypeNavigation)
	}
	for _, child := range tree.ChildFrames {
		a.frameTreeLocked(child)
	}
}

// frameAttachedLocked handles a frame that is new, or that came back from another
// process. In the latter case its old session may be detached before or after this
// event.
func (a *attachment) frameAttachedLocked(e page.EventFrameAttached) {
	a.page.frameLocked(a, e.FrameID, e.ParentFrameID).attachment = a
}

// frameDetachedLocked handles the removal of a frame. A swapped frame goes on in
// another process, whose session is attached already.
func (a *attachment) frameDetachedLocked(e page.EventFrameDetached) {
	f := a.page.frames[e.FrameID]
	if f != nil && f.parent != nil && e.Reason != page.FrameDetachedReasonSwap {
		f.detachLocked()
	}
}

// frameNavigatedLocked handles a new document of a frame.
func (a *attachment) frameNavigatedLocked(e page.EventFrameNavigated) {
	f := a.page.frameLocked(a, e.Frame.ID, e.Frame.ParentID)
	f.selfIdle = false // requests that end with the old document do not make it idle
	f.detachChildrenLocked()
	f.commitLocked(a, e.Frame, e.Type)
	if e.Type != page.NavigationTypeBackForwardCacheRestore {
		return
	}
	// Chromium does not report the frames of a document from the back-forward
	// cache.
	a.browser.send(post(a.session, page.GetFrameTree, proto.Empty{}, func(res page.GetFrameTreeResult, err error) {
		if err == nil {
			a.frameTreeLocked(res.FrameTree)
		}
	}))
}

// commitLocked makes a document the frame's current one. It does not end worlds:
// they have events of their own, because the first document of a popup may keep
// the worlds of the empty document before it.
func (f *Frame) commitLocked(a *attachment, doc *proto.Frame, kind page.NavigationType) {
	p := f.page
	f.selfIdle = false
	f.attachment = a
	f.initial = false
	f.url = doc.URL + doc.URLFragment
	p.context.visitedLocked(doc.URL)
	f.name = doc.Name
	f.failedURL = doc.UnreachableURL
	f.loaderID = doc.LoaderID
	f.commits++
	f.moves++
	f.response = f.commitAttemptLocked(doc)
	f.dropRequestsLocked(doc.LoaderID)
	f.resetIdleLocked()
	reached := LifecycleCommit
	if kind == page.NavigationTypeBackForwardCacheRestore { // such a document reached all stages before
		reached |= LifecycleDOMContentLoaded | LifecycleLoad | LifecycleNetworkIdle
		f.selfIdle = true
	}
	f.setLifecycleLocked(reached)
	p.tellLocked(FrameNavigated{Frame: f, URL: f.url, Name: f.name, Response: f.response})
	p.leaveLocalLocked(f)
	if f == p.main {
		p.replacedLocked()
		p.forgetHeadLocked()
		p.loading = reached&LifecycleLoad == 0
		p.tellLocked(PageChanged{Page: p})
		p.readyLocked()
	}
}

// navigatedWithinDocumentLocked handles a navigation by fragment or History API.
func (a *attachment) navigatedWithinDocumentLocked(e page.EventNavigatedWithinDocument) {
	f := a.page.frames[e.FrameID]
	if f == nil {
		return
	}
	f.moves++
	f.movedWithinLocked(e.URL)
}

// documentOpenedLocked handles document.open, which starts the document again.
func (a *attachment) documentOpenedLocked(e page.EventDocumentOpened) {
	f := a.page.frames[e.Frame.ID]
	if f == nil {
		return
	}
	f.resetIdleLocked()
	if f == f.page.main {
		f.page.headWorld = nil // it has another head
	}
	f.setLifecycleLocked(LifecycleCommit)
	if url := e.Frame.URL + e.Frame.URLFragment; url != f.url {
		f.movedWithinLocked(url)
	}
}

func (f *Frame) movedWithinLocked(url string) {
	f.url = url
	f.page.tellLocked(FrameNavigated{Frame: f, URL: f.url, Name: f.name, SameDocument: true})
	if f == f.page.main {
		f.page.tellLocked(PageChanged{Page: f.page})
	}
}
