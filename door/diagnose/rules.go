package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"takeover/capture"
	"takeover/door/actions"
)

// What the rules take as slow or growing.
const (
	longTask      = 200.0  // ms
	slowLCP       = 2500.0 // ms; "good" ends there by web.dev/vitals
	poorLCP       = 4000.0 // ms
	growthFactor  = 1.5
	growthBytes   = 10 << 20
	growthActions = 3 // actions on the same page before memory is judged
	maxClicks     = 4 // of what the problem names
)

// Rules is the analyst that needs no model: it knows the usual faults of pages, and
// clicks and scrolls what the problem's words name.
type Rules struct{}

// Next says what to do next, and what is wrong so far.
func (Rules) Next(ctx context.Context, c *Case) (Verdict, error) {
	v := Verdict{Findings: judge(ctx, c)}
	if c.StepsLeft == 0 {
		return v, nil
	}
	if first := c.Steps[0].Data; !first.Success {
		return v, nil // there is no page to work with
	}
	v.Action, v.Why = wanted(c)
	return v, nil
}

// wanted returns the next action that the problem's words ask for, or nil.
func wanted(c *Case) (*actions.Action, string) {
	clicks, scrolls, repeats := 0, 0, 0
	done := map[string]int{}
	for _, s := range c.Steps {
		switch s.Action.Type {
		case actions.Click:
			clicks++
			done[s.Action.Selector]++
		case actions.Scroll:
			scrolls++
		}
	}
	words := wordsOf(c.Problem)
	memory := strings.Contains(strings.ToLower(c.Problem), "memory") || slices.Contains(words, "leak")
	if slices.Contains(words, "scroll") && scrolls < 2 {
		return &actions.Action{Type: actions.Scroll, Direction: "down", Timeout: actions.DefaultTimeout}, "the problem speaks of scrolling"
	}
	best, score := Clickable{}, 0
	for _, e := range c.Page.Clickable {
		common := 0
		for _, w := range wordsOf(e.Text) {
			if slices.Contains(words, w) {
				common++
			}
		}
		most := 1
		if memory {
			most = growthActions + 1
		}
		if done[e.Selector] < most && common > score {
			best, score = e, common
		}
		repeats = max(repeats, done[e.Selector])
	}
	if score == 0 || clicks >= maxClicks+growthActions {
		return nil, ""
	}
	why := fmt.Sprintf("the problem names %q", best.Text)
	if done[best.Selector] > 0 {
		why = fmt.Sprintf("again, to see whether memory grows: %q", best.Text)
	}
	return &actions.Action{Type: actions.Click, Selector: best.Selector, Button: "left", Timeout: actions.DefaultTimeout}, why
}

// commonWords say nothing about what to click.
var commonWords = map[string]bool{"the": true, "and": true, "when": true, "with": true, "page": true, "does": true, "not": true, "nothing": true, "happens": true,
	"click": true, "clicking": true, "button": true, "link": true, "after": true, "this": true, "that": true, "for": true, "are": true, "work": true}

// wordsOf returns the words of a text that may name something, without endings.
func wordsOf(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) < 3 || commonWords[w] {
			continue
		}
		for _, ending := range []string{"ing", "s"} {
			if stem := strings.TrimSuffix(w, ending); len(stem) >= 4 {
				w = stem
			}
		}
		words = append(words, w)
	}
	return words
}

// judge returns what is wrong, by all steps so far.
func judge(ctx context.Context, c *Case) []Finding {
	j := &judgement{}
	for i := range c.Steps {
		s := &c.Steps[i]
		j.step = s.Number
		for _, l := range s.Data.Logs {
			j.log(ctx, c, l)
		}
		for n := range s.Data.NetworkEvents {
			j.request(&s.Data.NetworkEvents[n])
		}
		j.figures(s.Data.Metrics)
		if !s.Data.Success && s.Number == 1 && !j.has("redirect-loop") {
			j.add(Finding{Rule: "unreachable", Severity: Error, Title: "The page does not load", Detail: s.Data.Error, Suggestion: "Check the address, and that the server behind it answers."})
		} else if !s.Data.Success {
			j.add(Finding{Rule: "action-failed", Severity: Warning, Title: "An action failed: " + s.Action.Type, Detail: s.Data.Error, Suggestion: cmp.Or(s.Data.Hint, "Look at the picture of the page.")})
		}
	}
	for _, v := range c.Page.Violations {
		j.add(Finding{Rule: "csp", Severity: Error, Title: "The content security policy blocks " + cmp.Or(v.Blocked, "code"), Detail: "Directive: " + v.Directive,
			Location: place(v), Suggestion: "Allow it in the Content-Security-Policy header, or remove what it blocks."})
	}
	j.memory(c.Steps)
	return j.findings
}

func place(v Violation) string {
	if v.Source == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", v.Source, v.Line)
}

// judgement collects findings. The same finding is kept once, with a count.
type judgement struct {
	findings []Finding
	step     int
}

func (j *judgement) has(rule string) bool {
	return slices.ContainsFunc(j.findings, func(f Finding) bool { return f.Rule == rule })
}

func (j *judgement) add(f Finding) {
	f.Step, f.Count = j.step, 1
	for i := range j.findings {
		known := &j.findings[i]
		if known.Rule == f.Rule && known.Title == f.Title && known.Location == f.Location {
			known.Count++
			known.Events = append(known.Events, f.Events...)
			return
		}
	}
	j.findings = append(j.findings, f)
}

// hydration matches what frameworks log when the server's markup does not fit.
var hydration = regexp.MustCompile(`(?i)hydrat|did not match|server[- ]rendered`)

// log judges a line that the page logged.
func (j *judgement) log(ctx context.Context, c *Case, l actions.Log) {
	if l.Type != "error" && !(l.Type == "warning" && hydration.MatchString(l.Message)) {
		return
	}
	f := Finding{Severity: Error, Title: l.Message, Detail: l.Stack, Location: l.Location, Events: []uint64{l.Seq}}
	switch {
	case l.Source == "crash":
		f.Rule, f.Suggestion = "crash", "The page's process died. Look for endless loops and for large amounts of memory."
	case hydration.MatchString(l.Message):
		f.Rule, f.Suggestion = "hydration", "The markup of the server differs from what the browser renders: look for dates, random values and browser checks in components."
	case l.Source == capture.SourceUnhandledRejection:
		f.Rule, f.Suggestion, f.Location = "unhandled-rejection", "Handle the rejection of this promise, or await it inside of try.", c.Page.original(ctx, l.Location)
	case l.Source == capture.SourceWindowOnError:
		f.Rule, f.Suggestion, f.Location = "uncaught-error", "Fix the error at this place; what comes after it in the script was not carried out.", c.Page.original(ctx, l.Location)
	default:
		f.Rule, f.Severity, f.Suggestion = "logged-error", Warning, "The page itself reports this error."
	}
	j.add(f)
}

// request judges a request of the page.
func (j *judgement) request(e *actions.NetworkEvent) {
	if !e.Failed() {
		return
	}
	f := Finding{Severity: Error, Events: []uint64{e.Seq}, Detail: strings.TrimSpace(e.Method + " " + e.ResourceType + " " + e.Error)}
	switch blocked := strings.ToLower(e.Blocked); {
	case strings.HasPrefix(blocked, "cors"):
		f.Rule, f.Title, f.Detail = "cors", "CORS refuses "+e.URL, e.Blocked
		f.Suggestion = "The server of that address must send Access-Control-Allow-Origin for this page's origin, also for the preflight."
	case blocked == "csp":
		f.Rule, f.Title = "csp", "The content security policy blocks "+e.URL
		f.Suggestion = "Allow it in the Content-Security-Policy header, or remove what it blocks."
	case strings.Contains(blocked, "mixed"):
		f.Rule, f.Title = "mixed-content", "Mixed content is blocked: "+e.URL
		f.Suggestion = "Load it over https, as the page itself."
	case e.Type == "blocked":
		f.Rule, f.Title, f.Suggestion = "not-allowed", "The session may not reach "+e.URL, "This is the server's own rule; see allowedHosts and --allow-networks."
	case strings.Contains(e.Error, "ERR_TOO_MANY_REDIRECTS"):
		f.Rule, f.Title, f.Suggestion = "redirect-loop", "The address redirects in a circle: "+e.URL, "Check the redirects of the server, and the cookies or headers that they depend on."
	case e.Blocked != "":
		f.Rule, f.Title, f.Detail, f.Suggestion = "blocked", "The browser blocks "+e.URL, e.Blocked, "Remove the reason, or the request."
	case e.Type == "failed":
		f.Rule, f.Title, f.Suggestion = "failed-request", "A request fails: "+e.URL, "Check that the server answers, and that its name and certificate are right."
	case e.Status >= 500:
		f.Rule, f.Title, f.Suggestion = "server-error", fmt.Sprintf("The server answers %d: %s", e.Status, e.URL), "Look into the log of that server."
	case e.Status == 404 && slices.Contains([]string{"image", "script", "stylesheet", "font", "media"}, strings.ToLower(e.ResourceType)):
		f.Rule, f.Title, f.Suggestion = "missing-resource", "A file of the page is missing: "+e.URL, "Deploy the file, or correct the path."
		if strings.EqualFold(e.ResourceType, "image") || strings.EqualFold(e.ResourceType, "font") {
			f.Severity = Warning
		}
		if strings.HasSuffix(e.URL, "/favicon.ico") {
			f.Severity = Info
		}
	default:
		f.Rule, f.Title, f.Suggestion = "client-error", fmt.Sprintf("A request is refused with %d: %s", e.Status, e.URL), "Check the address, the sign-in and the parameters of the request."
		if strings.HasSuffix(e.URL, "/favicon.ico") {
			f.Rule, f.Severity, f.Suggestion = "missing-resource", Info, "Add an icon, or a link to one."
		}
	}
	j.add(f)
}

// figures judges the times of a step.
func (j *judgement) figures(m *actions.Metrics) {
	if m == nil {
		return
	}
	if m.LongestTask >= longTask && !j.has("long-task") {
		j.add(Finding{Rule: "long-task", Severity: Warning, Title: fmt.Sprintf("JavaScript blocks the page for %.0f ms", m.LongestTask), Detail: fmt.Sprintf("%d tasks took longer than 50 ms", m.LongTasks),
			Suggestion: "Split the work, move it to a worker, or do less of it."})
	}
	if m.LCP > slowLCP && !j.has("slow-lcp") {
		severity := Warning
		if m.LCP > poorLCP {
			severity = Error
		}
		j.add(Finding{Rule: "slow-lcp", Severity: severity, Title: fmt.Sprintf("The main content appears after %.1f s", m.LCP/1000), Detail: fmt.Sprintf("First byte after %.0f ms, first paint after %.0f ms", m.TTFB, m.FCP),
			Suggestion: "Send the largest picture or text earlier, and do not wait for scripts before showing it."})
	}
}

// memory judges whether the memory of a page grows with the same action.
func (j *judgement) memory(steps []Step) {
	first, last, n := int64(0), int64(0), 0
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		if s.Action.Type == actions.Navigate || s.Action.Type == actions.Start || s.Data.Metrics == nil || s.Data.Metrics.MemoryUsage == 0 {
			break
		}
		if last == 0 {
			last = s.Data.Metrics.MemoryUsage
		}
		first = s.Data.Metrics.MemoryUsage
		n++
	}
	if n >= growthActions && last-first > growthBytes && float64(last) > growthFactor*float64(first) {
		j.add(Finding{Rule: "growing-memory", Severity: Warning, Title: fmt.Sprintf("Memory grows with each action: from %d to %d MB in %d actions", first>>20, last>>20, n),
			Suggestion: "Look for listeners, timers and caches that are never removed."})
	}
}
