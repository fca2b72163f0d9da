package cdp

import (
	"errors"
	"sync"

	"takeover/cdp/policy"
	"takeover/control"
	"takeover/limits"
)

// waiting holds the commands of a client that wait until it may write, in order.
type waiting struct {
	backlog control.Backlog // commands that wait, or that Chromium has not answered

	mu      sync.Mutex // guards what follows
	list    []*call
	running bool          // a goroutine passes on the commands in list
	asking  int           // requests for a person that are not open yet; later commands wait for them
	asked   chan struct{} // closed when asking becomes 0; nil while it is 0
}

// count counts a command until uncount, with what its parameters take. The error is the
// reply.
func (c *Client) count(cmd *call, size int) error {
	if err := c.waiting.backlog.Enter(size); err != nil {
		c.options.Limits.Add(limits.Waiting, 1)
		return &policy.RefusedError{Code: policy.CodeServer, Message: err.Error()}
	}
	cmd.counted, cmd.size = true, size
	return nil
}

func (c *Client) uncount(cmd *call) {
	if cmd.counted {
		cmd.counted = false
		c.waiting.backlog.Leave(cmd.size)
	}
}

// idle reports whether no command waits, so that another one need not queue.
func (w *waiting) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.running && w.asking == 0
}

// ask makes later commands wait until done is called, after a request for a person
// has opened or failed.
func (w *waiting) ask() (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking++; w.asking == 1 {
		w.asked = make(chan struct{})
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.asking--; w.asking == 0 {
			close(w.asked)
			w.asked = nil
		}
	}
}

// opened returns a channel that is closed when no request is about to open, or nil
// if none is.
func (w *waiting) opened() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// add queues a command. start is true if the caller must start a goroutine that
// passes the commands on.
func (w *waiting) add(cmd *call) (start bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, cmd)
	start = !w.running
	w.running = true
	return start
}

// next returns the first command, which stays in the queue until drop, or nil and
// ends the running.
func (w *waiting) next() *call {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list) == 0 {
		w.running = false
		return nil
	}
	return w.list[0]
}

// drop removes the first command.
func (w *waiting) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list[0] = nil
	w.list = w.list[1:]
}

// whenAllowed sends a writing command as soon as the client may write and all
// earlier ones were sent. The error is the reply.
func (c *Client) whenAllowed(cmd *call) error {
	if c.waiting.idle() {
		if sent, err := c.post(cmd); sent || err != nil {
			return err
		}
	}
	if err := c.count(cmd, len(cmd.params)); err != nil {
		return err
	}
	if c.waiting.add(cmd) {
		c.work.Go(c.passOn)
	}
	return nil
}

// passOn sends the commands that wait, one after the other, each when the client
// may write.
func (c *Client) passOn() {
	for {
		cmd := c.waiting.next()
		if cmd == nil {
			return
		}
		if asked := c.waiting.opened(); asked != nil {
			select {
			case <-asked:
			case <-c.ctx.Done():
			}
		}
		err := c.raw.AwaitWrite(c.ctx, c.turnOf(cmd))
		switch {
		case errors.Is(err, control.ErrRefused):
			err = &policy.RefusedError{Code: policy.CodeServer, Message: err.Error()}
		case err != nil:
			return // the connection has ended
		default:
			err = c.stillMeant(cmd)
		}
		if err == nil {
			var sent bool
			if sent, err = c.post(cmd); !sent && err == nil {
				continue // a person has taken control meanwhile
			}
		}
		c.waiting.drop()
		if err == nil {
			continue
		}
		c.uncount(cmd)
		if cmd.answered {
			c.acting.end(cmd, err)
		} else {
			c.reply(cmd, nil, err)
		}
	}
}
