package session

import (
	"context"
	"time"

	"takeover/browser"
)

// secretTyped records what a page tells about the content of a secret field: if a
// person is in control and has just done something there, and in any case for a
// recording. It may run on the model's goroutine.
func (s *Session) secretTyped(p *browser.Page, value string) {
	if hide := s.recording.secrets.Load(); hide != nil {
		hide.holds(value, p.URL())
	}
	if holder := s.control.Holder(); holder.IsPerson() && s.gestures.explains(p, tellWindow) {
		s.secrets.Holds(value, p.URL())
	}
}

// tellWindow is how long after a person's input a page may tell what it changed.
const tellWindow = 5 * time.Second

// veiled reports whether a person in control is in a secret field of the page.
// Pictures of the page must not be kept then.
func (s *Session) veiled(p *browser.Page) bool {
	if holder := s.control.Holder(); !holder.IsPerson() {
		return false
	}
	eng := s.tabs.browser()
	return eng != nil && eng.tracker.Secret(p) != ""
}

// unveiled waits until pictures of the page are permitted. If the context has
// already ended, it only reports whether they are permitted now.
func (s *Session) unveiled(ctx context.Context, p *browser.Page) error {
	for {
		changed := s.secrets.Changed()
		if !s.veiled(p) {
			return nil
		}
		select {
		case <-changed:
		case <-p.Closed():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// hideSecrets redacts the addresses and titles in info.
func (s *Session) hideSecrets(info *Info) {
	hide := s.monitor.Redactor().Text
	info.URL, info.Title, info.StartURL = hide(info.URL), hide(info.Title), hide(info.StartURL)
	hideTabs(s, info.Tabs)
}

// hideTabs redacts the addresses and titles of tabs.
func hideTabs(s *Session, tabs []Tab) {
	hide := s.monitor.Redactor().Text
	for i := range tabs {
		tabs[i].URL, tabs[i].Title = hide(tabs[i].URL), hide(tabs[i].Title)
	}
}
