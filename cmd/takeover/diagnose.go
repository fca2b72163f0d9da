package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// diagnoseCommand finds out what is wrong with a page.
type diagnoseCommand struct {
	URL     string        `arg:"" name:"url" help:"The page."`
	Problem string        `arg:"" optional:"" help:"What is wrong, in words. What they name is clicked."`
	Steps   int           `help:"How many actions it may take." default:"8"`
	Timeout time.Duration `help:"How long it may take." default:"2m"`
}

// Help returns additional text for the help of diagnose.
func (*diagnoseCommand) Help() string {
	return "Prints each step to standard error, and the findings to standard output, the worst first; with --json, the whole report. Exit codes: 0 no errors found, 1 errors found or failure, 2 wrong usage, 130 interrupted."
}

// The parts of a diagnosis that the command shows or judges by.
type (
	diagnosis struct {
		Diagnosed bool   `json:"diagnosed"`
		Ended     string `json:"ended"`
		Findings  []struct {
			Severity   string `json:"severity"`
			Title      string `json:"title"`
			Suggestion string `json:"suggestion"`
			Location   string `json:"location"`
		} `json:"findings"`
	}
	diagnosisStep struct {
		Number int `json:"number"`
		Action struct {
			Type      string `json:"type"`
			URL       string `json:"url"`
			Direction string `json:"direction"`
		} `json:"action"`
		Why  string `json:"why"`
		Data struct {
			Success bool `json:"success"`
		} `json:"data"`
	}
)

// errFound makes the exit code tell that errors were found.
var errFound = errors.New("the page has errors")

// Run diagnoses a page.
func (d *diagnoseCommand) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"url": d.URL, "problem": d.Problem, "maxSteps": d.Steps, "timeout": d.Timeout.Milliseconds()})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, api.base+"/v1/diagnose", bytes.NewReader(body))
	if err != nil {
		return usage("%s: %w", api.base, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := api.send(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var raw json.RawMessage
	var report diagnosis
	err = readStream(resp.Body, func(event string, data []byte) (bool, error) {
		switch event {
		case "step":
			var s diagnosisStep
			if err := json.Unmarshal(data, &s); err != nil {
				return false, fmt.Errorf("read answer: %w", err)
			}
			fmt.Fprintln(std.err, stepLine(&s))
		case "report":
			raw = data
			return false, json.Unmarshal(data, &report)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = writeJSON(std.out, raw)
	} else {
		printReport(std, &report)
	}
	for _, f := range report.Findings {
		if f.Severity == "error" && err == nil {
			return errFound
		}
	}
	if err == nil && !report.Diagnosed {
		return errors.New(report.Ended)
	}
	return err
}

// stepLine describes a step.
func stepLine(s *diagnosisStep) string {
	what := s.Action.Type
	for _, more := range []string{s.Action.URL, s.Action.Direction} {
		if more != "" {
			what += " " + printable(more)
		}
	}
	if s.Why != "" {
		what += " (" + printable(s.Why) + ")"
	}
	if !s.Data.Success {
		what += ": failed"
	}
	return fmt.Sprintf("%d. %s", s.Number, what)
}

// printReport prints the findings for a person.
func printReport(std streams, r *diagnosis) {
	if len(r.Findings) == 0 {
		fmt.Fprintln(std.out, "Nothing is wrong, as far as it can be seen.")
	}
	for _, f := range r.Findings {
		fmt.Fprintf(std.out, "%s: %s\n", f.Severity, printable(f.Title))
		if f.Location != "" {
			fmt.Fprintf(std.out, "  at %s\n", printable(f.Location))
		}
		fmt.Fprintf(std.out, "  %s\n", printable(f.Suggestion))
	}
}
