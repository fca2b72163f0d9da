package session

import (
	"context"
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"takeover/automation"
	"takeover/browser"
	"takeover/limits"
	"takeover/redact"
	"takeover/secrets"
	"takeover/trajectory"
	"takeover/widget"
)

// programSecrets is the redactor of a recording: it also hides what programs typed
// into secret fields. The session's own redactor does not, because programs know
// what they typed. What pages tell is hidden, too, but never keeps a bundle in, because
// pages may lie.
type programSecrets struct {
	trajectory.Redactor                      // the session's
	hidesEntered, hidesTold *redact.Redactor // those of the lists

	mu            sync.Mutex // guards what follows
	entered, told *secrets.List
	last          time.Time // when a page last told something
}

func newProgramSecrets(ofSession trajectory.Redactor, hits *limits.Hits) *programSecrets {
	p := &programSecrets{Redactor: ofSession, hidesEntered: redact.New(redact.Options{}), hidesTold: redact.New(redact.Options{})}
	p.entered, p.told = secrets.NewList(p.hidesEntered, hits), secrets.NewList(p.hidesTold, hits)
	return p
}

// linkSecret is the secret of a share link, which stands in the fragment.
var linkSecret = regexp.MustCompile(`(/(?:sessions|takeover)/[\w-]+#)[\w.~-]+`)

// Text removes secrets from a text.
func (p *programSecrets) Text(text string) string {
	text = p.hidesTold.Values(p.hidesEntered.Values(p.Redactor.Text(text)))
	return linkSecret.ReplaceAllString(text, "${1}"+redact.Mark)
}

// JSON removes registered secrets from a JSON text.
func (p *programSecrets) JSON(text []byte) []byte {
	return p.hidesTold.JSON(p.hidesEntered.JSON(p.Redactor.JSON(text)))
}

// Finder returns a function that finds registered secrets in the content of a file.
func (p *programSecrets) Finder() func(content []byte) bool {
	ofSession, entered := p.Redactor.Finder(), p.hidesEntered.Finder()
	return func(content []byte) bool { return ofSession(content) || entered(content) }
}

// learn records what the secret fields of all pages hold by now. A page that does not
// answer in time is left out.
func (p *programSecrets) learn(s *Session) {
	eng := s.tabs.browser()
	if eng == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), learnTimeout)
	defer cancel()
	var asking sync.WaitGroup
	for _, page := range eng.model.Pages() {
		asking.Go(func() {
			held, err := widget.Secrets(ctx, page)
			if err != nil {
				s.log.Debug("ask a page for its secrets", "error", err)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, value := range held {
				if secrets.Credible(value, page.URL()) {
					p.told.Add(value)
				}
			}
		})
	}
	asking.Wait()
}

// learnTimeout is how long the start of a recording waits for pages.
const learnTimeout = time.Second

// learnProgram records what an operation enters into a secret field.
func learnProgram(s *Session, by actor, operation string, d automation.Description, params json.RawMessage) {
	hide := s.recording.secrets.Load()
	if hide == nil {
		return
	}
	switch {
	case d.Secret:
		hide.enters(automation.Contents(params)...)
	case operation == "keyboard.type" || operation == "keyboard.insertText":
		hide.types(s, by.client.PageOf(params), automation.Contents(params)...)
	}
}

// enters records texts that a program enters into a secret field.
func (p *programSecrets) enters(texts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entered.Add(texts...)
}

// types records texts that a program types where the focus of a page is, or of the
// shown one, if that is a secret field.
func (p *programSecrets) types(s *Session, page *browser.Page, texts ...string) {
	if on, ok := recordedPageOf(s, page).(recordedPage); ok && on.engine.tracker.Secret(on.page) != "" {
		p.enters(texts...)
	}
}

// growing is how long (after the last one) a longer content of a secret field counts as
// the same one, which is still being typed.
const growing = 2 * time.Second

// holds records what a page of an address tells about the content of a secret field,
// if that is credible. What grows while it is typed counts once.
func (p *programSecrets) holds(value, address string) {
	if !secrets.Credible(value, address) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) < growing {
		p.told.Grow(value)
	} else {
		p.told.Add(value)
	}
	p.last = time.Now()
}
