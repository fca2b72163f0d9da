package session

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"takeover/browser"
	"takeover/capture"
)

// What is remembered of what people type into fields of passwords, codes and
// cards, so that it is found in nothing that is kept.
const (
	minSecret    = 3   // bytes, as the redactor has it
	maxSecrets   = 64  // a session's; the oldest go first
	maxDrafts    = 64  // of what is being typed
	minDraft     = 4   // bytes of a beginning that is worth it: a shorter one is everywhere
	maxTypedText = 512 // characters; nobody types a longer password
)

// secrets has a redactor know what people type into secret fields. What is known
// from their keys is registered before the page gets them, so that a page that
// tells at once tells nothing; what the page says of its fields (package widget)
// is right also where a person goes back and mends.
type secrets struct {
	redactor *capture.Redactor

	mu      sync.Mutex // guards what follows
	typed   []rune     // the keys since the person came to this field
	kind    string     // of that field
	moved   bool       // they pressed somewhere since
	told    string     // what the field held when it changed last
	kept    []registered
	drafts  []registered  // what the field held before, forgotten when the person leaves
	changed chan struct{} // closed and replaced when the focus or control moved
}

type registered struct {
	value  string
	remove func()
}

func newSecrets(r *capture.Redactor) *secrets {
	return &secrets{redactor: r, changed: make(chan struct{})}
}

// key takes in a key or a text that a person sends to a secret field of a kind.
func (c *secrets) key(k Key, kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind != c.kind || c.moved && kind != "otp" { // a code's digits may each have a field of their own
		c.settleLocked()
	}
	c.kind, c.moved = kind, false
	switch {
	case k.Event != "down":
	case k.Key == "Enter" || k.Key == "Tab":
		c.settleLocked()
	case k.Key == "Backspace":
		c.typed = c.typed[:max(0, len(c.typed)-1)]
	case k.Text != "" && len(c.typed)+len(k.Text) <= maxTypedText:
		c.typed = append(c.typed, []rune(k.Text)...)
		c.draftLocked(string(c.typed))
	}
}

// holds takes in what a secret field holds after a change.
func (c *secrets) holds(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = value
	c.draftLocked(value)
}

// given takes in what a person gave to a server that asked.
func (c *secrets) given(values ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, value := range values {
		c.kept = c.register(c.kept, value, maxSecrets)
	}
}

// elsewhere says that the person presses somewhere: maybe what takes the secret.
func (c *secrets) elsewhere() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepLocked()
	c.moved = true
}

// focusChanged says that the focus of a page, or its caret, has moved; left, that
// it is in no secret field of the page that people see.
func (c *secrets) focusChanged(left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left {
		c.settleLocked()
	}
	c.tellLocked()
}

// controlChanged says that control went to a person or away from one.
func (c *secrets) controlChanged(person bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked()
	if !person {
		for _, d := range c.drafts {
			d.remove()
		}
		c.drafts = nil
	}
	c.tellLocked()
}

func (c *secrets) tellLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// settleLocked keeps what was typed for good; what comes next is something else.
func (c *secrets) settleLocked() {
	c.keepLocked()
	c.typed, c.told = nil, ""
}

func (c *secrets) keepLocked() {
	for _, value := range []string{string(c.typed), c.told} {
		for _, form := range forms(value) {
			c.kept = c.register(c.kept, form, maxSecrets)
		}
	}
}

func (c *secrets) draftLocked(value string) {
	for _, form := range forms(value) {
		if len(form) >= minDraft {
			c.drafts = c.register(c.drafts, form, maxDrafts)
		}
	}
}

// register has the redactor know one value more, and forgets the oldest of too
// many.
func (c *secrets) register(list []registered, value string, most int) []registered {
	if len(value) < minSecret || slices.ContainsFunc(list, func(r registered) bool { return r.value == value }) {
		return list
	}
	if len(list) >= most {
		list[0].remove()
		list = slices.Delete(list, 0, 1)
	}
	return append(list, registered{value, c.redactor.AddSecret(value)})
}

// forms are a value as it was typed and as a site may keep it: cards and codes
// without what groups their digits.
func forms(value string) []string {
	bare := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, value)
	if bare == value || strings.Trim(bare, "0123456789") != "" {
		return []string{value}
	}
	return []string{value, bare}
}

// typed takes in a person's key before the page gets it.
func (s *Session) typed(k Key) {
	if f := s.shown(); f != nil {
		if kind := f.eng.desk.Secret(f.page); kind != "" {
			s.secrets.key(k, kind)
		}
	}
}

// secretTyped takes in what a page says of a secret field; what scripts put there
// is their own business. It may run on the model's goroutine.
func (s *Session) secretTyped(_ *browser.Page, value string) {
	if holder, _, _ := s.lease.state(); holder.isPerson() {
		s.secrets.holds(value)
	}
}

// veiled reports whether a person in control is in a secret field of the page:
// nobody keeps a picture of it then.
func (s *Session) veiled(p *browser.Page) bool {
	if holder, _, _ := s.lease.state(); !holder.isPerson() {
		return false
	}
	eng, err := s.ready()
	return err == nil && eng.desk.Secret(p) != ""
}

// unveiled waits until the page may be pictured. With an ended context it tells
// whether it may be now.
func (s *Session) unveiled(ctx context.Context, p *browser.Page) error {
	for {
		s.secrets.mu.Lock()
		changed := s.secrets.changed
		s.secrets.mu.Unlock()
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

// hideSecrets takes them out of what is told of the session.
func (s *Session) hideSecrets(info *Info) {
	hide := s.monitor.Redactor().Values
	info.URL, info.Title = hide(info.URL), hide(info.Title)
	for i := range info.Tabs {
		info.Tabs[i].URL, info.Tabs[i].Title = hide(info.Tabs[i].URL), hide(info.Tabs[i].Title)
	}
}

// redactedHandler is a log that people's secrets do not get into.
type redactedHandler struct {
	slog.Handler
	redactor *capture.Redactor
}

// Handle redacts a record's text and values.
func (h redactedHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.redactor.Values(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs keeps attributes, redacted as they are known now.
func (h redactedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return redactedHandler{h.Handler.WithAttrs(clean), h.redactor}
}

// WithGroup opens a group.
func (h redactedHandler) WithGroup(name string) slog.Handler {
	return redactedHandler{h.Handler.WithGroup(name), h.redactor}
}

func (h redactedHandler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString, slog.KindAny:
		text := v.String()
		if clean := h.redactor.Values(text); clean != text {
			return slog.String(a.Key, clean)
		}
	case slog.KindGroup:
		group := make([]any, len(v.Group()))
		for i, inner := range v.Group() {
			group[i] = h.attr(inner)
		}
		return slog.Group(a.Key, group...)
	}
	return a
}
