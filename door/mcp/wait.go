package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"takeover/door/page"
	"takeover/urlglob"
)

// maxPause bounds the time that browser_wait_for lets pass.
const maxPause = 60 * time.Second

// urlEvery is how often browser_wait_for looks at the page's address.
const urlEvery = 100 * time.Millisecond

func (c *call) waitFor(in waitArgs) (*answer, error) {
	s, t, err := c.shownAt(in.where)
	if err != nil {
		return nil, err
	}
	t = t.within(in.Timeout)
	began := time.Now()
	defer c.progress(func() (done, total float64, message string) {
		return time.Since(began).Seconds(), 0, "waiting for the page"
	})()
	switch {
	case in.Text != "":
		err = t.WaitFor(c.ctx, textSelector(in.Text), "visible")
	case in.TextGone != "":
		err = t.WaitFor(c.ctx, textSelector(in.TextGone), "hidden")
	case in.Target != "":
		err = t.WaitFor(c.ctx, selectorOf(in.Target), "visible")
	case in.URL != "":
		err = c.waitForURL(s, in.URL, cmp.Or(t.Timeout, page.DefaultTimeout))
	case in.Settled:
		err = t.Settle(c.ctx)
	case in.Time > 0:
		err = c.pause(min(time.Duration(in.Time*float64(time.Second)), maxPause))
	default:
		err = errors.New("say what to wait for: text, textGone, target, url, settled or time")
	}
	if err != nil {
		return nil, err
	}
	return c.show(&answer{}, in.view), nil
}

// textSelector returns a selector for the first element that contains a text, in any
// case.
func textSelector(text string) string {
	quoted, _ := json.Marshal(text) // a string always can be
	return "internal:text=" + string(quoted) + "i >> nth=0"
}

func (c *call) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// waitForURL waits until the address of the shown page contains a text or matches a
// glob.
func (c *call) waitForURL(s *conversation, wanted string, timeout time.Duration) error {
	pattern, err := urlglob.Compile(wanted, "")
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	tick := time.NewTicker(urlEvery)
	defer tick.Stop()
	for {
		address := s.session.Info().URL
		if strings.Contains(address, wanted) || pattern.Match(address) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the address is still %s", shortURL(address))
		}
	}
}
