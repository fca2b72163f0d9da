package questions

import (
	"context"
	"errors"
	"sync"
	"time"

	"takeover/browser"
	"takeover/id"
	"takeover/invalid"
	"takeover/text"
)

const (
	// maxAccept bounds the accept attribute that viewers receive, in bytes.
	maxAccept = 1000
	// inputPatience is how long a page may take to say which element asks for files.
	inputPatience = 5 * time.Second
	// interceptPatience is how long pages may take to say that they will ask.
	interceptPatience = 300 * time.Millisecond
)

// ChooserMessage is an input element that wants files, or, with Closed, no more.
type ChooserMessage struct {
	Type     string `json:"type"` // chooser
	ID       string `json:"id"`
	Multiple bool   `json:"multiple,omitempty"`
	Accept   string `json:"accept,omitempty"` // the element's attribute
	URL      string `json:"url,omitempty"`
	Closed   bool   `json:"closed,omitempty"`
}

// Choosers are the input elements that ask people for files. Pages ask while a
// person is in control: scripts that listen see to it themselves, and others find
// what Chromium does without a window, which is to choose nothing.
type Choosers struct {
	open *register

	mu      sync.Mutex // guards what follows
	scripts Scripts
	asked   bool                   // a person is in control, or is about to be
	pages   map[*browser.Page]bool // the pages of the browser, and whether they were told to ask
}

// chooser is what a question keeps of an element.
type chooser struct {
	input    *browser.FileInput
	multiple bool
}

func (c *Choosers) attach(s Scripts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scripts = s
}

func (c *Choosers) pageOpened(p *browser.Page) {
	c.mu.Lock()
	asked := c.asked
	c.pages[p] = asked
	c.mu.Unlock()
	if asked {
		p.AskFileChoosers(true)
	}
}

func (c *Choosers) pageClosed(p *browser.Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pages, p)
}

func (c *Choosers) browserDied() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.pages)
}

// Intercept makes all pages ask for files. Call it before a person gets control:
// the page's process has to know before the person clicks. A page that stands still
// does not hold that up for long.
func (c *Choosers) Intercept() {
	ctx, cancel := context.WithTimeout(c.open.ctx, interceptPatience)
	defer cancel()
	var asked sync.WaitGroup
	for _, p := range c.mark(true) {
		asked.Go(func() {
			if err := p.InterceptFileChoosers(ctx, true); err != nil {
				c.open.log.Debug("ask for files", "error", err)
			}
		})
	}
	asked.Wait()
}

// onControlChanged makes pages ask while a person is in control, without waiting.
func (c *Choosers) onControlChanged(person bool) {
	for _, p := range c.mark(person) {
		p.AskFileChoosers(person)
	}
}

// mark returns the pages that have to be told.
func (c *Choosers) mark(asked bool) []*browser.Page {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = asked
	var pages []*browser.Page
	for p, told := range c.pages {
		if told != asked {
			c.pages[p] = asked
			pages = append(pages, p)
		}
	}
	return pages
}

// opened asks people for files, unless a script does it.
func (c *Choosers) opened(ev browser.FileChooserOpened) {
	c.mu.Lock()
	asked, scripts := c.asked, c.scripts
	c.mu.Unlock()
	if asked && scripts != nil && !scripts.HearsFileChoosers(ev.Frame.Page()) {
		c.open.spawn(func() { c.ask(ev) })
	}
}

func (c *Choosers) ask(ev browser.FileChooserOpened) {
	ctx, cancel := context.WithTimeout(c.open.ctx, inputPatience)
	input, err := ev.Input(ctx)
	cancel()
	if err != nil {
		c.open.log.Debug("file chooser", "error", err) // the page that asked is gone
		return
	}
	page := ev.Frame.Page()
	c.open.dropIf(func(q *question) bool { return isAbout[*chooser](q) && q.page == page }) // a person answers one at a time
	id := id.New("fc")
	c.open.add(&question{
		id: id, page: page, to: Acting, about: &chooser{input, ev.Multiple},
		message: ChooserMessage{
			Type: "chooser", ID: id, Multiple: ev.Multiple, Accept: text.Clip(input.Accept(), maxAccept), URL: text.Clip(ev.Frame.URL(), maxAddress),
		},
		closed:   ChooserMessage{Type: "chooser", ID: id, Closed: true},
		document: input.Gone(),
		refuse: func(ctx context.Context) error {
			defer input.Release()
			if err := input.Cancel(ctx); !errors.Is(err, browser.ErrContextDestroyed) {
				return err
			}
			return nil
		},
		letGo: input.Release,
	})
}

// Answer gives an element its files, which are paths of this machine, or cancels
// with none. The error is an *invalid.Error or the browser's.
func (c *Choosers) Answer(ctx context.Context, id string, paths []string) error {
	q := c.open.find(func(q *question) bool { return q.id == id && isAbout[*chooser](q) })
	switch {
	case q == nil:
		return invalid.Field("id", "there is no such file chooser")
	case len(paths) > 1 && !q.about.(*chooser).multiple:
		return invalid.Field("files", "must be one file")
	}
	if q = c.open.take(id, isAbout[*chooser]); q == nil { // answered meanwhile
		return invalid.Field("id", "there is no such file chooser")
	}
	input := q.about.(*chooser).input
	defer input.Release()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if len(paths) == 0 {
		return input.Cancel(ctx)
	}
	return input.SetFiles(ctx, paths)
}
