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
	// interceptPatience is how long pages may take to confirm that they will ask.
	interceptPatience = 300 * time.Millisecond
)

// ChooserMessage describes an input element that asks for files. With Closed, the
// question has ended.
type ChooserMessage struct {
	Type     string `json:"type"` // chooser
	ID       string `json:"id"`
	Multiple bool   `json:"multiple,omitempty"`
	Accept   string `json:"accept,omitempty"` // the element's attribute
	URL      string `json:"url,omitempty"`
	Closed   bool   `json:"closed,omitempty"`
}

// Choosers are the input elements that ask people for files. Pages ask while a
// person is in control. Scripts that listen for file choosers handle them
// alone. With neither, nothing is chosen, because this Chromium has no window.
type Choosers struct {
	open *register

	mu      sync.Mutex // guards what follows
	scripts Scripts
	asked   bool                   // a person is in control, or will be soon
	pages   map[*browser.Page]bool // the pages of the browser, and whether they intercept file choosers
}

// chooser holds the fields of a question that are specific to file choosers.
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

// Intercept makes all pages ask for files. Call it before a person gets control,
// because the page's process must know before the person clicks. A page that does
// not respond delays it only briefly.
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

// onControlChanged makes pages ask while a person is in control. It does not
// wait.
func (c *Choosers) onControlChanged(person bool) {
	for _, p := range c.mark(person) {
		p.AskFileChoosers(person)
	}
}

// mark records whether pages ask, and returns the pages whose setting has to
// change.
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

// opened asks people for files, unless a script handles that.
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
	c.open.dropIf(func(q *question) bool { return isAbout[*chooser](q) && q.page == page }) // a page has only one open chooser at a time
	id := id.New("fc")
	c.open.add(&question{
		id: id, page: page, to: Acting, about: &chooser{input, ev.Multiple},
		message: ChooserMessage{
			Type: "chooser", ID: id, Multiple: ev.Multiple, Accept: text.Clip(input.Accept(), maxAccept), URL: text.Clip(ev.Frame.URL(), maxAddress),
		},
		closed:   ChooserMessage{Type: "chooser", ID: id, Closed: true},
		document: input.Gone(),
		programs: true,
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

// Answer gives an element its files, which are paths on this machine, or cancels
// if there are none. The error is an *invalid.Error or the browser's.
func (c *Choosers) Answer(ctx context.Context, id string, paths []string) error {
	q := c.open.find(func(q *question) bool { return q.id == id && isAbout[*chooser](q) })
	switch {
	case q == nil:
		return invalid.Field("id", "there is no such file chooser")
	case len(paths) > 1 && !q.about.(*chooser).multiple:
		return invalid.Field("files", "must be one file")
	}
	if q = c.open.take(id, isAbout[*chooser]); q == nil { // somebody else has answered meanwhile
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
