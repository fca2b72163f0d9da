package session

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"takeover/automation"
	"takeover/browser"
	"takeover/invalid"
	"takeover/text"
	"takeover/urlglob"
)

// watchCondition completes a takeover when its condition is met on the active
// page. The condition is a URL glob (a text that contains "://", or begins with
// "**" or with one slash), or a selector of an element that becomes visible.
func (s *Session) watchCondition(t *Takeover, c condition) {
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
	if awaitCondition(ctx, s, c) {
		_ = t.Done("condition", "") // if it has just ended, it already has its outcome
	}
}

// awaitCondition waits until a condition is met on the active page. It returns false if ctx
// ends first.
func awaitCondition(ctx context.Context, s *Session, c condition) bool {
	for ctx.Err() == nil {
		f, changed := s.tabs.shown()
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
		if c.pattern != nil {
			holds = f.waitForURL(here, c.pattern)
		} else {
			holds = s.waitForSelector(here, f, c.until)
		}
		stopFocus()
		leave()
		if holds {
			return true
		}
	}
	return false
}

// condition is the until condition of a takeover, checked in advance as far as
// possible.
type condition struct {
	until   string
	pattern *urlglob.Pattern // nil for a selector
}

// selectorPatience bounds how long a page may take to check a selector. Only a
// page can check a selector, and the request must not wait for a busy page.
const selectorPatience = 2 * time.Second

// readCondition parses an until condition. The error is an *invalid.Error.
func (s *Session) readCondition(until string) (condition, error) {
	c := condition{until: until}
	if until == "" {
		return c, nil
	}
	if isURLGlob(until) {
		var err error
		if c.pattern, err = urlPattern(until); err != nil {
			return c, invalid.Field("until", "is not a URL glob: %s", text.Clip(err.Error(), MaxReason))
		}
		return c, nil
	}
	f := s.shown()
	if f == nil {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(f.ctx, selectorPatience)
	defer cancel()
	wrong, err := s.selectorError(ctx, f, until)
	switch {
	case err != nil:
		s.log.Debug("check selector", "error", err)
	case wrong != "":
		return c, invalid.Field("until", "is not a selector: %s", text.Clip(wrong, MaxReason))
	}
	return c, nil
}

// selectorError returns the page's error for a selector, or an empty text for a
// valid one.
func (s *Session) selectorError(ctx context.Context, f *focus, selector string) (string, error) {
	client := f.eng.auto.NewClient(automation.ClientOptions{})
	defer client.Close()
	params, err := json.Marshal(map[string]any{"frame": client.FrameID(f.page.MainFrame()), "selector": selector})
	if err != nil {
		return "", err
	}
	raw, err := s.do(ctx, actor{client: client}, Operation{Name: "selectors.check", Params: params})
	if err != nil {
		return "", err
	}
	var answer struct{ Wrong string }
	err = json.Unmarshal(raw, &answer)
	return answer.Wrong, err
}

func isURLGlob(until string) bool {
	return strings.Contains(until, "://") || strings.HasPrefix(until, "/") && !strings.HasPrefix(until, "//") || strings.HasPrefix(until, "**")
}

// urlPattern parses a glob with Playwright's syntax. A glob that begins with a
// slash applies to the path of a URL on any host.
func urlPattern(glob string) (*urlglob.Pattern, error) {
	if strings.HasPrefix(glob, "/") {
		glob = "*://*" + glob
	}
	return urlglob.Compile(glob, "")
}

// waitForURL waits until the page's URL matches. It returns false if ctx ends
// first.
func (f *focus) waitForURL(ctx context.Context, pattern *urlglob.Pattern) bool {
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
		if pattern.Match(f.page.URL()) {
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

// conditionPause is the pause before a selector is tried again after an error,
// for example because its page has closed.
const conditionPause = 250 * time.Millisecond

// waitForSelector waits until an element that matches the selector is visible on
// the page. It returns false if ctx ends first.
func (s *Session) waitForSelector(ctx context.Context, f *focus, selector string) bool {
	client := f.eng.auto.NewClient(automation.ClientOptions{})
	defer client.Close()
	params, err := json.Marshal(map[string]any{"frame": client.FrameID(f.page.MainFrame()), "selector": selector, "state": "visible", "strict": false, "timeout": 0})
	if err != nil {
		return false
	}
	for {
		if _, err := s.do(ctx, actor{client: client}, Operation{Name: "frame.waitForSelector", Params: params, Raw: true}); err == nil {
			return true
		}
		select {
		case <-time.After(conditionPause):
		case <-ctx.Done():
			return false
		}
	}
}
