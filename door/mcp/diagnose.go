package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"takeover/door/diagnose"
)

type diagnoseArgs struct {
	URL      string  `json:"url" jsonschema:"the page's address"`
	Problem  string  `json:"problem,omitempty" jsonschema:"what is wrong, in words; what they name is clicked"`
	MaxSteps int     `json:"maxSteps,omitempty" jsonschema:"default 8"`
	Timeout  float64 `json:"timeout,omitempty" jsonschema:"ms; default 120000"`
}

// diagnoseTools find out what is wrong with pages.
var diagnoseTools = []tool{
	row("diagnose", setDiagnose, "Diagnose a page", acts,
		"Find out what is wrong with a page: errors, failed and blocked requests, redirect loops, slow loading and others, with evidence and suggestions. Uses a browser of its own.",
		`{"url": "https://example.com/shop", "problem": "the Buy button does nothing"}`, (*call).diagnose),
}

// diagnose diagnoses a page in a session of its own, which ends with the diagnosis.
func (c *call) diagnose(in diagnoseArgs) (*answer, error) {
	o := diagnose.Options{
		URL: in.URL, Problem: in.Problem, MaxSteps: in.MaxSteps, Timeout: time.Duration(min(in.Timeout, maxWait) * float64(time.Millisecond)), Analyst: c.door.o.Analyst,
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]int64{"timeout": (o.Timeout + time.Minute).Milliseconds()})
	if err != nil {
		return nil, err
	}
	made, _, err := c.door.o.Create(c.ctx, c.caller, body)
	if err != nil {
		return nil, err
	}
	defer func() {
		c.conversation = nil                        // it ends with the session
		_ = made.Release("its diagnosis has ended") // it may have ended already
	}()
	if c.conversation, err = c.door.conversations.of(c.caller, made); err != nil {
		return nil, err
	}
	began, doing := time.Now(), make(chan string, 1)
	doing <- "opening the page"
	defer c.progress(func() (float64, float64, string) {
		now := <-doing
		doing <- now
		return time.Since(began).Seconds(), o.Timeout.Seconds(), now
	})()
	report, err := diagnose.Run(c.ctx, c.conversation.program, o, func(p diagnose.Progress) {
		if p.Step != nil {
			<-doing
			doing <- fmt.Sprintf("step %d: %s", p.Step.Number, p.Step.Why)
		}
	})
	if err != nil {
		return nil, err
	}
	return diagnosed(&report), nil
}

// diagnosed writes the outcome of a diagnosis for a model, the worst first.
func diagnosed(r *diagnose.Report) *answer {
	a := say("%s after %d steps: %d findings.", r.Ended, len(r.Steps), len(r.Findings))
	left := maxListing
	for i, f := range r.Findings {
		line := fmt.Sprintf("- %s %s: %s", f.Severity, f.Rule, f.Title)
		for _, more := range []string{f.Detail, f.Location} {
			if more != "" {
				line += "; " + more
			}
		}
		line, _ = clip(oneLine(line)+" → "+strings.TrimSpace(f.Suggestion), maxListing/4)
		if left -= tokens(line); left < 0 {
			return a.add("… %d more", len(r.Findings)-i)
		}
		a.add("%s", line)
	}
	return a
}
