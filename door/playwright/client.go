package playwright

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/coder/websocket"

	"takeover/door/inbox"
	"takeover/limits"
	"takeover/session"
	"takeover/text"
)

const (
	// CloseStalled is the close code for a client that does not read.
	CloseStalled websocket.StatusCode = 4008

	// CloseFull is the close code for a client whose process has too many files.
	CloseFull websocket.StatusCode = 4013

	pingEvery      = 20 * time.Second
	maxCloseReason = 120 // bytes; the protocol permits 123
)

// closed is the end of a connection with a close code.
type closed struct {
	code   websocket.StatusCode
	reason string
}

func (c *closed) Error() string { return fmt.Sprintf("closed with %d: %s", c.code, c.reason) }

// Causes of a connection's end.
var (
	errLeft      = &closed{code: websocket.StatusNormalClosure}
	errStalled   = &closed{code: CloseStalled, reason: "stalled: the client does not read"}
	errSilent    = &closed{code: CloseStalled, reason: "stalled: the client does not answer pings"}
	errTooLarge  = &closed{code: websocket.StatusMessageTooBig, reason: fmt.Sprintf("a message is larger than %d MiB", maxMessage>>20)}
	errMalformed = &closed{code: websocket.StatusInvalidFramePayloadData, reason: "a message is not JSON"}
	errFiles     = &closed{code: CloseFull, reason: "recordings, traces and downloads are larger or more than this server allows"}
	errProcess   = &closed{code: websocket.StatusInternalError, reason: "Playwright's process ended"}
)

// Client is one client of Playwright's protocol and its process.
type Client struct {
	door    *Door
	session *session.Session
	log     *slog.Logger

	folder  *folder
	proxy   wayOut
	process *process
	inner   *stream // of Playwright's protocol, to the process
	browser *stream // of the DevTools protocol, to the process

	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
}

// Close ends a client that is not served, and its process.
func (c *Client) Close() {
	c.cancel(errLeft)
	if c.process != nil {
		c.process.kill()
	}
	for _, s := range []*stream{c.inner, c.browser} {
		if s != nil {
			_ = s.Close(websocket.StatusNormalClosure, "")
		}
	}
	c.work.Wait()
	if c.process != nil {
		<-c.process.done
	}
	c.door.leave() // another client need not wait for the clean-up
	var errs []error
	if c.proxy != nil {
		errs = append(errs, c.proxy.Close())
	}
	if c.folder != nil {
		errs = append(errs, c.folder.remove())
	}
	if err := errors.Join(errs...); err != nil {
		c.door.options.Logger.Warn("clean up after Playwright's process", "error", err)
	}
}

// Serve connects the process to the client until one of them ends, or the session or
// ctx does, and ends both.
func (c *Client) Serve(ctx context.Context, conn *websocket.Conn) {
	stop := context.AfterFunc(ctx, func() {
		c.cancel(&closed{code: websocket.StatusGoingAway, reason: context.Cause(ctx).Error()})
	})
	defer stop()
	conn.SetReadLimit(maxMessage)
	c.log.Debug("Playwright client connected")
	var loops sync.WaitGroup
	loops.Go(func() { c.fromClient(conn) })
	loops.Go(func() { c.toClient(conn) })
	loops.Go(func() { c.keepAlive(conn) })
	loops.Go(c.watchFolder)
	<-c.ctx.Done()
	code, reason := closing(context.Cause(c.ctx))
	_ = conn.Close(code, text.Clip(reason, maxCloseReason)) // the peer may be gone
	_ = c.inner.Close(code, reason)
	loops.Wait()
	c.Close()
	c.log.Debug("Playwright client left", "code", code, "reason", reason)
}

// closing returns the close code and reason for the cause of a connection's end.
func closing(err error) (websocket.StatusCode, string) {
	if end, ok := errors.AsType[*closed](err); ok {
		return end.code, end.reason
	}
	return websocket.StatusGoingAway, err.Error()
}

// fromClient passes on the client's messages. A process that is busy makes the client
// wait.
func (c *Client) fromClient(conn *websocket.Conn) {
	messages := inbox.New(conn, nil, c.door.options.Limits, func(err error) {
		c.cancel(&closed{code: websocket.StatusMessageTooBig, reason: err.Error()})
	})
	for {
		typ, message, done, err := messages.Read()
		if err != nil {
			done()
		}
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig):
			c.cancel(errTooLarge)
			return
		case err != nil:
			c.cancel(errLeft)
			return
		case bytes.IndexByte(message, 0) >= 0:
			done()
			c.cancel(errMalformed) // it would be two messages for the process
			return
		}
		err = c.inner.Write(c.ctx, typ, withoutHARPath(message))
		done()
		if err != nil {
			c.endedByProcess()
			return
		}
	}
}

// toClient passes on the messages of the process.
func (c *Client) toClient(conn *websocket.Conn) {
	for {
		typ, message, err := c.inner.Read(c.ctx)
		if err != nil {
			c.endedByProcess()
			return
		}
		ctx, cancel := context.WithTimeout(c.ctx, c.door.options.StallLimit)
		err = conn.Write(ctx, typ, message)
		late := errors.Is(ctx.Err(), context.DeadlineExceeded)
		cancel()
		switch {
		case late:
			c.door.options.Limits.Add(limits.Stalls, 1)
			c.cancel(errStalled)
			return
		case err != nil:
			c.cancel(errLeft)
			return
		}
	}
}

// endedByProcess ends the connection because the process has closed its stream. If the
// process lost the browser, browserEnded has ended the connection already.
func (c *Client) endedByProcess() {
	if c.ctx.Err() != nil {
		return
	}
	c.process.kill()
	<-c.process.done
	c.log.Debug("Playwright's process ended", "error", c.process.cause())
	c.cancel(errProcess)
}

// keepAlive detects clients that are gone.
func (c *Client) keepAlive(conn *websocket.Conn) {
	tick := time.NewTicker(min(pingEvery, c.door.options.StallLimit/2))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(c.ctx, c.door.options.StallLimit)
		err := conn.Ping(ctx)
		cancel()
		if err != nil {
			if c.ctx.Err() == nil {
				c.door.options.Limits.Add(limits.Stalls, 1)
			}
			c.cancel(errSilent) // has no effect if the connection ended for another reason
			return
		}
	}
}

// watchFolder ends the connection when the process has too many files.
func (c *Client) watchFolder() {
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
		if err := c.folder.check(c.ctx, c.door.options.Files); err != nil {
			if c.ctx.Err() != nil {
				return
			}
			c.log.Debug("too many files", "error", err)
			c.door.options.Limits.Add(limits.PlaywrightFiles, 1)
			c.cancel(errFiles)
			return
		}
	}
}
