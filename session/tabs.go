package session

import (
	"context"
	"fmt"
	"time"

	"takeover/browser"
	"takeover/invalid"
	"takeover/limits"
	"takeover/trajectory"
)

// onModelEvent handles events of the browser's pages. It runs on the model's
// goroutine.
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

// popupWindow is how long after a person's press in a page the pages that it
// opens are attributed to that person.
const popupWindow = 5 * time.Second

// addPage gives a page a tab, and shows it if it may.
func (s *Session) addPage(eng *engine, p, opener *browser.Page) {
	added, url, ok := s.tabs.add(eng, p, opener, newPage{
		person: s.control.Holder().IsPerson(),
		wanted: func(at time.Time) bool { return s.gestures.wanted(p.Opener(), at, popupWindow) },
	})
	if !ok {
		return
	}
	s.said.Titled(string(p.ID()), added.Title)
	s.questions.PageOpened(p)
	if url != "" && url != emptyPage {
		p.Open(url)
	}
	s.sendTabs()
	s.sendWidgets()
}

func (s *Session) removePage(eng *engine, p *browser.Page) {
	if eng.proc.Conn().Err() != nil {
		return // the browser died with its pages, whose tabs will return
	}
	known, had := s.tabs.remove(eng, p)
	if known {
		s.said.Titled(string(p.ID()), "")
	}
	if had {
		s.life.spawn(func() { eng.live.Forget(p.ID()) })
		s.sendTabs()
		s.sendWidgets()
	}
}

func (s *Session) updatePage(eng *engine, p *browser.Page) {
	now, changed, ok := s.tabs.update(eng, p)
	if !ok {
		return
	}
	s.said.Titled(string(p.ID()), now.Title)
	if changed {
		s.sendTabs()
	}
}

// refusedPause is the minimum time between two messages about too many tabs.
const refusedPause = 10 * time.Second

// tabRefused notifies viewers who may act that a page wanted to open one tab too
// many.
func (s *Session) tabRefused() {
	s.hit(limits.Tabs)
	if s.tabs.refuse(time.Now()) {
		s.tellActors("", ErrorMessage{Type: "error", Message: fmt.Sprintf("tabs: this page wanted another tab, but there are %d: close one", maxTabs)})
	}
}

// pageCrashed notifies viewers that a page's renderer died.
func (s *Session) pageCrashed(eng *engine, p *browser.Page) {
	s.log.Warn("tab crashed")
	recordBrowser(s, trajectory.Failure, p, "the page crashed")
	s.updatePage(eng, p)
}

// TabCrashed reports whether the renderer of the shown page died.
func (s *Session) TabCrashed() bool {
	t, _, ok := s.tabs.active()
	return ok && t.State == TabCrashed
}

// tabsMessage returns the message with the present tabs.
func (s *Session) tabsMessage() TabsMessage {
	tabs, active := s.tabs.list()
	return TabsMessage{Type: "tabs", Tabs: tabs, Active: active}
}

// tabsFor returns the tabs as a viewer may see them. To a guest who is not in control,
// addresses and titles do not tell what signs in.
func (s *Session) tabsFor(v *Viewer) TabsMessage {
	if !v.maySee() {
		return TabsMessage{Type: "tabs", Tabs: []Tab{}}
	}
	m := s.tabsMessage()
	if v.guest && s.control.Holder() != v.holder() {
		hideTabs(s, m.Tabs)
	}
	return m
}

func (s *Session) sendTabs() {
	s.tell("tabs", func(v *Viewer) any { return s.tabsFor(v) })
	s.archive()
}

// Tab activates, closes or opens a tab.
func (v *Viewer) Tab(ctx context.Context, action string, number uint32) error {
	if err := v.controls(); err != nil {
		return err
	}
	s := v.session
	eng, err := s.ready()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	if action == "new" {
		_, err := s.openTab(ctx, eng)
		return err
	}
	p, last := s.tabs.page(number)
	if p == nil {
		return invalid.Field("tab", "there is no tab %d", number)
	}
	switch action {
	case "activate":
		if !s.tabs.activate(eng, number) {
			return invalid.Field("tab", "there is no tab %d", number)
		}
		s.sendTabs()
		s.sendWidgets()
		return nil
	case "close":
		if last { // a browser without a page has nothing to show
			if _, err := s.openTab(ctx, eng); err != nil {
				return err
			}
		}
		return p.RequestClose(ctx)
	}
	return invalid.Field("action", "must be activate, close or new")
}

// openTab opens an empty tab for a person.
func (s *Session) openTab(ctx context.Context, eng *engine) (*browser.Page, error) {
	done, ok := s.tabs.opening()
	if !ok {
		s.hit(limits.Tabs)
		return nil, fmt.Errorf("%w tabs: a session has at most %d", ErrTooMany, maxTabs)
	}
	defer done()
	return eng.model.DefaultContext().NewPage(ctx)
}

// OpenTab opens an address in a new tab. The context menu of a link uses it.
func (v *Viewer) OpenTab(ctx context.Context, url string) error {
	if err := v.controls(); err != nil {
		return err
	}
	s := v.session
	eng, err := s.ready()
	if err != nil {
		return err
	}
	address, bad := parseAddress(url, s.traffic.CheckURL)
	if bad != nil {
		return invalid.Field("url", "%s", bad.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	p, err := s.openTab(ctx, eng)
	if err != nil {
		return err
	}
	_, err = p.MainFrame().Navigate(ctx, address, noWait)
	return err
}
