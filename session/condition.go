package session

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"

	"takeover/automation"
	"takeover/browser"
)

// watchCondition completes a takeover when its condition holds on the active
// page: a URL glob (it has a slash and begins with a scheme, "/" or "*") or a
// selector that becomes visible. pattern is the glob's, nil for a selector.
func (s *Session) watchCondition(t *Takeover, until string, pattern *regexp.Regexp) {
	ctx, cancel := context.WithCancel(s.ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		select {
		case <-t.Ended():
		case <-ctx.Done():
		}
		cancel()
	})
	for ctx.Err() == nil {
		s.mu.Lock()
		f, changed := s.focus, s.refocused
		s.mu.Unlock()
		if f == nil {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		here, leave := context.WithCancel(ctx)
		stopFocus := context.AfterFunc(f.ctx, leave)
		holds := false
		if pattern != nil {
			holds = f.waitForURL(here, pattern)
		} else {
			holds = f.waitForSelector(here, until)
		}
		stopFocus()
		leave()
		if holds {
			_ = t.Done("condition", "") // ended just before: it has its answer
			return
		}
	}
}

func isURLGlob(until string) bool {
	return strings.Contains(until, "://") || strings.HasPrefix(until, "/") && !strings.HasPrefix(until, "//") || strings.HasPrefix(until, "**")
}

// waitForURL waits until the page's URL matches; false when ctx ended first.
func (f *focus) waitForURL(ctx context.Context, pattern *regexp.Regexp) bool {
	moved := make(chan struct{}, 1)
	cancel := f.eng.model.Subscribe(func(ev browser.Event) {
		if n, ok := ev.(browser.FrameNavigated); ok && n.Frame == f.page.MainFrame() {
			select {
			case moved <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	for {
		if pattern.MatchString(f.page.URL()) {
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

// urlPattern turns a glob into a regular expression: ** is any run of
// characters, * any without a slash, {a,b} either, all else itself. A glob that
// begins with a slash is for the path.
func urlPattern(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("^")
	if strings.HasPrefix(glob, "/") {
		b.WriteString("[a-z]+://[^/]*")
	}
	depth := 0
	for rest := glob; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[1:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '{':
			b.WriteString("(?:")
			depth++
		case rest[0] == '}' && depth > 0:
			b.WriteString(")")
			depth--
		case rest[0] == ',' && depth > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[1:]
	}
	b.WriteString("$")
	return regexp.Compile(b.String())
}

// conditionPause is how long to wait before a selector is tried again on a page
// that went away under it.
const conditionPause = 250 * time.Millisecond

// waitForSelector waits until the selector is visible on the page; false when
// ctx ended first.
func (f *focus) waitForSelector(ctx context.Context, selector string) bool {
	client := f.eng.auto.NewClient(automation.ClientOptions{})
	defer client.Close()
	params, err := json.Marshal(map[string]any{"frame": client.FrameID(f.page.MainFrame()), "selector": selector, "state": "visible", "strict": false, "timeout": 0})
	if err != nil {
		return false
	}
	for {
		if _, err := client.Call(ctx, "frame.waitForSelector", params); err == nil {
			return true
		}
		select {
		case <-time.After(conditionPause):
		case <-ctx.Done():
			return false
		}
	}
}
