// Package diagnose finds out what is wrong with a page: an analyst reads what the
// page logged, requested and measured, and gives the next action or its findings,
// until the problem is diagnosed or the steps are used up.
package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"takeover/door/actions"
	"takeover/invalid"
	"takeover/session"
)

// Defaults and bounds of a diagnosis.
const (
	DefaultSteps   = 8
	DefaultTimeout = 2 * time.Minute

	maxSteps    = 50
	maxTimeout  = 10 * time.Minute
	maxProblem  = 2000 // characters
	maxFindings = 100
	// pictureTimeout is how long the picture of the page may take.
	pictureTimeout = 10 * time.Second
)

// The severities of findings, the worst first.
const (
	Error   = "error"
	Warning = "warning"
	Info    = "info"
)

// Options say what to diagnose.
type Options struct {
	URL      string
	Problem  string        // in words
	MaxSteps int           // actions; default DefaultSteps
	Timeout  time.Duration // of all; default DefaultTimeout
	Analyst  Analyst       // default Rules
}

// Check checks the options and fills in the defaults. The error is an
// *invalid.Error.
func (o *Options) Check() error {
	var bad []invalid.FieldError
	add := func(field, format string, args ...any) {
		bad = append(bad, invalid.FieldError{Field: field, Error: fmt.Sprintf(format, args...)})
	}
	if _, err := actions.ParseJSON(navigateTo(o.URL)); err != nil {
		add("url", "must be an address that begins with http:// or https://")
	}
	if utf8.RuneCountInString(o.Problem) > maxProblem {
		add("problem", "must have at most %d characters", maxProblem)
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = DefaultSteps
	}
	if o.MaxSteps < 1 || o.MaxSteps > maxSteps {
		add("maxSteps", "must be between 1 and %d", maxSteps)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Timeout < time.Second || o.Timeout > maxTimeout {
		add("timeout", "must be between 1000 and %d ms", maxTimeout.Milliseconds())
	}
	if o.Analyst == nil {
		o.Analyst = Rules{}
	}
	if len(bad) > 0 {
		return &invalid.Error{Fields: bad}
	}
	return nil
}

// Finding is something that is wrong with the page.
type Finding struct {
	Rule       string   `json:"rule" doc:"A short name, such as uncaught-error."`
	Severity   string   `json:"severity" doc:"error, warning or info."`
	Title      string   `json:"title" doc:"What is wrong."`
	Detail     string   `json:"detail,omitempty" doc:"More about it."`
	Suggestion string   `json:"suggestion" doc:"What may help."`
	Location   string   `json:"location,omitempty" doc:"A position in the page's sources: file:line:column."`
	Events     []uint64 `json:"events" doc:"Numbers of the session's events that show it."`
	Step       int      `json:"step" doc:"The step at which it was seen, from 1."`
	Count      int      `json:"count" doc:"How often it was seen."`
}

// Step is one step of a diagnosis.
type Step struct {
	Number int            `json:"number" doc:"From 1."`
	Action actions.Action `json:"action" doc:"What was done."`
	Why    string         `json:"why,omitempty" doc:"The reason."`
	Data   actions.Data   `json:"data" doc:"What the page did."`
}

// Report is the outcome of a diagnosis.
type Report struct {
	URL       string    `json:"url" doc:"The page's address."`
	Problem   string    `json:"problem" doc:"The problem, in the caller's words."`
	SessionID string    `json:"sessionId" doc:"The session that the diagnosis used."`
	Diagnosed bool      `json:"diagnosed" doc:"Whether the diagnosis came to an end."`
	Ended     string    `json:"ended" doc:"Why it ended, in words."`
	Findings  []Finding `json:"findings" doc:"What is wrong, the worst first."`
	Steps     []Step    `json:"steps" doc:"What was done."`
	Picture   string    `json:"picture,omitempty" doc:"The page at the end: JPEG, in base64."`
}

// Case is what an analyst knows.
type Case struct {
	URL, Problem string
	StepsLeft    int
	Steps        []Step
	Page         Page // the shown page, now
}

// Verdict is what an analyst says: the next action, or that it has ended.
type Verdict struct {
	Action   *actions.Action // nil at the end
	Why      string          // the reason for the action
	Findings []Finding       // all so far; they replace those of the verdict before
}

// Analyst reads a case and says what to do next, or what is wrong. Findings beside an
// error count.
type Analyst interface {
	Next(ctx context.Context, c *Case) (Verdict, error)
}

// Progress is told of each step, as soon as it is done, and of the findings when
// they change.
type Progress struct {
	Step     *Step
	Findings []Finding
}

// Run diagnoses a page in a session. The error is one of package session, or of ctx
// when its caller has gone; every other end is in the report.
func Run(ctx context.Context, program *session.Program, o Options, tell func(Progress)) (Report, error) {
	if err := o.Check(); err != nil {
		return Report{}, err
	}
	if tell == nil {
		tell = func(Progress) {}
	}
	report := Report{URL: o.URL, Problem: o.Problem, SessionID: program.Session().ID(), Findings: []Finding{}, Steps: []Step{}}
	within, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	loop := loop{program: program, runner: &actions.Runner{Program: program}, options: &o, report: &report, tell: tell}
	err := loop.run(within)
	switch {
	case ctx.Err() != nil:
		return report, context.Cause(ctx)
	case within.Err() != nil:
		report.Ended = fmt.Sprintf("the time of %v was up", o.Timeout)
	case err != nil && program.Session().Status().Ended():
		return report, err
	case err != nil:
		report.Ended = err.Error()
	}
	sortFindings(report.Findings)
	loop.picture(ctx)
	return report, nil
}

// loop is a diagnosis under way.
type loop struct {
	program *session.Program
	runner  *actions.Runner
	options *Options
	report  *Report
	tell    func(Progress)
}

func (l *loop) run(ctx context.Context) error {
	list, err := actions.ParseJSON(navigateTo(l.options.URL))
	if err != nil {
		return err
	}
	if err := l.runner.Prepare(ctx); err != nil {
		return err
	}
	verdict := Verdict{Action: &list[0], Why: "open the page"}
	for verdict.Action != nil {
		if len(l.report.Steps) == l.options.MaxSteps {
			l.report.Ended = fmt.Sprintf("the %d steps were used up", l.options.MaxSteps)
			return nil
		}
		l.report.Steps = append(l.report.Steps, Step{
			Number: len(l.report.Steps) + 1, Action: *verdict.Action, Why: verdict.Why, Data: l.runner.Do(ctx, verdict.Action),
		})
		l.tell(Progress{Step: &l.report.Steps[len(l.report.Steps)-1]})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		verdict, err = l.options.Analyst.Next(ctx, &Case{
			URL: l.options.URL, Problem: l.options.Problem, StepsLeft: l.options.MaxSteps - len(l.report.Steps), Steps: l.report.Steps, Page: look(ctx, l.program),
		})
		if len(verdict.Findings) > maxFindings {
			verdict.Findings = verdict.Findings[:maxFindings]
		}
		if len(verdict.Findings) > 0 {
			l.report.Findings = l.hidden(verdict.Findings)
			l.tell(Progress{Findings: l.report.Findings})
		}
		if err != nil {
			return fmt.Errorf("the analyst failed: %w", err)
		}
	}
	l.report.Diagnosed, l.report.Ended = true, "diagnosed"
	return nil
}

// hidden removes what people typed into secret fields from findings.
func (l *loop) hidden(findings []Finding) []Finding {
	out := slices.Clone(findings)
	for i := range out {
		f := &out[i]
		for _, text := range []*string{&f.Title, &f.Detail, &f.Suggestion, &f.Location} {
			*text = l.program.Hide(*text)
		}
		if f.Events == nil {
			f.Events = []uint64{}
		}
		f.Count = max(f.Count, 1)
	}
	return out
}

// picture adds a picture of the page to the report, if it can be taken.
func (l *loop) picture(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	d := l.runner.Do(ctx, &actions.Action{Type: actions.Screenshot, Timeout: pictureTimeout / 2, Quality: 70})
	l.report.Picture = d.Screenshot
}

// sortFindings puts the worst first.
func sortFindings(findings []Finding) {
	rank := func(f Finding) int { return slices.Index([]string{Error, Warning, Info}, f.Severity) }
	slices.SortStableFunc(findings, func(a, b Finding) int { return rank(a) - rank(b) })
}

// navigateTo returns the action that opens an address, as JSON.
func navigateTo(url string) []byte {
	var b strings.Builder
	b.WriteString(`{"type":"navigate","url":`)
	b.Write(jsonText(url))
	b.WriteString(`}`)
	return []byte(b.String())
}
