package questions

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"takeover/browser"
	"takeover/id"
	"takeover/invalid"
	"takeover/text"
)

// maxDialogText bounds, in bytes, the text of a dialog that viewers receive, and
// the answer of a person.
const maxDialogText = 10_000

// DialogMessage describes a dialog that waits for an answer. With Closed, the
// question has ended.
type DialogMessage struct {
	Type         string `json:"type"` // dialog
	ID           string `json:"id"`
	Kind         string `json:"kind,omitempty"` // alert confirm prompt beforeunload
	Message      string `json:"message,omitempty"`
	DefaultValue string `json:"defaultValue,omitempty"`
	URL          string `json:"url,omitempty"`
	Closed       bool   `json:"closed,omitempty"`
}

// Dialogs are the JavaScript dialogs that people answer.
type Dialogs struct {
	open     *register
	answered func(*browser.Page)

	mu        sync.Mutex // guards what follows
	latest    decision
	automated map[*browser.Dialog]bool // those that programs answer
}

// decision is what ForPerson decided about a dialog.
type decision struct {
	dialog *browser.Dialog
	person bool
}

// ForPerson decides whether a person answers a dialog that opens while a script
// drives the browser. It returns true if the script does not listen for
// dialogs, a person is in control, and somebody who may answer is present.
// Automation calls it before Handle gets the dialog.
func (d *Dialogs) ForPerson(dialog *browser.Dialog, scriptAnswers bool) bool {
	person := !scriptAnswers && d.open.host.Control() == Person && d.open.host.Answerable()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.latest = decision{dialog, person}
	return person
}

// opened asks the viewers, unless the automation answers.
func (d *Dialogs) opened(dialog *browser.Dialog) {
	d.mu.Lock()
	automated := d.latest.dialog == dialog && !d.latest.person
	if automated {
		if d.automated == nil {
			d.automated = map[*browser.Dialog]bool{}
		}
		d.automated[dialog] = true
	}
	d.mu.Unlock()
	if !automated || d.open.host.Control() == Person && d.open.host.Answerable() && d.take(dialog) {
		d.ask(dialog)
	}
}

// take reports whether a dialog was left to programs, and takes it from them.
func (d *Dialogs) take(dialog *browser.Dialog) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := d.automated[dialog]
	delete(d.automated, dialog)
	return left
}

// ask asks the viewers. A program may answer as well; who is first counts.
func (d *Dialogs) ask(dialog *browser.Dialog) {
	id := id.New("dg")
	d.open.add(&question{
		id: id, page: dialog.Page(), to: Seeing, about: dialog,
		message: DialogMessage{
			Type: "dialog", ID: id, Kind: dialog.Type(), Message: text.Clip(dialog.Message(), maxDialogText),
			DefaultValue: text.Clip(dialog.DefaultValue(), maxDialogText), URL: text.Clip(dialog.Page().URL(), maxAddress),
		},
		closed:   DialogMessage{Type: "dialog", ID: id, Closed: true},
		programs: true,
		refuse:   func(ctx context.Context) error { return ignoreClosed(dialog.Dismiss(ctx)) },
	})
	if dialog.Closed() { // meanwhile
		d.open.dropIf(func(q *question) bool { return q.about == dialog })
	}
}

// closed withdraws a dialog that was answered elsewhere or has vanished with
// its document. Chromium reports both.
func (d *Dialogs) closed(dialog *browser.Dialog) {
	d.mu.Lock()
	delete(d.automated, dialog)
	d.mu.Unlock()
	d.open.dropIf(func(q *question) bool { return q.about == dialog })
}

// onControlChanged asks a person who takes control for the answers that programs have not
// given yet: the page does nothing before. Whoever answers first counts.
func (d *Dialogs) onControlChanged(person bool) {
	if !person {
		return
	}
	d.mu.Lock()
	left := slices.Collect(maps.Keys(d.automated))
	d.automated = nil
	d.mu.Unlock()
	for _, dialog := range left {
		d.ask(dialog)
	}
}

// browserDied forgets the dialogs of a browser that has died.
func (d *Dialogs) browserDied() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.automated, d.latest = nil, decision{}
}

// Answer answers a dialog. text is the return value of a prompt. It does not wait
// for the page. The error is an *invalid.Error.
func (d *Dialogs) Answer(id string, accept bool, text string) error {
	if len(text) > maxDialogText {
		return invalid.Field("text", "must be at most %d bytes", maxDialogText)
	}
	q := d.open.take(id, isAbout[*browser.Dialog])
	if q == nil {
		return invalid.Field("id", "there is no such dialog")
	}
	dialog := q.about.(*browser.Dialog)
	d.answered(dialog.Page())
	d.open.spawn(func() {
		ctx, cancel := context.WithTimeout(d.open.ctx, answerTimeout)
		defer cancel()
		answer := dialog.Dismiss
		if accept {
			answer = func(ctx context.Context) error { return dialog.Accept(ctx, text) }
		}
		if err := ignoreClosed(answer(ctx)); err != nil && d.open.ctx.Err() == nil {
			d.open.log.Warn("answer dialog", "error", err)
		}
	})
	return nil
}

// ignoreClosed ignores the error of a dialog that vanished before its answer
// arrived.
func ignoreClosed(err error) error {
	if errors.Is(err, browser.ErrDialogClosed) {
		return nil
	}
	return err
}
