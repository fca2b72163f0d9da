package session

import (
	"context"
	"errors"
	"time"

	"takeover/browser"
	"takeover/invalid"
	"takeover/text"
)

// openDialog is a JavaScript dialog that viewers were asked to answer.
type openDialog struct {
	dialog  *browser.Dialog
	message DialogMessage
}

// maxDialogText bounds what a page can make every viewer receive.
const maxDialogText = 10_000

// forPerson reports whether a dialog that opens now is for a person to answer
// although a script drives the browser: the script does not listen for dialogs,
// and the person is in control. Automation asks it before dialogOpened is told,
// which keeps to the answer.
func (s *Session) forPerson(d *browser.Dialog, scriptAnswers bool) bool {
	holder, _, _ := s.lease.state()
	s.mu.Lock()
	defer s.mu.Unlock()
	yes := !scriptAnswers && holder.isPerson() && s.answerableLocked()
	s.dialogFor = dialogFor{dialog: d, person: yes}
	return yes
}

// dialogFor is what forPerson said of the latest dialog it was asked about.
type dialogFor struct {
	dialog *browser.Dialog
	person bool
}

// answerableLocked reports whether somebody is there who may answer a dialog, or
// is about to be back.
func (s *Session) answerableLocked() bool {
	if len(s.seats) > 0 {
		return true
	}
	for v := range s.viewers {
		if v.role != RoleView {
			return true
		}
	}
	return false
}

// dialogOpened asks the viewers, or dismisses the dialog when nobody looks: a
// page must never hang on a question that nobody sees. While a script drives,
// the script's rules hold, not this. It runs on the model's goroutine.
func (s *Session) dialogOpened(d *browser.Dialog) {
	s.mu.Lock()
	if s.dialogFor.dialog == d && !s.dialogFor.person {
		s.mu.Unlock()
		return // automation answers it
	}
	if !s.answerableLocked() {
		s.mu.Unlock()
		s.spawn(func() { s.answer(d, false, "") })
		return
	}
	open := &openDialog{dialog: d, message: DialogMessage{
		Type: "dialog", ID: newID("dg"), Kind: d.Type(), Message: text.Clip(d.Message(), maxDialogText),
		DefaultValue: text.Clip(d.DefaultValue(), maxDialogText), URL: text.Clip(d.Page().URL(), maxTitle),
	}}
	s.dialogs[open.message.ID] = open
	s.mu.Unlock()
	s.tellSeeing(open.message)
}

// dialogClosed takes the question back from the viewers.
func (s *Session) dialogClosed(d *browser.Dialog) {
	s.mu.Lock()
	var closed string
	for id, open := range s.dialogs {
		if open.dialog == d {
			delete(s.dialogs, id)
			closed = id
		}
	}
	s.mu.Unlock()
	if closed != "" {
		s.tellSeeing(DialogMessage{Type: "dialog", ID: closed, Closed: true})
	}
}

func (s *Session) openDialogs() []DialogMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []DialogMessage
	for _, open := range s.dialogs {
		list = append(list, open.message)
	}
	return list
}

// dismissQuestions answers what nobody is left to answer.
func (s *Session) dismissQuestions() {
	s.dismissDialogs()
	s.dismissChoosers()
	s.dropAllAuths()
}

func (s *Session) dismissDialogs() {
	s.mu.Lock()
	dialogs := s.dialogs
	s.dialogs = map[string]*openDialog{}
	s.mu.Unlock()
	for _, open := range dialogs {
		s.spawn(func() { s.answer(open.dialog, false, "") })
	}
}

func (s *Session) answer(d *browser.Dialog, accept bool, text string) {
	ctx, cancel := context.WithTimeout(s.ctx, actTimeout)
	defer cancel()
	var err error
	if accept {
		err = d.Accept(ctx, text)
	} else {
		err = d.Dismiss(ctx)
	}
	if err != nil && !errors.Is(err, browser.ErrDialogClosed) && s.ctx.Err() == nil {
		s.log.Warn("answer dialog", "error", err)
	}
}

// Dialog answers a dialog message. Whoever is in control may; when nobody is,
// any viewer whose role allows to act.
func (v *Viewer) Dialog(id string, accept bool, text string) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	s := v.session
	if len(text) > maxDialogText {
		return invalid.Field("text", "must be at most %d bytes", maxDialogText)
	}
	s.mu.Lock()
	open := s.dialogs[id]
	if open != nil {
		s.press = press{page: open.dialog.Page(), at: time.Now()} // what the page opens on the answer is wanted
	}
	s.mu.Unlock()
	if open == nil {
		return invalid.Field("id", "there is no such dialog")
	}
	s.spawn(func() { s.answer(open.dialog, accept, text) })
	return nil
}

// mayAnswer returns an error unless the viewer may answer what the page asks
// people: whoever is in control, a person or a script, is not to find the page
// changed by somebody else.
func (v *Viewer) mayAnswer() error {
	if err := v.may(); err != nil {
		return err
	}
	if holder, _, _ := v.session.lease.state(); holder != HolderNobody && holder != v.holder() {
		return ErrNotController
	}
	return nil
}
