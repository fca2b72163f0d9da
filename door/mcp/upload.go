package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"takeover/door/page"
)

type uploadArgs struct {
	where
	element
	Files []string `json:"files" jsonschema:"names of files of the session"`
	view
}

func (c *call) upload(in uploadArgs) (*answer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if len(in.Files) == 0 {
		return nil, errors.New("files: is required")
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		t = t.within(in.Timeout)
		const isField = `e => { const x = e.tagName === 'LABEL' && e.control || e; return x.tagName === 'INPUT' && x.type === 'file' }`
		field, err := t.Evaluate(ctx, in.selector(), isField, true, nil)
		if err != nil {
			return err
		}
		if string(field) == "true" {
			return t.Upload(ctx, in.selector(), in.Files...)
		}
		return c.conversation.answerChooser(ctx, t, in)
	})
}

// answerChooser clicks an element and gives files to the chooser that it opens. The
// page's choosers belong to the program only meanwhile; at other times they are for
// people.
func (s *conversation) answerChooser(ctx context.Context, t tab, in uploadArgs) (err error) {
	opened := make(chan string, 1)
	s.expectChooser(opened)
	defer s.expectChooser(nil)
	listen := func(on bool) error {
		return t.run(context.WithoutCancel(ctx), "listen", params{"page": t.names.Page, "event": "filechooser", "on": on}, nil)
	}
	if err := listen(true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listen(false)) }()
	if err := t.Click(ctx, in.selector(), page.ClickOptions{}); err != nil {
		return err
	}
	timer := time.NewTimer(chooserTime)
	defer timer.Stop()
	select {
	case handle := <-opened:
		return t.run(ctx, "handle.setInputFiles", params{"handle": handle, "names": in.Files, "timeout": chooserTime.Milliseconds()}, nil)
	case <-timer.C:
		return fmt.Errorf("%s is no file field, and a click on it opened no file chooser", in.Target)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// chooserTime is how long a click may take to open a file chooser.
const chooserTime = 5 * time.Second

// expectChooser makes the next file chooser's element go to a channel; nil for none.
func (s *conversation) expectChooser(opened chan<- string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chooser = opened
}

// chooserOpened passes on the element of a file chooser that has opened.
func (s *conversation) chooserOpened(handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chooser == nil {
		return
	}
	select {
	case s.chooser <- handle:
	default: // one is answered already
	}
}
