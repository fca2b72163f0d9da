package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"takeover/browser"
	"takeover/control"
	"takeover/text"
)

// tabList numbers a session's pages. Guarded by Session.mu.
type tabList struct {
	last   uint32
	open   []*tab // in the order they were opened
	lost   []*tab // of a browser that died, to be given to its successor's pages
	active uint32 // 0 for none

	opening int // by people, just now

	refusedAt time.Time // when viewers were last told that pages open too many
}

// tab is a page and its number.
type tab struct {
	Tab
	page   *browser.Page
	opener uint32
}

func (l *tabList) list() []Tab {
	list := make([]Tab, len(l.open))
	for i, t := range l.open {
		list[i] = t.Tab
	}
	return list
}

func (l *tabList) activeTab() (Tab, bool) {
	if t := l.byNumber(l.active); t != nil {
		return t.Tab, true
	}
	return Tab{}, false
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

// lose makes all open tabs lost ones.
func (l *tabList) lose() { l.lost, l.open = l.open, nil }

// add gives a page its tab: a lost one's if there is any and the page was not
// opened by another.
func (l *tabList) add(p, opener *browser.Page) (t *tab, url string) {
	if opener == nil && len(l.lost) > 0 {
		t = l.lost[0]
		l.lost = l.lost[1:]
		t.page, url = p, t.URL
	} else {
		l.last++
		t = &tab{Tab: Tab{Tab: l.last}, page: p}
	}
	if from := l.byPage(opener); from != nil {
		t.opener = from.Tab.Tab
	}
	l.open = append(l.open, t)
	return t, url
}

// remove drops a page's tab and returns the tab to show when it was the active
// one: the one that opened it, else the last.
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

// focus is what viewers see: a page of a browser. Its context ends when
// something else takes its place.
type focus struct {
	eng    *engine
	page   *browser.Page
	tab    uint32
	ctx    context.Context // the focus's life
	cancel context.CancelFunc
}

// setFocusLocked changes what viewers see; nil for nothing.
func (s *Session) setFocusLocked(f *focus) {
	if s.focus != nil {
		s.focus.cancel()
	}
	s.focus = f
	close(s.refocused)
	s.refocused = make(chan struct{})
}

// showLocked makes a tab the active one.
func (s *Session) showLocked(eng *engine, t *tab) {
	s.tabs.active = t.Tab.Tab
	ctx, cancel := context.WithCancel(s.ctx)
	s.setFocusLocked(&focus{eng: eng, page: t.page, tab: t.Tab.Tab, ctx: ctx, cancel: cancel})
	t.page.BringToFront()
}

// onModelEvent follows the browser's pages. It runs on the model's goroutine.
func (s *Session) onModelEvent(eng *engine, ev browser.Event) {
	s.questions.Handle(ev)
	switch ev := ev.(type) {
	case browser.PageCreated:
		s.addPage(eng, ev.Page, ev.Opener)
	case browser.PageClosed:
		s.removePage(eng, ev.Page)
	case browser.PageChanged:
		s.updatePage(eng, ev.Page)
	case browser.PageRefused:
		s.tabRefused()
	case browser.PageCrashed:
		s.pageCrashed(eng, ev.Page)
	case browser.DownloadBegan:
		s.downloadBegan(ev.Download)
	case browser.DownloadProgressed:
		s.downloadProgressed(ev)
	case browser.DownloadEnded:
		s.downloadEnded(eng, ev)
	}
}

// popupWindow is how long after a person's press in a page what that page opens is
// taken for what they asked for.
const popupWindow = 5 * time.Second

// mayShowLocked reports whether a new page takes the place of the one that is looked
// at. Pages may open others at any time, so that scripts find what they open; what
// a person types is not to go to one that they did not ask for. Chromium names no
// opener of what a click with a key opens: that stays behind, as in any browser.
func (s *Session) mayShowLocked(p *browser.Page, holder control.Holder) bool {
	at, opened := p.Opened()
	switch {
	case s.focus == nil:
		return true
	case !opened:
		return !holder.IsPerson() || s.tabs.opening > 0
	case s.focus.page != p.Opener():
		return false
	}
	return !holder.IsPerson() || s.gestures.wanted(p.Opener(), at, popupWindow)
}

// addPage gives a page a tab and shows it, unless another page opened it that
// nobody looks at or presses in.
func (s *Session) addPage(eng *engine, p, opener *browser.Page) {
	holder := s.control.Holder()
	s.mu.Lock()
	if s.tabs.byPage(p) != nil || s.engine != eng {
		s.mu.Unlock()
		return
	}
	active := s.tabs.active
	t, url := s.tabs.add(p, opener)
	t.describe(p)
	s.said.Titled(string(p.ID()), t.Title)
	restored := url != ""
	switch {
	case restored && t.Tab.Tab == active, !restored && s.mayShowLocked(p, holder):
		s.showLocked(eng, t)
	case s.focus != nil: // Chromium has put the new one before it
		s.focus.page.BringToFront()
	}
	s.mu.Unlock()
	s.questions.PageOpened(p)
	if url != "" && url != "about:blank" {
		p.Open(url)
	}
	s.sendTabs()
	s.sendWidgets()
}

func (s *Session) removePage(eng *engine, p *browser.Page) {
	if eng.proc.Conn().Err() != nil {
		return // the browser died, and its pages with it: they are to come back
	}
	s.mu.Lock()
	if s.engine != eng {
		s.mu.Unlock()
		return
	}
	gone, next := s.tabs.remove(p)
	s.said.Titled(string(p.ID()), "")
	if next != nil {
		s.showLocked(eng, next)
	} else if gone != nil && s.tabs.active == 0 {
		s.setFocusLocked(nil)
	}
	s.mu.Unlock()
	if gone != nil {
		s.life.spawn(func() { eng.live.Forget(p.ID()) })
		s.sendTabs()
		s.sendWidgets()
	}
}

func (s *Session) updatePage(eng *engine, p *browser.Page) {
	s.mu.Lock()
	t := s.tabs.byPage(p)
	if t == nil || s.engine != eng {
		s.mu.Unlock()
		return
	}
	before := t.Tab
	t.describe(p)
	s.said.Titled(string(p.ID()), t.Title)
	changed := t.Tab != before
	s.mu.Unlock()
	if changed {
		s.sendTabs()
	}
}

// refusedPause is the least time between two words on pages that open too many tabs.
const refusedPause = 10 * time.Second

// tabRefused tells who may act that a page wanted one tab more than there may be.
func (s *Session) tabRefused() {
	now := time.Now()
	s.mu.Lock()
	again := now.Sub(s.tabs.refusedAt) < refusedPause
	if !again {
		s.tabs.refusedAt = now
	}
	s.mu.Unlock()
	if !again {
		s.tellActors("", ErrorMessage{Type: "error", Message: fmt.Sprintf("tabs: this page wanted another tab, but there are %d: close one", maxTabs)})
	}
}

// pageCrashed tells viewers that a page's renderer died.
func (s *Session) pageCrashed(eng *engine, p *browser.Page) {
	s.log.Warn("tab crashed")
	s.updatePage(eng, p)
}

// TabCrashed reports whether the page that is shown has no renderer any more.
func (s *Session) TabCrashed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tabs.activeTab()
	return ok && t.State == TabCrashed
}

// maxTitle bounds what a page can make every viewer receive.
const maxTitle = 500

func (t *tab) describe(p *browser.Page) {
	t.Loading, t.State = p.Loading(), TabLive
	if p.Crashed() {
		t.State = TabCrashed
	}
	if url := p.URL(); url != "" {
		t.URL = text.Clip(url, 32<<10)
	}
	t.Title, t.Favicon = text.Clip(p.Title(), maxTitle), ""
	if icon := p.Favicon(); len(icon) < 32<<10 {
		t.Favicon = icon
	}
}

// tabsMessage is the present list.
func (s *Session) tabsMessage() TabsMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return TabsMessage{Type: "tabs", Tabs: s.tabs.list(), Active: s.tabs.active}
}

// tabsFor is the list as a viewer may see it.
func (s *Session) tabsFor(v *Viewer) TabsMessage {
	if !v.maySee() {
		return TabsMessage{Type: "tabs", Tabs: []Tab{}}
	}
	return s.tabsMessage()
}

func (s *Session) sendTabs() {
	s.tell("tabs", func(v *Viewer) any { return s.tabsFor(v) })
	s.archive()
}

// refocus makes viewers look again whether they may see what they see.
func (s *Session) refocus() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.focus; f != nil {
		ctx, cancel := context.WithCancel(s.ctx)
		s.setFocusLocked(&focus{eng: f.eng, page: f.page, tab: f.tab, ctx: ctx, cancel: cancel})
	}
}
