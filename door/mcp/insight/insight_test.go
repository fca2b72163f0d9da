package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func hide(text string) string { return strings.ReplaceAll(text, "s3cret", "[hidden]") }

// trace returns a trace of a page whose main frame is F: a navigation, and then events.
func trace(events ...string) string {
	first := `{"name":"thread_name","ph":"M","pid":7,"tid":1,"args":{"name":"CrRendererMain"}},
		{"name":"navigationStart","ph":"R","ts":1000000,"pid":7,"tid":1,"args":{"frame":"F","data":{"documentLoaderURL":"https://shop.example/?q=1","navigationId":"N","isOutermostMainFrame":true}}}`
	return `{"metadata":{"x":[1]},"traceEvents":[` + strings.Join(append([]string{first}, events...), ",") + `]}`
}

// TestTrace reads events whose figures can be counted by hand.
func TestTrace(t *testing.T) {
	shift := func(at int, score float64) string {
		return fmt.Sprintf(`{"name":"LayoutShift","ph":"I","ts":%d,"pid":7,"tid":1,"args":{"frame":"F","data":{"weighted_score_delta":%g}}}`, 1000000+at*1000, score)
	}
	span := func(name string, at, long int, data string) string {
		return fmt.Sprintf(`{"name":%q,"ph":"X","ts":%d,"dur":%d,"pid":7,"tid":1,"args":{"data":{%s}}}`, name, 1000000+at*1000, long*1000, data)
	}
	for name, tt := range map[string]struct {
		events []string
		want   []string
	}{
		"shifts a second apart are of two windows": {[]string{shift(0, 0.1), shift(900, 0.1), shift(2000, 0.15)}, []string{"Layout shifts: 3, cumulative score 0.200 (good: at most 0.1), the last at 2000 ms."}},
		"time inside belongs to what is inside": {
			[]string{span("RunTask", 0, 100, ""), span("FunctionCall", 0, 100, `"url":"https://shop.example/a.js?key=1","lineNumber":3,"functionName":"draw\nIgnore s3cret"`), span("Layout", 10, 40, "")},
			[]string{
				"Main thread: 100 ms of work (scripts 60 ms, styles and layout 40 ms).", "1 long tasks, which blocked the page for 50 ms:",
				"- 100 ms at 0 ms (draw Ignore [hidden], https://shop.example/a.js:3)",
			},
		},
		"another process, and what came before, do not count": {
			[]string{`{"name":"RunTask","ph":"X","ts":1000000,"dur":90000,"pid":8,"tid":1}`, span("RunTask", -500, 90, "")}, nil,
		},
		"requests": {
			[]string{
				`{"name":"ResourceSendRequest","ph":"I","ts":1001000,"pid":7,"args":{"data":{"requestId":"N","url":"https://shop.example/?q=1"}}}`,
				`{"name":"ResourceReceiveResponse","ph":"I","ts":1011000,"pid":7,"args":{"data":{"requestId":"N","statusCode":200}}}`,
				`{"name":"ResourceFinish","ph":"I","ts":1021000,"pid":7,"args":{"data":{"requestId":"N","encodedDataLength":1500}}}`,
				`{"name":"ResourceSendRequest","ph":"I","ts":1031000,"pid":7,"args":{"data":{"requestId":"2","url":"https://shop.example/b.css","renderBlocking":"blocking"}}}`,
			},
			[]string{
				"Requests: 2, 1.5 kB.", "Delay the first picture (render-blocking):", "- https://shop.example/b.css not finished, 0 bytes, from 31 ms",
				"Slowest:", "- https://shop.example/b.css not finished, 0 bytes, from 31 ms", "- https://shop.example/ 20 ms, 1.5 kB, from 1 ms",
			},
		},
	} {
		got, err := Trace(strings.NewReader(trace(tt.events...)), "F", hide)
		if err != nil || len(got) == 0 || !strings.HasPrefix(got[0], "Loaded https://shop.example/") || !slices.Equal(got[1:], tt.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	const late = `{"traceEvents":[{"name":"thread_name","ph":"M","pid":7,"tid":1,"args":{"name":"CrRendererMain"}},
		{"name":"RunTask","ph":"X","ts":9000000,"dur":1000,"pid":7,"tid":1,"args":{"frame":"F"}},
		{"name":"RunTask","ph":"X","ts":9200000,"dur":60000,"pid":7,"tid":1,"args":{"frame":"F"}}]}`
	if got, err := Trace(strings.NewReader(late), "F", hide); err != nil || got[len(got)-1] != "- 60 ms at 200 ms " {
		t.Errorf("without a navigation: %q, %v", got, err)
	}
	if got, err := Trace(strings.NewReader(trace()), "another", hide); err != nil || got[0] != "No page was loaded in this time." {
		t.Errorf("of another page: %q, %v", got, err)
	}
}

// TestGarbage refuses files that are neither.
func TestGarbage(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"traceEvents":{}}`, `{"traceEvents":[1,`, `{"a":`, "\x00"} {
		if got, err := Trace(strings.NewReader(text), "F", hide); err == nil {
			t.Errorf("%q is a trace: %q", text, got)
		}
	}
	heap := func(fields, types, nodes string) string {
		return `{"snapshot":{"meta":{"node_fields":` + fields + `,"node_types":` + types + `}},"nodes":` + nodes + `,"strings":["","Leaked"]}`
	}
	const fields, types = `["type","name","self_size"]`, `[["hidden","object"],"string","number"]`
	for _, text := range []string{"", "[]", "{}", heap(`[]`, types, `[]`), heap(fields, `[]`, `[]`), heap(fields, `[1]`, `[]`), heap(fields, types, `[1,1]`), heap(fields, types, `["a"]`)} {
		if got, err := Heap(strings.NewReader(text), hide); err == nil {
			t.Errorf("%q is a snapshot: %q", text, got)
		}
	}
	got, err := Heap(strings.NewReader(heap(fields, types, `[1,1,8, 1,1,16, 0,0,4, 9,-5,2, 1,99,1]`)), hide)
	want := []string{"5 objects, 31 bytes. The most memory (of the objects themselves):", "- Leaked: 2, 24 bytes", "- (hidden): 1, 4 bytes", "- (unknown): 1, 2 bytes", "- (object): 1, 1 bytes"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the snapshot has %q, %v", got, err)
	}
}
