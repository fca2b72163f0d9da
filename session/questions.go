package session

import (
	"context"
	"errors"
	"fmt"

	"takeover/browser"
	"takeover/control"
	"takeover/limits"
	"takeover/questions"
)

// The messages about pages' questions.
type (
	// DialogMessage reports a JavaScript dialog, or its end.
	DialogMessage = questions.DialogMessage
	// ChooserMessage reports a page's request for files, or its end.
	ChooserMessage = questions.ChooserMessage
	// AuthMessage reports a server's request for credentials, or its end.
	AuthMessage = questions.AuthMessage
	// PermissionMessage reports a permission that a page was refused, or the end
	// of that question.
	PermissionMessage = questions.PermissionMessage
	// SelectMessage reports a picker of a page, or its end.
	SelectMessage = questions.SelectMessage
	// Geolocation is the position that pages get for geolocation.
	Geolocation = questions.Geolocation
)

// questionsHost adapts a session to the interface that its pages' questions need.
type questionsHost struct{ *Session }

// newQuestions returns the questions of a session's pages.
func (s *Session) newQuestions() *questions.Questions {
	return questions.New(s.ctx, questions.Options{
		Host: questionsHost{s}, Shown: s.shownPage, Proxy: s.opts.ProxyURL, Secret: s.secrets.Given, Answered: s.gestures.answer, Logger: s.log,
	})
}

// Tell sends a message to the viewers of an audience.
func (h questionsHost) Tell(to questions.Audience, slot string, message func() any) {
	h.tell(slot, func(v *Viewer) any {
		if to == questions.Acting && v.role == RoleView || !v.maySee() {
			return nil
		}
		return message()
	})
}

// Answerable reports whether somebody who may answer is present, or will soon be
// back.
func (h questionsHost) Answerable() bool {
	return h.answerable()
}

// ProgramsAnswer reports whether a program's CDP client hears dialogs.
func (h questionsHost) ProgramsAnswer() bool { return h.programs.hearing() }

// Control returns who controls the session.
func (h questionsHost) Control() questions.Control {
	switch holder := h.control.Holder(); {
	case holder == control.Nobody:
		return questions.Nobody
	case holder.IsPerson():
		return questions.Person
	}
	return questions.Program
}

// answerable does the same as answerableLocked, for callers that do not hold the
// lock.
func (s *Session) answerable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answerableLocked()
}

// answerableLocked reports whether somebody who may answer pages' questions is
// present, or will soon be back.
func (s *Session) answerableLocked() bool {
	if s.control.AnyAway() {
		return true
	}
	for v := range s.viewers {
		if v.role != RoleView {
			return true
		}
	}
	return false
}

// shownPage returns the page that viewers see, and a context that ends when
// another page takes its place. It returns nil if no page is shown.
func (s *Session) shownPage() (*browser.Page, context.Context) {
	f := s.shown()
	if f == nil {
		return nil, nil
	}
	return f.page, f.ctx
}

// resendQuestions sends the open questions of pages to a viewer who joins.
func (s *Session) resendQuestions(v *Viewer) {
	for _, m := range s.questions.Messages(v.role != RoleView) {
		v.send("", m)
	}
}

// Dialog answers a dialog message. The viewer in control may answer. While nobody
// is in control, any viewer whose role permits acting may.
func (v *Viewer) Dialog(id string, accept bool, text string) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	return v.session.questions.Dialogs.Answer(id, accept, text)
}

// Chooser answers a file chooser with files of the session; no files cancel it.
// See Dialog for who may answer.
func (v *Viewer) Chooser(ctx context.Context, id string, names []string) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	paths, err := v.paths(names)
	if err != nil {
		return err
	}
	return v.session.questions.Choosers.Answer(ctx, id, paths)
}

// Auth answers an auth message. With accept, the browser signs in with the name
// and the password; otherwise the page shows what the server sends to visitors
// without credentials. See Dialog for who may answer.
func (v *Viewer) Auth(ctx context.Context, id string, accept bool, username, password string) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	return v.session.questions.SignIns.Answer(ctx, id, accept, username, password)
}

// Permission answers a permission message. With allow, the site gets the
// permission, and the page is loaded again. place, for geolocation, becomes the
// position of all pages that may know it. With nil, an earlier position stays;
// if there is none, the position is unknown. See Dialog for who may answer.
func (v *Viewer) Permission(ctx context.Context, id string, allow bool, place *Geolocation) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	if _, err := v.session.ready(); err != nil {
		return err
	}
	err := v.session.questions.Permissions.Answer(ctx, id, allow, place)
	if errors.Is(err, questions.ErrAllowed) {
		v.session.hit(limits.Permissions)
		return fmt.Errorf("%w permissions: %w", ErrTooMany, err)
	}
	return err
}

// Select answers a SelectMessage with the values to set, or with nil to set nothing.
// Only the viewer in control may.
func (v *Viewer) Select(ctx context.Context, id string, values []string) error {
	if err := v.controls(); err != nil {
		return err
	}
	v.session.gestures.use()
	return v.session.questions.Pickers.Answer(ctx, id, values)
}
