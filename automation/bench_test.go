package automation_test

import (
	"fmt"
	"testing"
	"time"
)

const benchPage = `<!DOCTYPE html><title>Sign in</title><style>body{font:16px sans-serif}</style>
<h1>Welcome</h1><form onsubmit="return false"><label>User <input name=u></label><label>Password <input type=password></label>
<button>Sign in</button></form><ul><li>one</li><li>two</li><li>three</li></ul>`

// BenchmarkOperations times operations without a script's worker, for profiling.
// The table of make bench shows what they cost a script, next to playwright-core.
func BenchmarkOperations(b *testing.B) {
	r := newRig(b)
	s := site(b, map[string]string{"/": benchPage})
	url := s.URL + "/"
	turn := 0
	for _, o := range []struct {
		name   string
		op     string
		params func() params
	}{
		{"evaluate", "frame.evaluate", func() params { return params{"expression": "() => 1 + 1", "isFunction": true} }},
		{"title", "frame.title", func() params { return params{} }},
		{"textContent", "frame.textContent", func() params { return params{"selector": "h1", "strict": true, "timeout": 30000} }},
		{"fill", "frame.fill", func() params {
			turn++
			return params{"selector": `internal:label="User"i`, "value": fmt.Sprint("user ", turn), "strict": true, "timeout": 30000}
		}},
		{"click", "frame.click", func() params {
			return params{"selector": `internal:role=button[name="Sign in"i]`, "strict": true, "timeout": 30000}
		}},
		{"goto", "frame.goto", func() params { return params{"url": url, "timeout": 30000} }},
		{"screenshot", "page.screenshot", func() params { return params{"timeout": 30000} }},
	} {
		b.Run(o.name, func(b *testing.B) {
			r.do("frame.goto", params{"url": url, "timeout": 30000}, nil)
			r.do(o.op, o.params(), nil) // the cost of a first use is measured below
			for b.Loop() {
				r.do(o.op, o.params(), nil)
			}
		})
	}
}

// BenchmarkFirstUse measures how much longer the first operation in a new
// document takes than the second, because it installs the page side.
func BenchmarkFirstUse(b *testing.B) {
	r := newRig(b)
	s := site(b, map[string]string{"/": benchPage})
	var first, second time.Duration
	for range b.N {
		r.do("frame.goto", params{"url": s.URL + "/", "timeout": 30000}, nil)
		p := params{"selector": "h1", "timeout": 30000}
		started := time.Now()
		r.do("frame.textContent", p, nil)
		first += time.Since(started)
		started = time.Now()
		r.do("frame.textContent", p, nil)
		second += time.Since(started)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(first)/float64(b.N)/1e6, "first-ms")
	b.ReportMetric(float64(second)/float64(b.N)/1e6, "second-ms")
}
