package browser

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
)

// NetworkIdleTime is how long a frame and the frames within it must be without
// running requests to count as idle.
const NetworkIdleTime = 500 * time.Millisecond

// Lifecycle is a set of stages that a document reaches.
type Lifecycle uint8

const (
	// LifecycleCommit is reached when the response has begun and the document
	// became the frame's current one.
	LifecycleCommit Lifecycle = 1 << iota

	// LifecycleDOMContentLoaded is reached when the document is parsed.
	LifecycleDOMContentLoaded

	// LifecycleLoad is reached when the document, its child frames and all
	// resources in its markup have loaded.
	LifecycleLoad

	// LifecycleNetworkIdle is reached when the frame and the frames within it had
	// no running request for NetworkIdleTime.
	LifecycleNetworkIdle
)

// lifecycleNames are Playwright's names.
var lifecycleNames = []string{"commit", "domcontentloaded", "load", "networkidle"}

// String names the members of the set, separated by a bar.
func (l Lifecycle) String() string { return strings.Join(l.Names(), "|") }

// Names returns the names of the members of the set: "commit",
// "domcontentloaded", "load" and "networkidle".
func (l Lifecycle) Names() []string {
	var names []string
	for i, name := range lifecycleNames {
		if l&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Lifecycle returns the set of stages that the current document has reached.
func (f *Frame) Lifecycle() Lifecycle {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.lifecycle
}

// WaitForLifecycle waits until the current document, or one that replaces it
// meanwhile, has reached l. Every document has reached LifecycleCommit.
func (f *Frame) WaitForLifecycle(ctx context.Context, l Lifecycle) error {
	return f.page.browser.await(ctx, func() (bool, error) {
		if err := f.goneLocked(); err != nil {
			return false, err
		}
		return f.lifecycle&l == l, nil
	})
}

// WaitForDocument waits until the page shows another document than about:blank,
// with which a new page begins, and that document has reached l.
func (p *Page) WaitForDocument(ctx context.Context, l Lifecycle) error {
	return p.browser.await(ctx, func() (bool, error) {
		if err := p.main.goneLocked(); err != nil {
			return false, err
		}
		return p.main.url != "about:blank" && p.main.lifecycle&l == l, nil
	})
}

// setLifecycleLocked replaces the set. A stage that a document reaches again,
// after document.open, was removed in between.
func (f *Frame) setLifecycleLocked(l Lifecycle) {
	before := f.lifecycle
	f.lifecycle = l
	removed, added := before&^l, l&^before
	if l == LifecycleCommit && before != 0 { // another document starts without any stage
		removed, added = before, l
	}
	if removed|added != 0 {
		f.page.tellLocked(LifecycleChanged{Frame: f, Added: added, Removed: removed})
	}
	if f != f.page.main {
		return
	}
	switch {
	case added&LifecycleLoad != 0:
		f.page.loadedAt = time.Now()
	case l&LifecycleLoad == 0:
		f.page.loadedAt = time.Time{}
	}
	if added&LifecycleDOMContentLoaded != 0 {
		f.page.watchHeadLocked()
	}
}

// lifecycleEventLocked handles Chromium's lifecycle event of a document. Load
// includes child frames, also those in other processes. Network idle is computed
// in network.go.
func (a *attachment) lifecycleEventLocked(e page.EventLifecycleEvent) {
	f := a.page.frames[e.FrameID]
	if f == nil {
		return
	}
	if f.initial && f.loaderID == "" {
		f.loaderID = e.LoaderID
	}
	if e.LoaderID != f.loaderID {
		return // the document is gone, or it is the empty one before the first
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

// loadedLocked handles the effects of a load event.
func (f *Frame) loadedLocked() {
	p := f.page
	if f != p.main {
		return
	}
	if f.initial { // for example the popup of a javascript: URL, where no other document will come
		f.commitInitialLocked()
	}
	p.setLoadingLocked(false)
	p.watchHeadLocked()
}

// commitInitialLocked turns the empty document of a new page into its first
// document, because no other one will come.
func (f *Frame) commitInitialLocked() {
	f.initial = false
	f.url = "about:blank"
	f.reachedLocked(LifecycleCommit | LifecycleDOMContentLoaded | LifecycleLoad)
	f.page.readyLocked()
}

// setLoadingLocked reports a change of the page's loading state.
func (p *Page) setLoadingLocked(loading bool) {
	if p.loading != loading {
		p.loading = loading
		p.tellLocked(PageChanged{Page: p})
	}
}
