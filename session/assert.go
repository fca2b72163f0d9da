package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"takeover/automation"
	"takeover/contract"
	"takeover/control"
	"takeover/invalid"
	"takeover/trajectory"
	"takeover/widget"
)

const (
	// judgeTimeout bounds one look of a contract at the page.
	judgeTimeout = 5 * time.Second

	// judgePause is the time between two looks.
	judgePause = 100 * time.Millisecond

	// MaxAssertTimeout bounds how long an assertion waits for its contract.
	MaxAssertTimeout = time.Minute
)

// Assertion is the outcome of a contract.
type Assertion struct {
	Verdict  contract.Verdict `json:"verdict" doc:"pass, fail, or inconclusive: nobody could look, or what was seen is not enough."`
	Evidence json.RawMessage  `json:"evidence" doc:"What was seen: kind, verdict, expected, found, reason, parts."`
	Seq      uint64           `json:"seq,omitempty" doc:"The number of its event, if the session is being recorded with a bundle."`
}

// Assert judges the page that people see by a contract. Until the verdict is pass, it
// looks again, for at most timeout. If the session is being recorded, the outcome
// becomes an event of the caller. The error is an *invalid.Error, ErrNotReady or an
// *EndedError.
func Assert(ctx context.Context, s *Session, by control.Holder, raw json.RawMessage, timeout time.Duration) (Assertion, error) {
	c, err := contract.Parse(raw)
	if err != nil {
		return Assertion{}, err
	}
	if timeout < 0 || timeout > MaxAssertTimeout {
		return Assertion{}, invalid.Field("timeout", "must be between 0 and %d ms", MaxAssertTimeout.Milliseconds())
	}
	if _, err := s.ready(); err != nil {
		return Assertion{}, err
	}
	s.Touch()
	began := time.Now()
	var evidence *contract.Evidence
	for {
		if evidence, err = judge(ctx, s, c); err != nil {
			return Assertion{}, err
		}
		if evidence.Verdict == contract.Pass || time.Since(began) >= timeout {
			break
		}
		select {
		case <-time.After(min(judgePause, timeout-time.Since(began))):
		case <-ctx.Done():
			return Assertion{}, context.Cause(ctx)
		}
	}
	out := Assertion{Verdict: evidence.Verdict}
	if out.Evidence, err = json.Marshal(evidence); err != nil {
		return Assertion{}, fmt.Errorf("encode evidence: %w", err)
	}
	out.Evidence = s.monitor.Redactor().JSON(out.Evidence)
	e := trajectory.Event{Actor: kindOfActor(by), Tool: "assert", Args: raw, DurationMS: new(float64(time.Since(began).Microseconds()) / 1000)}
	if p := recordedPageOf(s, nil); p != nil {
		e.State = new(p.State())
	}
	out.Seq = s.recording.now.Load().Judged(e, evidence.Verdict, map[string]any{"contract": raw, "evidence": evidence})
	return out, nil
}

// assertOperation carries out the operation assert of a script: {contract, timeout:
// ms}.
func assertOperation(ctx context.Context, s *Session, by control.Holder, params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Contract json.RawMessage `json:"contract"`
		Timeout  float64         `json:"timeout"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("bad options: %w", err)
	}
	out, err := Assert(ctx, s, by, p.Contract, time.Duration(p.Timeout*float64(time.Millisecond)))
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// judge looks at the shown page once.
func judge(ctx context.Context, s *Session, c *contract.Contract) (*contract.Evidence, error) {
	f := s.shown()
	if f == nil {
		return nil, ErrNotReady
	}
	client := f.eng.auto.NewClient(automation.ClientOptions{})
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, judgeTimeout)
	defer cancel()
	return c.Judge(ctx, judgedPage{s, f, actor{client: client}}), nil
}

// judgedPage is the shown page as contracts see it.
type judgedPage struct {
	session *Session
	focus   *focus
	reader  actor
}

// URL returns the page's address.
func (p judgedPage) URL() string { return p.focus.page.URL() }

// Texts returns the texts of the elements that match a selector.
func (p judgedPage) Texts(ctx context.Context, selector string) (texts []string, err error) {
	return texts, p.read(ctx, "frame.allInnerTexts", selector, &texts)
}

// Count returns the number of elements that match a selector.
func (p judgedPage) Count(ctx context.Context, selector string) (n int, err error) {
	return n, p.read(ctx, "frame.count", selector, &n)
}

// errDialogOpen is why the elements of a page cannot be read.
var errDialogOpen = errors.New("a dialog is open")

// read runs a reading operation on the elements that match a selector.
func (p judgedPage) read(ctx context.Context, operation, selector string, value any) error {
	switch {
	case p.focus.page.Crashed():
		return ErrTabCrashed
	case p.focus.page.Dialog() != nil: // no script runs meanwhile
		return errDialogOpen
	}
	params, err := json.Marshal(map[string]any{"frame": p.reader.client.FrameID(p.focus.page.MainFrame()), "selector": selector})
	if err != nil {
		return err
	}
	raw, err := p.session.do(ctx, p.reader, Operation{Name: operation, Params: params, Raw: true})
	if err != nil {
		return errors.New(failureOf(err, nil))
	}
	answer := struct{ Value any }{value}
	return json.Unmarshal(raw, &answer)
}

// Requests returns the page's newest requests.
func (p judgedPage) Requests() (list []contract.Request, more bool) {
	requests := p.focus.page.Requests()
	for _, r := range requests {
		one := contract.Request{URL: r.URL, Failed: r.Failure(), At: r.Started()}
		if res := r.Response(); res != nil {
			one.Status = res.Status
		}
		list = append(list, one)
	}
	return list, p.focus.page.ForgotRequests()
}

// Console returns how often pages of the session wrote a level to the console.
func (p judgedPage) Console(level string) (n int, more bool) {
	events, _, missed := p.session.said.Since(0)
	for _, e := range events {
		if e.Level == level || e.Level == "" && level == "error" { // an uncaught error has no level
			n++
		}
	}
	return n, missed > 0
}

// Dialog returns the message of the dialog that is open.
func (p judgedPage) Dialog() (message string, open bool) {
	if d := p.focus.page.Dialog(); d != nil {
		return d.Message(), true
	}
	return "", false
}

// Performance returns a metric of the page's document.
func (p judgedPage) Performance(ctx context.Context, metric string) (value float64, ok bool, err error) {
	switch {
	case p.focus.page.Crashed():
		return 0, false, ErrTabCrashed
	case p.focus.page.Dialog() != nil:
		return 0, false, errDialogOpen
	}
	return widget.Metric(ctx, p.focus.page, metric)
}
