package automation

import (
	"context"
	"errors"
	"strconv"
	"time"
)

const (
	// replyGrace is how long the page may take, after an operation's own timeout,
	// to report the timeout with its log.
	replyGrace = 300 * time.Millisecond

	// closeTimeout bounds the release of everything that a client opened.
	closeTimeout = 10 * time.Second
)

// findPauses are the pauses between attempts to find an element, as in
// Playwright.
var findPauses = []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond}

// leastPause keeps a loop from spinning.
const leastPause = 10 * time.Millisecond

// progress is a running operation: its time and its log.
type progress struct {
	context.Context //nolint:containedctx // an operation is a context with a log

	client   *Client
	parent   context.Context //nolint:containedctx // the same without the operation's own timeout
	page     bool            // the page measures the time
	guarded  bool            // a gesture is being performed and must not wait for control
	looks    bool            // check the page at least once, even after the timeout
	acted    bool            // a press or a key was sent
	absent   bool            // if a frame that leads to the target is missing, the operation ends without an error and without a place
	grace    time.Duration   // how late the page may report the timeout
	cancel   context.CancelFunc
	timeout  float64 // milliseconds, 0 for none
	deadline time.Time
	log      []string
}

// begin starts an operation's time. page means that the page measures the time,
// and may report a timeout slightly late.
func (c *Client) begin(ctx context.Context, timeout float64, page bool) (*progress, context.CancelFunc) {
	p := &progress{Context: ctx, client: c, parent: ctx, page: page, grace: replyGrace, timeout: timeout, cancel: func() {}}
	if now := runningIn(ctx); now != nil {
		now.progress = p
	}
	if timeout > 0 {
		p.until(time.Now().Add(time.Duration(timeout * float64(time.Millisecond))))
	}
	return p, func() { p.cancel() }
}

// until sets the end of the operation's time.
func (p *progress) until(deadline time.Time) {
	p.cancel()
	p.deadline = deadline
	if p.page {
		deadline = deadline.Add(p.grace)
	}
	p.Context, p.cancel = context.WithDeadlineCause(p.parent, deadline, timeoutError{p.timeout})
}

// errYield says that a gesture was abandoned because the client may no longer
// change the page.
var errYield = errors.New("the client may not change the page now")

// awaitControl waits until the client may change the page. The wait does not count
// towards the operation's timeout. waited means that the page may have changed.
func (p *progress) awaitControl() (waited bool, err error) {
	if p.client.mayWrite(p.parent) {
		return false, nil
	}
	if p.guarded {
		return true, errYield
	}
	began := time.Now()
	if err := p.client.awaitControl(p.parent); err != nil {
		return true, err
	}
	if p.timeout > 0 {
		p.until(p.deadline.Add(time.Since(began)))
	}
	return true, nil
}

// left returns the operation's remaining time in milliseconds, or 0 without a
// timeout. ok is false when the time is up.
func (p *progress) left() (ms float64, ok bool) {
	if p.timeout <= 0 {
		return 0, true
	}
	ms = float64(time.Until(p.deadline)) / float64(time.Millisecond)
	return max(ms, 0), ms > 0
}

// attemptTime returns the remaining time for the n-th attempt.
func (p *progress) attemptTime(n int) (ms float64, ok bool) {
	ms, ok = p.left()
	if p.looks && n == 0 && !ok {
		return leastExpect, true
	}
	return ms, ok
}

// expired returns the error for a timeout.
func (p *progress) expired() error { return timeoutError{p.timeout} }

// sleep waits for the n-th pause between attempts.
func (p *progress) sleep(n int) error {
	pause := max(findPauses[min(n, len(findPauses)-1)], leastPause)
	if p.timeout > 0 {
		pause = min(pause, max(time.Duration(p.timeout/5*float64(time.Millisecond)), leastPause))
	}
	return p.wait(pause)
}

func (p *progress) wait(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-p.Done():
		return context.Cause(p)
	}
}

// fail converts an error to Playwright's words, with the log.
func (p *progress) fail(err error) error {
	err = explain(err, p.log)
	if e, ok := errors.AsType[*Error](err); ok && p.acted {
		e.Acted = true
	}
	return err
}

// acts records that the operation whose context is given sends a press, a key or a
// navigation.
func acts(ctx context.Context) {
	if p, ok := ctx.(*progress); ok {
		p.acted = true
	}
}

func milliseconds(ms float64) string { return strconv.FormatFloat(ms, 'f', -1, 64) }
