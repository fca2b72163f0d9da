package session

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"takeover/browser"
	"takeover/text"
)

// tabSet holds a session's browser, its tabs, and the tab that viewers see.
type tabSet struct {
	fields atomic.Uint64   // numbers the fields with the focus, in all browsers
	ctx    context.Context // ends with the session
	size   pageSize

	mu          sync.Mutex    // guards what follows; may be taken while Session.mu is held
	engine      *engine       // nil while there is no browser
	served      *engine       // engine, as soon as its tabs are there
	reserved    chan struct{} // closed and replaced when served changes
	tabs        tabList
	focus       *focus        // what viewers see; nil while there is no page
	refocused   chan struct{} // closed and replaced when focus changes
	hibernation hibernation
}

func newTabSet(session context.Context, size Dimensions) *tabSet {
	return &tabSet{ctx: session, size: pageSize{wanted: size}, refocused: make(chan struct{}), reserved: make(chan struct{}), hibernation: newHibernation()}
}

// browser returns the browser, or nil.
func (g *tabSet) browser() *engine {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.engine
}

// enter makes a started browser the session's browser. Its pages get the tabs of
// the previous browser.
func (g *tabSet) enter(eng *engine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tabs.lose()
	g.engine = eng
}

// serve records that the tabs of a browser are there, so that programs may begin.
func (g *tabSet) serve(eng *engine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.engine == eng {
		g.hibernation.yes, g.hibernation.state = false, nil
		g.setServedLocked(eng)
	}
}

// serving returns the browser whose tabs are there (nil for none), and a channel
// that is closed when that changes.
func (g *tabSet) serving() (*engine, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.served, g.reserved
}

func (g *tabSet) setServedLocked(eng *engine) {
	g.served = eng
	close(g.reserved)
	g.reserved = make(chan struct{})
}

// leave forgets a browser that is about to be stopped.
func (g *tabSet) leave(eng *engine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.engine == eng {
		g.engine = nil
		g.setServedLocked(nil)
	}
}

// crash forgets a browser that died. Viewers see nothing until the next one is there.
func (g *tabSet) crash() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.crashLocked()
}

func (g *tabSet) crashLocked() {
	g.engine = nil
	g.setServedLocked(nil)
	g.setFocusLocked(nil)
}

// close forgets the pages of a session that has ended. Their tabs remain in its list.
func (g *tabSet) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.setFocusLocked(nil)
	for _, t := range slices.Concat(g.tabs.open, g.tabs.lost) {
		t.page = nil
	}
}

// shown returns what viewers see (nil for nothing), and a channel that is closed
// when that changes.
func (g *tabSet) shown() (*focus, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.focus, g.refocused
}

// setFocusLocked sets what viewers see; nil means nothing.
func (g *tabSet) setFocusLocked(f *focus) {
	if g.focus != nil {
		g.focus.cancel()
	}
	g.focus = f
	close(g.refocused)
	g.refocused = make(chan struct{})
}

// showLocked makes a tab the active one.
func (g *tabSet) showLocked(eng *engine, t *tab) {
	g.tabs.active = t.Tab.Tab
	ctx, cancel := context.WithCancel(g.ctx)
	g.setFocusLocked(&focus{eng: eng, page: t.page, tab: t.Tab.Tab, ctx: ctx, cancel: cancel})
	t.page.BringToFront()
}

// refocus makes viewers check again whether they may see the shown page.
func (g *tabSet) refocus() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.focus; f != nil {
		ctx, cancel := context.WithCancel(g.ctx)
		g.setFocusLocked(&focus{eng: f.eng, page: f.page, tab: f.tab, ctx: ctx, cancel: cancel})
	}
}

// newPage says what decides whether a new page may take the place of the shown
// one.
type newPage struct {
	person bool                    // a person is in control
	wanted func(at time.Time) bool // reports whether the person pressed something in the opener shortly before at
}

// mayShowLocked reports whether a new page takes the place of the shown one.
// While no person is in control, it does, unless a page other than the shown
// one opened it. But what a person types must not go to a page that the person
// did not ask for. When a person opens a page by a click with a modifier key,
// Chromium names no opener, so the page stays in the background, as in any
// browser.
func (g *tabSet) mayShowLocked(p *browser.Page, n newPage) bool {
	at, opened := p.Opened()
	switch {
	case g.focus == nil:
		return true
	case !opened:
		return !n.person || g.tabs.opening > 0
	case g.focus.page != p.Opener():
		return false
	}
	return !n.person || n.wanted(at)
}

// add gives a page of a browser a tab, and shows the tab if it may. It returns
// the tab, and the address to restore in the page. ok is false for a page that
// already has a tab or whose browser is gone.
func (g *tabSet) add(eng *engine, p, opener *browser.Page, n newPage) (added Tab, url string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tabs.byPage(p) != nil || g.engine != eng {
		return Tab{}, "", false
	}
	active := g.tabs.active
	t, url := g.tabs.add(p, opener)
	t.describe(p)
	restored := url != ""
	switch {
	case restored && t.Tab.Tab == active, !restored && g.mayShowLocked(p, n):
		g.showLocked(eng, t)
	case g.focus != nil: // Chromium has put the new page in front of the shown one
		g.focus.page.BringToFront()
	}
	return t.Tab, url, true
}

// remove drops the tab of a closed page and shows another one in its place. known
// is false if the page's browser is gone, and had is false if the page has no
// tab.
func (g *tabSet) remove(eng *engine, p *browser.Page) (known, had bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.engine != eng {
		return false, false
	}
	gone, next := g.tabs.remove(p)
	if next != nil {
		g.showLocked(eng, next)
	} else if gone != nil && g.tabs.active == 0 {
		g.setFocusLocked(nil)
	}
	return true, gone != nil
}

// update reads a page's title, address and state. ok is false for a page without a
// tab.
func (g *tabSet) update(eng *engine, p *browser.Page) (now Tab, changed, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tabs.byPage(p)
	if t == nil || g.engine != eng {
		return Tab{}, false, false
	}
	before := t.Tab
	t.describe(p)
	return t.Tab, t.Tab != before, true
}

// activate shows a tab. It returns false without such a tab, and after the browser's end.
func (g *tabSet) activate(eng *engine, number uint32) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tabs.byNumber(number)
	if t == nil || g.engine != eng {
		return false
	}
	g.showLocked(eng, t)
	return true
}

// showPage shows the tab of a page. It returns false if the page has none, or is
// already shown.
func (g *tabSet) showPage(eng *engine, p *browser.Page) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tabs.byPage(p)
	if t == nil || g.engine != eng || g.tabs.active == t.Tab.Tab {
		return false
	}
	g.showLocked(eng, t)
	return true
}

// page returns the page of a tab, or nil if there is no such tab, and whether it
// is the only tab.
func (g *tabSet) page(number uint32) (p *browser.Page, only bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.tabs.byNumber(number); t != nil {
		return t.page, len(g.tabs.open) == 1
	}
	return nil, false
}

// number returns the number of a page's tab, or 0 if it has none.
func (g *tabSet) number(p *browser.Page) uint32 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.tabs.byPage(p); t != nil {
		return t.Tab.Tab
	}
	return 0
}

// opened reports whether the tab of a number was opened by another tab that is
// still open.
func (g *tabSet) opened(number uint32) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tabs.byNumber(number)
	return t != nil && g.tabs.byNumber(t.opener) != nil
}

// list returns the tabs and the number of the active one; 0 for none.
func (g *tabSet) list() (tabs []Tab, active uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tabs.list(), g.tabs.active
}

// active returns the active tab and its page.
func (g *tabSet) active() (Tab, *browser.Page, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.tabs.byNumber(g.tabs.active); t != nil {
		return t.Tab, t.page, true
	}
	return Tab{}, nil, false
}

// target returns the target of the active tab's page, also after the session's end, or
// "".
func (g *tabSet) target() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.tabs.byNumber(g.tabs.active); t != nil {
		return t.target
	}
	return ""
}

// awaitShown waits for the document of the shown tab after a crash. Viewers are
// told of the recovery only then, because a click on an empty page would be lost.
func (g *tabSet) awaitShown(ctx context.Context) error {
	_, p, ok := g.active()
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, firstPageTimeout)
	defer cancel()
	return p.WaitForDocument(ctx, browser.LifecycleDOMContentLoaded)
}

// awaitReopened waits until tabs of a browser that is gone show their addresses again, for
// a moment at most: programs find pages by them.
func (g *tabSet) awaitReopened(ctx context.Context, former []Tab) {
	ctx, cancel := context.WithTimeout(ctx, reopenedTimeout)
	defer cancel()
	for _, t := range former {
		if p, _ := g.page(t.Tab); p != nil && t.URL != "" && t.URL != emptyPage {
			_ = p.WaitForDocument(ctx, browser.LifecycleCommit) // a tab that does not load is there all the same
		}
	}
}

// lost returns how many tabs wait for a page of the new browser.
func (g *tabSet) lost() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.tabs.lost)
}

// opening records that a person is opening a tab, until done is called. It
// returns false if there are too many tabs.
func (g *tabSet) opening() (done func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.tabs.open) >= maxTabs {
		return nil, false
	}
	g.tabs.opening++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.tabs.opening--
	}, true
}

// refuse records that a page wanted to open one tab too many. It reports whether
// viewers should be notified, which happens at most once per refusedPause.
func (g *tabSet) refuse(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.tabs.refusedAt) < refusedPause {
		return false
	}
	g.tabs.refusedAt = now
	return true
}

// tabList numbers a session's pages. Guarded by tabSet.mu.
type tabList struct {
	last   uint32
	open   []*tab // in the order they were opened
	lost   []*tab // tabs of a browser that died, for the pages of its successor
	active uint32 // 0 for none

	opening int // number of tabs that people are opening now

	refusedAt time.Time // when viewers were last told that a page wanted to open one tab too many
}

// tab is a page and its number.
type tab struct {
	Tab
	page   *browser.Page // nil after the session's end
	target string        // of the page
	opener uint32
}

func (l *tabList) list() []Tab {
	list := make([]Tab, len(l.open))
	for i, t := range l.open {
		list[i] = t.Tab
	}
	return list
}

func (l *tabList) byNumber(n uint32) *tab {
	for _, t := range l.open {
		if t.Tab.Tab == n {
			return t
		}
	}
	return nil
}

func (l *tabList) byPage(p *browser.Page) *tab {
	for _, t := range l.open {
		if t.page == p {
			return t
		}
	}
	return nil
}

// lose marks all open tabs as lost, until a new browser's pages replace them.
func (l *tabList) lose() { l.lost, l.open = l.open, nil }

// add gives a page its tab: a lost tab if there is one and no other page opened
// this page, and otherwise a new tab.
func (l *tabList) add(p, opener *browser.Page) (t *tab, url string) {
	if opener == nil && len(l.lost) > 0 {
		t = l.lost[0]
		l.lost = l.lost[1:]
		url, t.opener = t.URL, 0 // its history is gone, too
	} else {
		l.last++
		t = &tab{Tab: Tab{Tab: l.last}}
	}
	t.page, t.target = p, string(p.ID())
	if from := l.byPage(opener); from != nil {
		t.opener = from.Tab.Tab
	}
	l.open = append(l.open, t)
	return t, url
}

// remove drops a page's tab. If it was the active tab, remove returns the tab to
// show next: the tab that opened it, or else the last tab.
func (l *tabList) remove(p *browser.Page) (gone, next *tab) {
	gone = l.byPage(p)
	if gone == nil {
		return nil, nil
	}
	l.open = slices.DeleteFunc(l.open, func(t *tab) bool { return t == gone })
	if gone.Tab.Tab != l.active {
		return gone, nil
	}
	l.active = 0
	if next = l.byNumber(gone.opener); next == nil && len(l.open) > 0 {
		next = l.open[len(l.open)-1]
	}
	return gone, next
}

// focus is a page that viewers see. Its context ends when something else takes
// its place.
type focus struct {
	eng    *engine
	page   *browser.Page
	tab    uint32
	ctx    context.Context // ends with the focus
	cancel context.CancelFunc
}

// maxTitle bounds the titles that viewers receive, in bytes, because pages
// choose them.
const maxTitle = 500

func (t *tab) describe(p *browser.Page) {
	t.Loading, t.State = p.Loading(), TabLive
	if p.Crashed() {
		t.State = TabCrashed
	}
	if url := cmp.Or(p.MainFrame().FailedURL(), p.URL()); url != "" { // not the address of Chromium's error page
		t.URL = text.Clip(url, 32<<10)
	}
	t.Title, t.Favicon = text.Clip(p.Title(), maxTitle), ""
	if icon := p.Favicon(); len(icon) < 32<<10 {
		t.Favicon = icon
	}
}
