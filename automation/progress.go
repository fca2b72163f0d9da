package automation

import (
	"context"
	"errors"
	"strconv"
	"time"
)

const (
	// replyGrace is how much longer than an operation's own time the page may
	// take to say that it is over, and with it what was tried.
	replyGrace = 300 * time.Millisecond

	// closeTimeout bounds giving back what a client had opened.
	closeTimeout = 10 * time.Second
)

// findPauses are the pauses between attempts to find an element; Playwright's.
var findPauses = []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond}

// leastPause keeps a loop from spinning.
const leastPause = 10 * time.Millisecond

// progress is one operation under way: its time and its log.
type progress struct {
	context.Context //nolint:containedctx // an operation is a context with a log

	client   *Client
	parent   context.Context //nolint:containedctx // the same without the operation's own time
	page     bool            // the page keeps the time
	guarded  bool            // a gesture is under way: it must not wait for the gate
	looks    bool            // the page is asked once in any case, however late it is
	absent   bool            // a target whose frame is not there ends the operation, without a place
	grace    time.Duration   // how much later than the page's time is over it may tell so
	cancel   context.CancelFunc
	timeout  float64 // milliseconds, 0 for none
	deadline time.Time
	log      []string
}

// begin starts an operation's time. page says that the page keeps the time, and
// may report its end a little late.
func (c *Client) begin(ctx context.Context, timeout float64, page bool) (*progress, context.CancelFunc) {
	p := &progress{Context: ctx, client: c, parent: ctx, page: page, grace: replyGrace, timeout: timeout, cancel: func() {}}
	if note, ok := ctx.Value(traceKey{}).(*traceNote); ok {
		note.progress = p
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

// errYield says that a gesture was given up before it was done, because the
// client may not change the page any more.
var errYield = errors.New("the client may not change the page now")

// gate waits until the client may change the page. That time is not the
// operation's. waited says that things may not be as they were.
func (p *progress) gate() (waited bool, err error) {
	if p.client.mayWrite() {
		return false, nil
	}
	if p.guarded {
		return true, errYield
	}
	began := time.Now()
	if err := p.client.options.Gate(p.parent); err != nil {
		return true, err
	}
	if p.timeout > 0 {
		p.until(p.deadline.Add(time.Since(began)))
	}
	return true, nil
}

// left is how many milliseconds the operation has, 0 when it has no end; ok is
// false when its time is over.
func (p *progress) left() (ms float64, ok bool) {
	if p.timeout <= 0 {
		return 0, true
	}
	ms = float64(time.Until(p.deadline)) / float64(time.Millisecond)
	return max(ms, 0), ms > 0
}

// attemptTime is what the n-th attempt has of the time that is left.
func (p *progress) attemptTime(n int) (ms float64, ok bool) {
	ms, ok = p.left()
	if p.looks && n == 0 && !ok {
		return leastExpect, true
	}
	return ms, ok
}

// expired is the error of an operation whose time is over.
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

// fail puts an error into Playwright's words, with what was logged.
func (p *progress) fail(err error) error { return explain(err, p.log) }

func milliseconds(ms float64) string { return strconv.FormatFloat(ms, 'f', -1, 64) }
