package browser

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
)

// NetworkIdleTime is how long a frame and the frames within it must be without a
// request under way to be idle.
const NetworkIdleTime = 500 * time.Millisecond

// Lifecycle is a set of the points that a document reaches.
type Lifecycle uint8

const (
	// LifecycleCommit is reached when the response has begun and the document is
	// the frame's current one.
	LifecycleCommit Lifecycle = 1 << iota

	// LifecycleDOMContentLoaded is reached when the document is parsed.
	LifecycleDOMContentLoaded

	// LifecycleLoad is reached when the document and everything it named in its
	// markup, child frames included, has loaded.
	LifecycleLoad

	// LifecycleNetworkIdle is reached when the frame and the frames within it
	// have had no request under way for NetworkIdleTime.
	LifecycleNetworkIdle
)

// lifecycleNames are Playwright's.
var lifecycleNames = []string{"commit", "domcontentloaded", "load", "networkidle"}

// String names the members of the set, separated by a bar.
func (l Lifecycle) String() string { return strings.Join(l.Names(), "|") }

// Names are the names of the members of the set: "commit", "domcontentloaded",
// "load" and "networkidle".
func (l Lifecycle) Names() []string {
	var names []string
	for i, name := range lifecycleNames {
		if l&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Lifecycle is the set that the current document has reached.
func (f *Frame) Lifecycle() Lifecycle {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.lifecycle
}

// WaitForLifecycle waits until the current document, or the one that takes its
// place meanwhile, has reached l. LifecycleCommit is reached by every document.
func (f *Frame) WaitForLifecycle(ctx context.Context, l Lifecycle) error {
	return f.page.browser.await(ctx, func() (bool, error) {
		if err := f.goneLocked(); err != nil {
			return false, err
		}
		return f.lifecycle&l == l, nil
	})
}

// setLifecycleLocked replaces the set. A point that the document has reached
// before and reaches again, after document.open, was removed in between.
func (f *Frame) setLifecycleLocked(l Lifecycle) {
	before := f.lifecycle
	f.lifecycle = l
	removed, added := before&^l, l&^before
	if l == LifecycleCommit && before != 0 { // another document: all begins again
		removed, added = before, l
	}
	if removed|added != 0 {
		f.page.tellLocked(LifecycleChanged{Frame: f, Added: added, Removed: removed})
	}
	if f == f.page.main && added&LifecycleDOMContentLoaded != 0 {
		f.page.watchHeadLocked()
	}
}

// lifecycleEventLocked handles what Chromium says of a document. Load includes
// the child frames there, out-of-process ones too. Network idle is our own: see
// network.go.
func (a *attachment) lifecycleEventLocked(e page.EventLifecycleEvent) {
	f := a.page.frames[e.FrameID]
	if f == nil {
		return
	}
	if f.initial && f.loaderID == "" {
		f.loaderID = e.LoaderID
	}
	if e.LoaderID != f.loaderID {
		return // of a document that is gone, or of the empty one before the first
	}
	switch e.Name {
	case "DOMContentLoaded":
		f.reachedLocked(LifecycleDOMContentLoaded)
	case "load":
		f.reachedLocked(LifecycleDOMContentLoaded | LifecycleLoad)
		f.loadedLocked()
	}
}

func (f *Frame) reachedLocked(l Lifecycle) {
	if f.lifecycle&l != l {
		f.setLifecycleLocked(f.lifecycle | l)
	}
}

// loadedLocked does what follows from a load event.
func (f *Frame) loadedLocked() {
	p := f.page
	if f != p.main {
		return
	}
	if f.initial { // the popup of a javascript: URL, say: nothing else comes
		f.settleInitialLocked()
	}
	p.setLoadingLocked(false)
	p.watchHeadLocked()
}

// settleInitialLocked makes the empty document that a page begins with its
// first one, because no other comes.
func (f *Frame) settleInitialLocked() {
	f.initial = false
	f.url = "about:blank"
	f.reachedLocked(LifecycleCommit | LifecycleDOMContentLoaded | LifecycleLoad)
	f.page.readyLocked()
}

// setLoadingLocked reports the page's loading state when it changes.
func (p *Page) setLoadingLocked(loading bool) {
	if p.loading != loading {
		p.loading = loading
		p.tellLocked(PageChanged{Page: p})
	}
}
