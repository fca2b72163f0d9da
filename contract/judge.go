package contract

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Verdict is the outcome of a judgement.
type Verdict string

// The verdicts. Inconclusive means that nobody could look, or that what was seen is
// not enough; it is never inverted.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
)

const (
	maxFound = 2000 // bytes of a text in evidence
	maxShown = 20   // texts or requests in evidence
)

// Request is a request of a page.
type Request struct {
	URL    string
	Status int    // 0 before the response
	Failed string // why there is no response
	At     time.Time
}

// Page is what a contract is about. An error of a method makes the judgement
// inconclusive.
type Page interface {
	URL() string
	// Texts returns the texts of the elements that match a selector, as people see
	// them.
	Texts(ctx context.Context, selector string) ([]string, error)
	Count(ctx context.Context, selector string) (int, error)
	// Requests returns the page's newest requests, and whether there were more.
	Requests() (list []Request, more bool)
	// Console returns how often a level was written to the console, and whether
	// there may have been more.
	Console(level string) (n int, more bool)
	// Dialog returns the message of the dialog that is open.
	Dialog() (message string, open bool)
	// Performance returns a metric. ok is false if the page does not have it yet.
	Performance(ctx context.Context, metric string) (value float64, ok bool, err error)
}

// Evidence says what was seen.
type Evidence struct {
	Kind     string      `json:"kind" doc:"The kind of contract: its key."`
	Verdict  Verdict     `json:"verdict" doc:"pass, fail or inconclusive."`
	Expected any         `json:"expected,omitempty" doc:"What the contract asks for."`
	Found    any         `json:"found,omitempty" doc:"What the page has."`
	Reason   string      `json:"reason,omitempty" doc:"Why the verdict is not pass."`
	Parts    []*Evidence `json:"parts,omitempty" doc:"Of and, or and not: the evidence of each contract in it."`
}

// Judge judges a page.
func (c *Contract) Judge(ctx context.Context, p Page) *Evidence {
	switch part := c.part.(type) {
	case *urlPart:
		return part.text.judge("url", part, []string{p.URL()})
	case *domText:
		return part.judge(ctx, p)
	case *domCount:
		return part.judge(ctx, p)
	case *network:
		return part.judge(p)
	case *console:
		return part.judge(p)
	case *noDialog:
		e := &Evidence{Kind: "no_dialog", Verdict: Pass}
		if message, open := p.Dialog(); open {
			e.Verdict, e.Found, e.Reason = Fail, clip(message), "a dialog is open"
		}
		return e
	case *performance:
		return part.judge(ctx, p)
	case allOf:
		return several(ctx, p, "and", part, Fail, Pass)
	case anyOf:
		return several(ctx, p, "or", part, Pass, Fail)
	case notOne:
		inner := part.of.Judge(ctx, p)
		e := &Evidence{Kind: "not", Verdict: inner.Verdict, Parts: []*Evidence{inner}}
		switch inner.Verdict {
		case Pass:
			e.Verdict, e.Reason = Fail, "what must not be true is true"
		case Fail:
			e.Verdict = Pass
		case Inconclusive:
			e.Reason = inner.Reason
		}
		return e
	}
	panic(fmt.Sprintf("contract: unknown part %T", c.part))
}

// several judges a list: one with the verdict deciding decides; without one, one that
// is inconclusive does.
func several(ctx context.Context, p Page, kind string, list []*Contract, deciding, otherwise Verdict) *Evidence {
	e := &Evidence{Kind: kind, Verdict: otherwise}
	for _, c := range list {
		e.Parts = append(e.Parts, c.Judge(ctx, p))
	}
	has := func(v Verdict) int {
		return slices.IndexFunc(e.Parts, func(part *Evidence) bool { return part.Verdict == v })
	}
	switch {
	case has(deciding) >= 0:
		e.Verdict = deciding
	case has(Inconclusive) >= 0:
		e.Verdict = Inconclusive
	}
	if e.Verdict != Pass {
		e.Reason = e.Parts[max(0, has(e.Verdict))].Reason
	}
	return e
}

func inconclusive(kind string, expected any, why string) *Evidence {
	return &Evidence{Kind: kind, Verdict: Inconclusive, Expected: expected, Reason: why}
}

// judge passes if one of the texts is right.
func (p *text) judge(kind string, expected any, texts []string) *Evidence {
	e := &Evidence{Kind: kind, Verdict: Fail, Expected: expected}
	shown := make([]string, 0, min(len(texts), maxShown))
	for _, one := range texts {
		if p.holds(one) {
			e.Verdict, e.Found = Pass, clip(one)
			return e
		}
		if len(shown) < maxShown {
			shown = append(shown, clip(one))
		}
	}
	e.Found, e.Reason = shown, "the text is another one"
	if len(texts) == 0 {
		e.Reason = "there is no such element"
	}
	return e
}

func (p *text) holds(s string) bool {
	switch {
	case p.Contains != nil:
		return strings.Contains(squeeze(s), squeeze(*p.Contains))
	case p.Equals != nil:
		return squeeze(s) == squeeze(*p.Equals)
	}
	return p.pattern.MatchString(s)
}

// squeeze makes one space of each run of white space, as people see it.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func clip(s string) string {
	if len(s) <= maxFound {
		return s
	}
	return strings.ToValidUTF8(s[:maxFound], "") + "…"
}

func (p *domText) judge(ctx context.Context, page Page) *Evidence {
	selector := p.Selector
	if selector == "" {
		selector = "body"
	}
	texts, err := page.Texts(ctx, selector)
	if err != nil {
		return inconclusive("dom_text", p, err.Error())
	}
	return p.text.judge("dom_text", p, texts)
}

func (p *domCount) judge(ctx context.Context, page Page) *Evidence {
	n, err := page.Count(ctx, p.Selector)
	if err != nil {
		return inconclusive("dom_count", p, err.Error())
	}
	e := &Evidence{Kind: "dom_count", Verdict: Pass, Expected: p, Found: n}
	if p.Eq != nil && n != *p.Eq || p.Gte != nil && n < *p.Gte || p.Lte != nil && n > *p.Lte {
		e.Verdict, e.Reason = Fail, "the number of elements is another one"
	}
	return e
}

// judge passes if a request has one of the statuses.
func (p *network) judge(page Page) *Evidence {
	e := &Evidence{Kind: "network", Verdict: Fail, Expected: p}
	list, more := page.Requests()
	var found []map[string]any
	pending := false
	for _, r := range slices.Backward(list) {
		if r.At.Before(p.since()) || !p.pattern.Match(r.URL) {
			continue
		}
		one := map[string]any{"url": clip(r.URL), "status": r.Status, "ts": r.At.UnixMilli()}
		if r.Failed != "" {
			one["failed"] = clip(r.Failed)
		}
		if slices.Contains(p.StatusIn, r.Status) {
			e.Verdict, e.Found = Pass, one
			return e
		}
		pending = pending || r.Status == 0 && r.Failed == ""
		if len(found) < maxShown {
			found = append(found, one)
		}
	}
	e.Found = found
	switch {
	case pending:
		e.Verdict, e.Reason = Inconclusive, "a request has no answer yet"
	case len(found) > 0:
		e.Reason = "the status is another one"
	case more:
		e.Verdict, e.Reason = Inconclusive, "there is no such request among the newest ones"
	default:
		e.Reason = "there is no such request"
	}
	return e
}

func (p *console) judge(page Page) *Evidence {
	n, more := page.Console(p.Level)
	e := &Evidence{Kind: "console", Verdict: Pass, Expected: p, Found: n}
	switch {
	case n > *p.Max:
		e.Verdict, e.Reason = Fail, "there are more such lines"
	case more:
		e.Verdict, e.Reason = Inconclusive, "older lines were dropped"
	}
	return e
}

func (p *performance) judge(ctx context.Context, page Page) *Evidence {
	value, ok, err := page.Performance(ctx, p.Metric)
	switch {
	case err != nil:
		return inconclusive("performance", p, err.Error())
	case !ok:
		return inconclusive("performance", p, "the page does not have this metric yet")
	}
	e := &Evidence{Kind: "performance", Verdict: Pass, Expected: p, Found: value}
	if value > *p.Lte {
		e.Verdict, e.Reason = Fail, "the metric is higher"
	}
	return e
}
