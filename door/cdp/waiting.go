package cdp

import (
	"fmt"
	"sync"

	"takeover/cdp/policy"
	"takeover/limits"
)

const (
	// maxCommands bounds the commands of a client that wait or that Chromium has
	// not answered.
	maxCommands = 10_000

	// maxWaitingBytes bounds the parameters of the commands that wait.
	maxWaitingBytes = 64 << 20
)

// waiting holds the commands of a client that wait until it may write, in order.
type waiting struct {
	mu       sync.Mutex // guards what follows
	list     []*call
	bytes    int           // of the parameters of all that wait
	underWay int           // commands that Chromium has not answered, or that hold counts
	running  bool          // a goroutine passes on the commands in list
	asking   int           // requests for a person that are not open yet; later commands wait for them
	asked    chan struct{} // closed when asking becomes 0; nil while it is 0
}

func tooMany() error {
	return &policy.RefusedError{Code: policy.CodeServer, Message: fmt.Sprintf("more than %d commands or %d MiB of them wait for an answer or for a person in control", maxCommands, maxWaitingBytes>>20)}
}

// admit counts a command that is sent to Chromium. It returns false if there are
// too many.
func (w *waiting) admit() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.underWay >= maxCommands {
		return false
	}
	w.underWay++
	return true
}

// answered counts down.
func (w *waiting) answered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.underWay--
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
// passes the commands on. ok is false if the queue is full.
func (w *waiting) add(cmd *call) (start, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list)+w.underWay >= maxCommands || w.bytes+len(cmd.params) > maxWaitingBytes {
		return false, false
	}
	w.list = append(w.list, cmd)
	w.bytes += len(cmd.params)
	start = !w.running
	w.running = true
	return start, true
}

// hold counts a command that waits apart from the queue, until letGo. It returns
// false if there are too many.
func (w *waiting) hold(cmd *call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list)+w.underWay >= maxCommands || w.bytes+len(cmd.params) > maxWaitingBytes {
		return false
	}
	w.underWay++
	w.bytes += len(cmd.params)
	return true
}

func (w *waiting) letGo(cmd *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.underWay--
	w.bytes -= len(cmd.params)
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
	w.bytes -= len(w.list[0].params)
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
	start, ok := c.waiting.add(cmd)
	if !ok {
		c.options.Limits.Add(limits.Waiting, 1)
		return tooMany()
	}
	if start {
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
		if c.raw.AwaitWrite(c.ctx) != nil {
			return // the connection has ended
		}
		err := c.stillMeant(cmd)
		if err == nil {
			var sent bool
			if sent, err = c.post(cmd); !sent && err == nil {
				continue // a person has taken control meanwhile
			}
		}
		switch {
		case err != nil && cmd.answered:
			c.acting.end(cmd, err)
		case err != nil:
			c.reply(cmd, nil, err)
		}
		c.waiting.drop()
	}
}
