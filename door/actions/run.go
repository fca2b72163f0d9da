package actions

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"takeover/capture"
	"takeover/control"
	"takeover/door/page"
	"takeover/session"
)

const (
	// tries is how often an action is tried, when its time is up or its page goes
	// away meanwhile, and retryPause the pause between two tries.
	tries      = 3
	retryPause = time.Second
	// maxErrorsInARow and maxErrors are how many errors end a sequence.
	maxErrorsInARow = 3
	maxErrors       = 10
	// metricsTimeout is how long reading a page's figures may take.
	metricsTimeout = 5 * time.Second
	// hintTimeout is how long looking for the reason of an error may take.
	hintTimeout = 2 * time.Second
)

// Runner carries out actions in a session.
type Runner struct {
	Program *session.Program

	pause time.Duration // retryPause, except in tests
}

// Run carries out a sequence. A stop ends the session. The error is one of package
// session, about a session in which nothing can be carried out.
func (r *Runner) Run(ctx context.Context, list []Action) (Response, error) {
	s := r.Program.Session()
	response := Response{Type: "browser-response", SessionID: s.ID(), Results: []Data{}}
	if err := capturing(ctx, s); err != nil {
		return response, err
	}
	if !isCapturing(s) {
		response.Warnings = []string{"The session was created with capture: false, so that logs and networkEvents stay empty."}
	}
	failed, inARow := 0, 0
	for _, a := range list {
		d := r.Do(ctx, &a)
		response.Data = d
		response.Results = append(response.Results, d)
		if err := ctx.Err(); err != nil {
			return response, context.Cause(ctx)
		}
		inARow++
		if d.Success {
			inARow = 0
		} else {
			failed++
		}
		switch {
		case a.Type == Stop:
			return response, nil
		case inARow == maxErrorsInARow:
			response.Stopped = fmt.Sprintf("after %d errors in a row", inARow)
			return response, nil
		case failed == maxErrors:
			response.Stopped = fmt.Sprintf("after %d errors", failed)
			return response, nil
		}
	}
	return response, nil
}

// Prepare makes the session capture what outcomes are made from. Call it before Do.
func (r *Runner) Prepare(ctx context.Context) error { return capturing(ctx, r.Program.Session()) }

// Do carries out one action, and says what happened.
func (r *Runner) Do(ctx context.Context, a *Action) Data {
	d := Data{Action: a.Type, Logs: []Log{}, NetworkEvents: []NetworkEvent{}}
	s := r.Program.Session()
	since := s.Monitor().Ring().Last()
	recorded := func(any, error) {}
	if a.Type != Diagnose && a.Type != Stop { // a diagnose has actions of its own
		args, _ := json.Marshal(a) // never fails
		ctx, recorded = r.Program.Record(ctx, a.Type, args, a.Type != Screenshot)
	}
	var err error
	switch a.Type {
	case Diagnose:
		r.diagnose(ctx, a, &d)
		return d
	case Stop:
		err = s.Release("stopped by an action")
		d.Success = err == nil
		if err != nil {
			d.Error = err.Error()
		}
		return d
	default:
		err = r.try(ctx, a, &d)
	}
	recorded(nil, err)
	if err != nil {
		d.Error, d.Hint = r.Program.Hide(err.Error()), r.hint(ctx, a, err)
	}
	d.Success = err == nil
	answered(ctx, s, since)
	d.Metrics = r.metrics(ctx)
	if err := observe(ctx, s, since, &d); err != nil && d.Error == "" {
		d.Success, d.Error = false, err.Error()
	}
	d.count()
	return d
}

// count counts the errors of an outcome into its figures.
func (d *Data) count() {
	if d.Metrics == nil {
		d.Metrics = &Metrics{}
	}
	for _, l := range d.Logs {
		if l.Type == "error" && l.Source != capture.SourceConsoleError {
			d.Metrics.JSErrors++
		}
	}
	for i := range d.NetworkEvents {
		if d.NetworkEvents[i].Failed() {
			d.Metrics.NetworkErrors++
		}
	}
}

// try carries out an action, and tries again after an error that may pass.
func (r *Runner) try(ctx context.Context, a *Action, d *Data) (err error) {
	pause := r.pause
	if pause == 0 {
		pause = retryPause
	}
	for n := 1; ; n++ {
		err = r.once(ctx, a, d)
		if err == nil || n == tries || isClicked(err) || !session.Transient(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// once carries out an action. A timeout of 0 is none of the action's own, but the
// longest that is allowed. While a person is in control, the action waits as long as the
// request may take, unless it says how long.
func (r *Runner) once(ctx context.Context, a *Action, d *Data) error {
	p := page.Page{Program: r.Program, Timeout: a.Timeout}
	if p.Timeout == 0 {
		p.Timeout = MaxTimeout
	}
	if a.PersonTimeout > 0 {
		limited, cancel := context.WithTimeout(ctx, a.PersonTimeout+p.Timeout+a.typing())
		defer cancel()
		ctx = limited
	}
	switch a.Type {
	case Start:
		return p.Navigate(ctx, a.URL, "load")
	case Navigate:
		return p.Navigate(ctx, a.URL, a.WaitUntil)
	case Click:
		return r.click(ctx, p, a)
	case Type:
		p.Timeout += a.typing()
		return p.Type(ctx, a.Selector, a.Text, a.Delay)
	case Scroll:
		return p.Scroll(ctx, a.Direction, a.Amount)
	case Screenshot:
		picture, err := p.Screenshot(ctx, page.ScreenshotOptions{FullPage: a.FullPage, Format: "jpeg", Quality: max(a.Quality, 1)})
		d.Screenshot = base64.StdEncoding.EncodeToString(picture)
		return err
	}
	return fmt.Errorf("%s is not an action", a.Type)
}

// errNoNavigation is why a click fails that should have led to another page.
var errNoNavigation = errors.New("the click did not lead to another page in time")

// clickedError is the error of an action whose click has succeeded.
type clickedError struct{ error }

func isClicked(err error) bool {
	_, ok := errors.AsType[*clickedError](err)
	return ok
}

// click clicks, and waits for the navigation that the click begins, if it must.
func (r *Runner) click(ctx context.Context, p page.Page, a *Action) error {
	if !a.WaitForNavigation {
		return p.Click(ctx, a.Selector, page.ClickOptions{Button: a.Button})
	}
	s := r.Program.Session()
	if !isCapturing(s) {
		return errors.New("waitForNavigation: needs the capture of navigation, which the session's creator has declined")
	}
	events := s.Journal().Read(s.Monitor().Ring().Last(), capture.Filter{Types: []string{capture.TypeNavigation}})
	if err := p.Click(ctx, a.Selector, page.ClickOptions{Button: a.Button}); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, p.Timeout, errNoNavigation)
	defer cancel()
	for {
		ev, err := events.Next(waiting)
		switch {
		case errors.Is(err, io.EOF):
			return session.ErrEnded
		case err != nil:
			return err
		case ev.ParentFrameID == "": // not within a page
			if err := p.WaitForLoad(ctx, "load"); err != nil {
				return &clickedError{err}
			}
			return nil
		}
	}
}

// hint says what may help against an error.
func (r *Runner) hint(ctx context.Context, a *Action, err error) string {
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	switch {
	case errors.Is(err, control.ErrHeld):
		return "Somebody who watches holds what programs do. The action can be sent again when they let programs go on."
	case errors.Is(err, control.ErrWaited):
		return "A person is in control. The action can be sent again when the person is done."
	case errors.Is(err, errNoNavigation):
		return "The click succeeded. Leave waitForNavigation out if the page changes in place."
	case isClicked(err):
		return "The click succeeded, but the page that it led to did not load in time."
	case a.Selector != "":
		n, err := page.Page{Program: r.Program, Timeout: hintTimeout}.Count(ctx, a.Selector)
		switch {
		case err != nil:
			return "The selector may be wrong: it could not be looked up."
		case n == 0:
			return "No element of the page matches the selector. A screenshot shows what is there."
		case n > 1:
			return fmt.Sprintf("%d elements match the selector. It must match one.", n)
		}
		return "An element matches the selector, but it is hidden, covered, disabled or moving. A screenshot shows what is in front of it."
	case a.URL != "":
		return "The address did not load: check that it is right, and that this server reaches it."
	}
	return ""
}

// metrics reads the figures of the shown page, also while a person is in control. What
// cannot be read stays 0.
func (r *Runner) metrics(ctx context.Context) *Metrics {
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	v, err := page.Page{Program: r.Program, Timeout: metricsTimeout}.Vitals(ctx)
	if err != nil {
		return &Metrics{}
	}
	return &Metrics{LoadTime: v.LoadTime, MemoryUsage: v.HeapUsed, TTFB: v.TTFB, FCP: v.FCP, LCP: v.LCP, LongTasks: v.LongTasks, LongestTask: v.LongestTask}
}

// diagnose carries out the steps of a diagnose and checks what must be true.
func (r *Runner) diagnose(ctx context.Context, a *Action, d *Data) {
	d.Success = true
	d.Steps = []StepData{}
	d.FromSeq = r.Program.Session().Monitor().Ring().Last()
	for i := range a.Steps {
		if i == a.MaxSteps || ctx.Err() != nil {
			break
		}
		step := &a.Steps[i]
		done := r.Do(ctx, &step.Action)
		result := StepData{Label: step.Label, Failures: step.failures(&done), Data: done}
		result.Success = len(result.Failures) == 0
		d.Success = d.Success && result.Success
		d.Steps = append(d.Steps, result)
		d.Logs, d.NetworkEvents = append(d.Logs, done.Logs...), append(d.NetworkEvents, done.NetworkEvents...)
		d.Metrics, d.ToSeq = done.Metrics, done.ToSeq
		d.Truncated = d.Truncated || done.Truncated
		if !result.Success && d.Error == "" {
			d.Error, d.Hint = fmt.Sprintf("%s: %s", step.Label, result.Failures[0]), done.Hint
		}
	}
}

// failures returns what was not as the step says.
func (s *Step) failures(d *Data) []string {
	failures := []string{}
	if !d.Success {
		failures = append(failures, d.Error)
	}
	for _, expected := range s.ExpectedLogs {
		found := false
		for _, l := range d.Logs {
			found = found || strings.Contains(l.Message, expected)
		}
		if !found {
			failures = append(failures, fmt.Sprintf("no log contains %q", expected))
		}
	}
	if s.NoJSErrors {
		for _, l := range d.Logs {
			if l.Type == "error" && l.Source != capture.SourceConsoleError {
				failures = append(failures, "error in the page: "+l.Message)
			}
		}
	}
	if s.NoNetworkErrors {
		for i := range d.NetworkEvents {
			if e := &d.NetworkEvents[i]; e.Failed() {
				failures = append(failures, strings.TrimSpace(fmt.Sprintf("%s failed: %d %s", e.URL, e.Status, e.Error)))
			}
		}
	}
	return failures
}
