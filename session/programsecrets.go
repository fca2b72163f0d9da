package session

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"takeover/automation"
	"takeover/browser"
	"takeover/capture"
	"takeover/secrets"
	"takeover/trajectory"
	"takeover/widget"
)

// maxProgramSecrets bounds what a recording remembers of what programs entered into
// secret fields, and of what pages told of them.
const maxProgramSecrets = 100

// programSecrets is the redactor of a recording: it also hides what programs typed
// into secret fields. The session's own redactor does not, because programs know
// what they typed. What pages tell is hidden, too, but never keeps a bundle in, because
// pages may lie.
type programSecrets struct {
	trajectory.Redactor // the session's
	entered, told       secretList

	mu   sync.Mutex // guards what follows
	last time.Time  // when a page last told something
}

func newProgramSecrets(ofSession trajectory.Redactor) *programSecrets {
	list := func() secretList { return secretList{redactor: capture.NewRedactor(capture.RedactorOptions{})} }
	return &programSecrets{Redactor: ofSession, entered: list(), told: list()}
}

// linkSecret is the secret of a share link, which stands in the fragment.
var linkSecret = regexp.MustCompile(`(/(?:sessions|takeover)/[\w-]+#)[\w.~-]+`)

// Text removes secrets from a text.
func (p *programSecrets) Text(text string) string {
	text = p.told.redactor.Values(p.entered.redactor.Values(p.Redactor.Text(text)))
	return linkSecret.ReplaceAllString(text, "${1}"+capture.Redacted)
}

// JSON removes registered secrets from a JSON text.
func (p *programSecrets) JSON(text []byte) []byte {
	return p.told.redactor.JSON(p.entered.redactor.JSON(p.Redactor.JSON(text)))
}

// Finder returns a function that finds registered secrets in the content of a file.
func (p *programSecrets) Finder() func(content []byte) bool {
	ofSession, entered := p.Redactor.Finder(), p.entered.redactor.Finder()
	return func(content []byte) bool { return ofSession(content) || entered(content) }
}

// learn records what the secret fields of all pages hold by now. A page that does not
// answer in time is left out.
func (p *programSecrets) learn(s *Session) {
	eng := s.stage.browser()
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
			for _, value := range held {
				if secrets.Credible(value, page.URL()) {
					p.told.add(value)
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
		hide.entered.add(automation.Contents(params)...)
	case operation == "keyboard.type" || operation == "keyboard.insertText":
		hide.enters(s, by.client.PageOf(params), automation.Contents(params)...)
	}
}

// enters records texts that a program types where the focus of a page is, or of the
// shown one, if that is a secret field.
func (p *programSecrets) enters(s *Session, page *browser.Page, texts ...string) {
	if on, ok := recordedPageOf(s, page).(recordedPage); ok && on.engine.desk.Secret(on.page) != "" {
		p.entered.add(texts...)
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
	grows := time.Since(p.last) < growing
	p.last = time.Now()
	p.told.follow(value, grows)
}

// secretList is a list of secrets that a redactor of its own hides. The oldest are
// forgotten first.
type secretList struct {
	redactor *capture.Redactor

	mu   sync.Mutex // guards what follows
	list []listedSecret
}

type listedSecret struct {
	value  string
	remove func()
}

// add appends values.
func (l *secretList) add(values ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, value := range values {
		l.addLocked(value)
	}
}

// follow appends a value. If grows, it takes the place of the last one that it begins
// with.
func (l *secretList) follow(value string, grows bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.list); n > 0 && grows && strings.HasPrefix(value, l.list[n-1].value) {
		l.list[n-1].remove()
		l.list = l.list[:n-1]
	}
	l.addLocked(value)
}

func (l *secretList) addLocked(value string) {
	if slices.ContainsFunc(l.list, func(s listedSecret) bool { return s.value == value }) {
		return
	}
	if len(l.list) >= maxProgramSecrets {
		l.list[0].remove()
		l.list = slices.Delete(l.list, 0, 1)
	}
	l.list = append(l.list, listedSecret{value, l.redactor.AddSecret(value)})
}
