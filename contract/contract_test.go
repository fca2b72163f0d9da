package contract

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"takeover/invalid"
)

// seen is a page of which everything is known.
type seen struct {
	url      string
	texts    map[string][]string
	requests []Request
	more     bool
	lines    map[string]int
	dialog   string
	metrics  map[string]float64
	err      error
}

func (s seen) URL() string { return s.url }

func (s seen) Texts(_ context.Context, selector string) ([]string, error) {
	return s.texts[selector], s.err
}

func (s seen) Count(_ context.Context, selector string) (int, error) {
	return len(s.texts[selector]), s.err
}

func (s seen) Requests() ([]Request, bool)       { return s.requests, s.more }
func (s seen) Console(level string) (int, bool)  { return s.lines[level], s.more }
func (s seen) Dialog() (message string, ok bool) { return s.dialog, s.dialog != "" }

func (s seen) Performance(_ context.Context, metric string) (float64, bool, error) {
	v, ok := s.metrics[metric]
	return v, ok, s.err
}

// TestJudge judges one page by many contracts.
func TestJudge(t *testing.T) {
	now := time.UnixMilli(5000)
	page := seen{
		url: "https://example.com/orders?page=2", texts: map[string][]string{"body": {"Example\n  Domain"}, "li": {"one", "two", "three"}},
		requests: []Request{
			{URL: "https://example.com/api/orders", Status: 500, At: time.UnixMilli(1000)}, {URL: "https://example.com/api/orders", Status: 201, At: now},
			{URL: "https://example.com/api/slow", At: now}, {URL: "https://example.com/api/down", Failed: "net::ERR_FAILED", At: now},
		},
		lines: map[string]int{"error": 2}, metrics: map[string]float64{"lcp": 1200},
	}
	busy, more := page, page
	busy.err, busy.dialog = errors.New("the page does not respond"), "Really?"
	more.more = true
	for _, c := range []struct {
		contract string
		page     seen
		want     Verdict
	}{
		{`{"url":{"equals":"https://example.com/orders?page=2"}}`, page, Pass},
		{`{"url":{"equals":"https://example.com/orders"}}`, page, Fail},
		{`{"url":{"matches":"/orders\\?page=\\d$"}}`, page, Pass},
		{`{"dom_text":{"contains":"Example Domain"}}`, page, Pass},
		{`{"dom_text":{"contains":"NotPresent"}}`, page, Fail},
		{`{"dom_text":{"selector":"li","equals":"two"}}`, page, Pass},
		{`{"dom_text":{"selector":"li","matches":"^t.+e$"}}`, page, Pass},
		{`{"dom_text":{"selector":"h9","contains":""}}`, page, Fail},
		{`{"dom_text":{"contains":"x"}}`, busy, Inconclusive},
		{`{"dom_count":{"selector":"li","eq":3}}`, page, Pass},
		{`{"dom_count":{"selector":"li","gte":4}}`, page, Fail},
		{`{"dom_count":{"selector":"li","lte":3}}`, page, Pass},
		{`{"dom_count":{"selector":"li","lte":3}}`, busy, Inconclusive},
		{`{"network":{"url":"**/api/orders","status_in":[200,201]}}`, page, Pass},
		{`{"network":{"url":"**/api/orders","status_in":[500],"since":2000}}`, page, Fail},
		{`{"network":{"url":"**/api/slow","status_in":[200]}}`, page, Inconclusive},
		{`{"network":{"url":"**/api/down","status_in":[200]}}`, page, Fail},
		{`{"network":{"url":"**/api/none","status_in":[200]}}`, page, Fail},
		{`{"network":{"url":"**/api/none","status_in":[200]}}`, more, Inconclusive},
		{`{"console":{"level":"error","max":2}}`, page, Pass},
		{`{"console":{"level":"error","max":1}}`, page, Fail},
		{`{"console":{"level":"error","max":2}}`, more, Inconclusive},
		{`{"no_dialog":{}}`, page, Pass},
		{`{"no_dialog":{}}`, busy, Fail},
		{`{"performance":{"metric":"lcp","lte":2500}}`, page, Pass},
		{`{"performance":{"metric":"lcp","lte":1000}}`, page, Fail},
		{`{"performance":{"metric":"cls","lte":0.1}}`, page, Inconclusive},
		{`{"and":[{"no_dialog":{}},{"dom_count":{"selector":"li","eq":3}}]}`, page, Pass},
		{`{"and":[{"no_dialog":{}},{"dom_count":{"selector":"li","eq":3}}]}`, busy, Fail},
		{`{"and":[{"url":{"matches":"orders"}},{"dom_count":{"selector":"li","eq":3}}]}`, busy, Inconclusive},
		{`{"or":[{"no_dialog":{}},{"dom_count":{"selector":"li","eq":3}}]}`, busy, Inconclusive},
		{`{"or":[{"dom_count":{"selector":"li","eq":3}},{"url":{"matches":"orders"}}]}`, busy, Pass},
		{`{"or":[{"dom_count":{"selector":"li","eq":2}},{"url":{"matches":"none"}}]}`, page, Fail},
		{`{"not":{"no_dialog":{}}}`, page, Fail},
		{`{"not":{"dom_text":{"contains":"NotPresent"}}}`, page, Pass},
		{`{"not":{"dom_text":{"contains":"NotPresent"}}}`, busy, Inconclusive},
		{`{"not":{"and":[{"no_dialog":{}},{"not":{"url":{"equals":"x"}}}]}}`, page, Fail},
	} {
		parsed, err := Parse(json.RawMessage(c.contract))
		if err != nil {
			t.Errorf("%s: %v", c.contract, err)
			continue
		}
		got := parsed.Judge(t.Context(), c.page)
		raw, err := json.Marshal(got)
		if err != nil {
			t.Error(err)
		}
		if got.Verdict != c.want || (got.Verdict == Pass) != (got.Reason == "") {
			t.Errorf("%s: %s, want %s", c.contract, raw, c.want)
		}
	}
}

// TestParseRefuses checks that each error names the path of the wrong field.
func TestParseRefuses(t *testing.T) {
	for raw, field := range map[string]string{
		`[]`: "contract", `{}`: "contract", `{"url":{},"no_dialog":{}}`: "contract", `null`: "contract",
		`{"color":{}}`:                                    "contract.color",
		`{"url":{}}`:                                      "contract.url",
		`{"url":{"equals":"a","matches":"b"}}`:            "contract.url",
		`{"url":{"matches":"("}}`:                         "contract.url.matches",
		`{"url":{"equals":1}}`:                            "contract.url",
		`{"url":{"is":"x"}}`:                              "contract.url",
		`{"dom_text":{"selector":"h1"}}`:                  "contract.dom_text",
		`{"dom_count":{"eq":1}}`:                          "contract.dom_count.selector",
		`{"dom_count":{"selector":"a"}}`:                  "contract.dom_count",
		`{"dom_count":{"selector":"a","eq":-1}}`:          "contract.dom_count.eq",
		`{"network":{"url":"**","status_in":[]}}`:         "contract.network.status_in",
		`{"network":{"url":"","status_in":[200]}}`:        "contract.network.url",
		`{"console":{"level":"loud","max":0}}`:            "contract.console.level",
		`{"console":{"level":"error"}}`:                   "contract.console.max",
		`{"performance":{"metric":"lcp"}}`:                "contract.performance.lte",
		`{"performance":{"metric":"speed","lte":1}}`:      "contract.performance.metric",
		`{"and":[]}`:                                      "contract.and",
		`{"and":[{"no_dialog":{}},{"not":{"or":[{}]}}]}`:  "contract.and[1].not.or[0]",
		`{"and":[{"no_dialog":{}},{"url":{"equals":2}}]}`: "contract.and[1].url",
		`{"not":` + strings.Repeat(`{"not":`, 20) + `{"no_dialog":{}}` + strings.Repeat(`}`, 21): "contract.not.not.not.not.not.not.not.not.not",
		`{"and":[` + strings.Repeat(`{"no_dialog":{}},`, 200) + `{"no_dialog":{}}]}`:             "contract.and[99]",
		`{"url":{"matches":"` + strings.Repeat("a", maxPattern+1) + `"}}`:                        "contract.url.matches",
		`{"dom_text":{"contains":"` + strings.Repeat("a", maxExpected+1) + `"}}`:                 "contract.dom_text.contains",
		`{"dom_text":{"contains":"a","selector":"` + strings.Repeat("a", maxSelector+1) + `"}}`:  "contract.dom_text.selector",
		`{"network":{"url":"` + strings.Repeat("a", maxExpected+1) + `","status_in":[200]}}`:     "contract.network.url",
	} {
		_, err := Parse(json.RawMessage(raw))
		wrong, ok := errors.AsType[*invalid.Error](err)
		if !ok || len(wrong.Fields) != 1 || wrong.Fields[0].Field != field || wrong.Fields[0].Error == "" {
			t.Errorf("%.80s: %v, want an error of %s", raw, err, field)
		}
	}
}
