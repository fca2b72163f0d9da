package session

import (
	"context"
	"sync"
	"time"

	"takeover/browser"
	"takeover/input"
	"takeover/invalid"
	"takeover/text"
)

const (
	// maxAccept bounds the accept attribute that viewers are told.
	maxAccept = 1000
	// maxChosen is how many files may be chosen at once.
	maxChosen = input.MaxDropFiles
	// chooserPatience is how long a page may take to say what asked for files.
	chooserPatience = 5 * time.Second
	// askPatience is how long pages may take to say that they will ask.
	askPatience = 300 * time.Millisecond
)

// choosers are the inputs that wait for files, and whether pages' choosers are
// for people. Guarded by Session.mu.
type choosers struct {
	asked bool // a person is in control, so they are asked
	open  map[string]*openChooser
}

// openChooser is an input that asked for files; whoever takes it out of the list
// answers it.
type openChooser struct {
	input   *browser.FileInput
	page    *browser.Page
	message ChooserMessage
	done    chan struct{} // closed when it is out of the list
}

// askFileChoosers makes pages ask for files instead of getting none, as in a
// Chromium without a window. That is so while a person is in control: scripts that
// listen see to it themselves, and others find what Chromium does. A person gets
// control behind it, because the page's process has to know before it is clicked
// on; a page that stands still does not hold that up.
func (s *Session) askFileChoosers() {
	s.mu.Lock()
	pages := s.markChoosersLocked(true)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.ctx, askPatience)
	defer cancel()
	var asked sync.WaitGroup
	for _, p := range pages {
		asked.Go(func() {
			if err := p.InterceptFileChoosers(ctx, true); err != nil {
				s.log.Debug("ask for files", "error", err)
			}
		})
	}
	asked.Wait()
}

// followChoosersLocked is askFileChoosers for pages and holders that come and go,
// without waiting.
func (s *Session) followChoosersLocked(on bool) {
	for _, p := range s.markChoosersLocked(on) {
		p.AskFileChoosers(on)
	}
}

// markChoosersLocked gives the pages that are to be told.
func (s *Session) markChoosersLocked(on bool) []*browser.Page {
	s.choosers.asked = on
	var pages []*browser.Page
	for _, t := range s.tabs.open {
		switch {
		case on && t.chosen != t.page:
			t.chosen = t.page
		case !on && t.chosen == t.page:
			t.chosen = nil
		default:
			continue
		}
		pages = append(pages, t.page)
	}
	return pages
}

// fileChooserOpened asks people for files, unless a script does it. It runs on
// the model's goroutine.
func (s *Session) fileChooserOpened(eng *engine, ev browser.FileChooserOpened) {
	s.mu.Lock()
	ask := s.choosers.asked && s.answerableLocked()
	s.mu.Unlock()
	if !ask || eng.auto.HearsFileChoosers(ev.Frame.Page()) {
		return
	}
	s.spawn(func() { s.openChooser(eng, ev) })
}

// openChooser asks, and stays until there is an answer or the document is gone.
func (s *Session) openChooser(eng *engine, ev browser.FileChooserOpened) {
	ctx, cancel := context.WithTimeout(s.ctx, chooserPatience)
	in, err := ev.Input(ctx)
	cancel()
	if err != nil {
		s.log.Debug("file chooser", "error", err) // the page that asked is gone
		return
	}
	defer in.Release()
	page := ev.Frame.Page()
	c := &openChooser{input: in, page: page, done: make(chan struct{}), message: ChooserMessage{
		Type: "chooser", ID: newID("fc"), Multiple: ev.Multiple, Accept: text.Clip(in.Accept(), maxAccept), URL: text.Clip(ev.Frame.URL(), maxTitle),
	}}
	s.mu.Lock()
	var before []*openChooser
	for _, o := range s.choosers.open {
		if o.page == page { // a person answers one at a time
			before = append(before, o)
		}
	}
	if s.choosers.open == nil {
		s.choosers.open = map[string]*openChooser{}
	}
	s.choosers.open[c.message.ID] = c
	answerable := s.answerableLocked()
	s.mu.Unlock()
	for _, o := range before {
		s.takeChooser(o)
	}
	if !answerable { // the last one left meanwhile
		s.dismissChoosers()
		return
	}
	s.tellActors("", c.message)
	select {
	case <-c.done:
	case <-in.Gone():
		s.takeChooser(c)
	case <-eng.model.Done():
		s.takeChooser(c)
	case <-s.ctx.Done():
	}
}

// takeChooser takes a chooser out of the list and back from the viewers. It
// reports whether it was there.
func (s *Session) takeChooser(c *openChooser) bool {
	s.mu.Lock()
	there := s.choosers.open[c.message.ID] == c
	if there {
		delete(s.choosers.open, c.message.ID)
	}
	s.mu.Unlock()
	if there {
		s.tellActors("", ChooserMessage{Type: "chooser", ID: c.message.ID, Closed: true})
	}
	return there
}

func (s *Session) openChoosers() []ChooserMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []ChooserMessage
	for _, c := range s.choosers.open {
		list = append(list, c.message)
	}
	return list
}

// dismissChoosers cancels what nobody is left to answer.
func (s *Session) dismissChoosers() {
	s.mu.Lock()
	var open []*openChooser
	for _, c := range s.choosers.open {
		open = append(open, c)
	}
	s.mu.Unlock()
	for _, c := range open {
		s.spawn(func() {
			ctx, cancel := context.WithTimeout(s.ctx, actTimeout)
			defer cancel()
			if err := s.finishChooser(ctx, c, nil); err != nil && s.ctx.Err() == nil {
				s.log.Debug("cancel file chooser", "error", err)
			}
		})
	}
}

// finishChooser gives a chooser its files, nil for none.
func (s *Session) finishChooser(ctx context.Context, c *openChooser, paths []string) error {
	if !s.takeChooser(c) {
		return invalid.Field("id", "there is no such file chooser")
	}
	defer close(c.done)
	if paths == nil {
		return c.input.Cancel(ctx)
	}
	return c.input.SetFiles(ctx, paths)
}

// Chooser answers a file chooser with files of the session, none to cancel. Whoever
// is in control may; when nobody is, any viewer whose role allows to act.
func (v *Viewer) Chooser(ctx context.Context, id string, names []string) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	s := v.session
	s.mu.Lock()
	c := s.choosers.open[id]
	s.mu.Unlock()
	switch {
	case c == nil:
		return invalid.Field("id", "there is no such file chooser")
	case len(names) > 1 && !c.message.Multiple:
		return invalid.Field("files", "must be one file")
	}
	paths, err := v.paths(names)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	return s.finishChooser(ctx, c, paths)
}

// paths are where files of the session lie that a viewer names; nil for none.
func (v *Viewer) paths(names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if len(names) > maxChosen {
		return nil, invalid.Field("files", "must be at most %d", maxChosen)
	}
	folder, err := v.session.Files()
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(names))
	for i, name := range names {
		if v.guest && !v.session.FileShared(name) {
			return nil, invalid.Field("files", "there is no such file: %.80q", name)
		}
		if paths[i], err = folder.Path(name); err != nil {
			return nil, invalid.Field("files", "there is no such file: %.80q", name)
		}
	}
	return paths, nil
}

// Drop lets files of the session fall on the page; see Mouse.
func (v *Viewer) Drop(d Drop, epoch uint64) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if err := v.controls(); err != nil {
		return err
	}
	paths, err := v.paths(d.Files)
	if err != nil {
		return err
	}
	return v.dispatch(epoch, d.Validate, func(to *input.Dispatcher) error { return to.Drop(d, paths) })
}
