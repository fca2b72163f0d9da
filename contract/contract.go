// Package contract judges what a page shows: contracts are small JSON documents
// that say what must be true, and a judgement is pass, fail or inconclusive, with
// its evidence. It knows nothing about browsers.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"takeover/invalid"
	"takeover/urlglob"
)

const (
	maxDepth    = 8    // contracts within contracts
	maxParts    = 100  // of one contract
	maxPattern  = 1000 // bytes of a regular expression
	maxSelector = 4096 // bytes
	maxExpected = 4096 // bytes of a text or an address
)

// Contract says what must be true. It has exactly one part.
type Contract struct {
	part part
}

// part is one kind of contract.
type part interface {
	// check returns an error that names each wrong field, below the path at.
	check(at string) error
}

// text says what a text must be: it has exactly one field.
type text struct {
	Contains *string `json:"contains,omitempty"`
	Equals   *string `json:"equals,omitempty"`
	Matches  *string `json:"matches,omitempty"` // a regular expression

	pattern *regexp.Regexp
}

type urlPart struct {
	Equals  *string `json:"equals,omitempty"`
	Matches *string `json:"matches,omitempty"`

	text text
}

type domText struct {
	Selector string `json:"selector,omitempty"` // default body
	text
}

type domCount struct {
	Selector string `json:"selector"`
	Eq       *int   `json:"eq,omitempty"`
	Gte      *int   `json:"gte,omitempty"`
	Lte      *int   `json:"lte,omitempty"`
}

type network struct {
	URL      string `json:"url"` // a glob, as in page.waitForURL
	StatusIn []int  `json:"status_in"`
	Since    *int64 `json:"since,omitempty"` // Unix ms

	pattern *urlglob.Pattern
}

type console struct {
	Level string `json:"level"`
	Max   *int   `json:"max"`
}

type noDialog struct{}

type performance struct {
	Metric string   `json:"metric"`
	Lte    *float64 `json:"lte"`
}

type (
	allOf  []*Contract
	anyOf  []*Contract
	notOne struct{ of *Contract }
)

// Levels are the levels of console output. Uncaught errors count as error.
var Levels = []string{"log", "info", "warn", "error", "debug"}

// Metrics are the metrics of contracts about performance, in ms, except for cls,
// which has no unit.
var Metrics = []string{"ttfb", "fcp", "lcp", "cls", "domContentLoaded", "load"}

// Parse reads a contract. The error is an *invalid.Error that names the field, by
// its path.
func Parse(raw json.RawMessage) (*Contract, error) {
	parts := 0
	return parse(raw, "contract", 0, &parts)
}

func parse(raw json.RawMessage, at string, depth int, parts *int) (*Contract, error) {
	if *parts++; depth > maxDepth || *parts > maxParts {
		return nil, invalid.Field(at, "has more than %d contracts, or is nested deeper than %d", maxParts, maxDepth)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || len(fields) != 1 {
		return nil, invalid.Field(at, "must be an object with one key: %s", strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	for name, value := range fields {
		read, known := kinds[name]
		at += "." + name
		if !known {
			return nil, invalid.Field(at, "is unknown; the kinds are %s", strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		}
		p, err := read(value, at, depth+1, parts)
		if err == nil {
			err = p.check(at)
		}
		return &Contract{p}, err
	}
	panic("unreachable") // there is one field
}

// kinds are the kinds of contracts, by their keys.
var kinds map[string]func(raw json.RawMessage, at string, depth int, parts *int) (part, error)

func init() { //nolint:gochecknoinits // the table refers to itself through parse
	list := func(of func([]*Contract) part) func(json.RawMessage, string, int, *int) (part, error) {
		return func(raw json.RawMessage, at string, depth int, parts *int) (part, error) {
			var items []json.RawMessage
			if err := json.Unmarshal(raw, &items); err != nil || len(items) == 0 {
				return nil, invalid.Field(at, "must be a list of contracts")
			}
			out := make([]*Contract, len(items))
			for i, item := range items {
				var err error
				if out[i], err = parse(item, fmt.Sprintf("%s[%d]", at, i), depth, parts); err != nil {
					return nil, err
				}
			}
			return of(out), nil
		}
	}
	kinds = map[string]func(json.RawMessage, string, int, *int) (part, error){
		"url": decoded[urlPart], "dom_text": decoded[domText], "dom_count": decoded[domCount], "network": decoded[network], "console": decoded[console],
		"no_dialog": decoded[noDialog], "performance": decoded[performance],
		"and": list(func(c []*Contract) part { return allOf(c) }),
		"or":  list(func(c []*Contract) part { return anyOf(c) }),
		"not": func(raw json.RawMessage, at string, depth int, parts *int) (part, error) {
			of, err := parse(raw, at, depth, parts)
			return notOne{of}, err
		},
	}
}

// decoded reads a part from an object without unknown fields.
func decoded[T any, P interface {
	*T
	part
}](raw json.RawMessage, at string, _ int, _ *int) (part, error) {
	p := P(new(T))
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, invalid.Field(at, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, invalid.Field(at, "must be one object")
	}
	return p, nil
}

func (p *urlPart) check(at string) error {
	p.text = text{Equals: p.Equals, Matches: p.Matches}
	if (p.Equals == nil) == (p.Matches == nil) {
		return invalid.Field(at, "must have either equals or matches")
	}
	return p.text.check(at)
}

func (p *text) check(at string) error {
	given := 0
	for name, value := range map[string]*string{"contains": p.Contains, "equals": p.Equals, "matches": p.Matches} {
		if value == nil {
			continue
		}
		given++
		if len(*value) > maxExpected {
			return invalid.Field(at+"."+name, "must have at most %d bytes", maxExpected)
		}
	}
	if given != 1 {
		return invalid.Field(at, "must have one of contains, equals and matches")
	}
	if p.Matches == nil {
		return nil
	}
	if len(*p.Matches) > maxPattern {
		return invalid.Field(at+".matches", "must have at most %d bytes", maxPattern)
	}
	var err error
	if p.pattern, err = regexp.Compile(*p.Matches); err != nil {
		return invalid.Field(at+".matches", "is not a regular expression: %s", err)
	}
	return nil
}

func (p *domText) check(at string) error {
	if len(p.Selector) > maxSelector {
		return invalid.Field(at+".selector", "must have at most %d bytes", maxSelector)
	}
	return p.text.check(at)
}

func (p *domCount) check(at string) error {
	if p.Selector == "" || len(p.Selector) > maxSelector {
		return invalid.Field(at+".selector", "must have 1 to %d bytes", maxSelector)
	}
	given := 0
	for name, value := range map[string]*int{"eq": p.Eq, "gte": p.Gte, "lte": p.Lte} {
		if value == nil {
			continue
		}
		given++
		if *value < 0 {
			return invalid.Field(at+"."+name, "must not be negative")
		}
	}
	if given != 1 {
		return invalid.Field(at, "must have one of eq, gte and lte")
	}
	return nil
}

func (p *network) check(at string) error {
	if p.URL == "" || len(p.URL) > maxExpected {
		return invalid.Field(at+".url", "must have 1 to %d bytes", maxExpected)
	}
	var err error
	if p.pattern, err = urlglob.Compile(p.URL, ""); err != nil {
		return invalid.Field(at+".url", "is not a URL glob: %s", err)
	}
	if len(p.StatusIn) == 0 || len(p.StatusIn) > maxParts {
		return invalid.Field(at+".status_in", "must have 1 to %d statuses", maxParts)
	}
	return nil
}

func (p *console) check(at string) error {
	if !slices.Contains(Levels, p.Level) {
		return invalid.Field(at+".level", "must be one of %s", strings.Join(Levels, ", "))
	}
	if p.Max == nil || *p.Max < 0 {
		return invalid.Field(at+".max", "must be a number from 0")
	}
	return nil
}

func (p *noDialog) check(string) error { return nil }

func (p *performance) check(at string) error {
	if !slices.Contains(Metrics, p.Metric) {
		return invalid.Field(at+".metric", "must be one of %s", strings.Join(Metrics, ", "))
	}
	if p.Lte == nil {
		return invalid.Field(at+".lte", "must be a number")
	}
	return nil
}

func (allOf) check(string) error  { return nil }
func (anyOf) check(string) error  { return nil }
func (notOne) check(string) error { return nil }

// since returns the time from which requests count.
func (p *network) since() time.Time {
	if p.Since == nil {
		return time.Time{}
	}
	return time.UnixMilli(*p.Since)
}
