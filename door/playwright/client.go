package playwright

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/coder/websocket"

	"takeover/door/socket"
	"takeover/limits"
	"takeover/session"
)

const (
	// CloseFull is the close code for a client whose process has too many files.
	CloseFull websocket.StatusCode = 4013
)

// Causes of a connection's end.
var (
	errMalformed = &socket.EndError{Code: websocket.StatusInvalidFramePayloadData, Reason: "a message is not JSON"}
	errFiles     = &socket.EndError{Code: CloseFull, Reason: "recordings, traces and downloads are larger or more than this server allows"}
	errProcess   = &socket.EndError{Code: websocket.StatusInternalError, Reason: "Playwright's process ended"}
)

// Client is one client of Playwright's protocol and its process.
type Client struct {
	door    *Door
	session *session.Session
	log     *slog.Logger

	folder  *folder
	proxy   forwardProxy
	process *process
	inner   *stream // of Playwright's protocol, to the process
	browser *stream // of the DevTools protocol, to the process

	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
	socket *socket.Socket // set by Serve
}

// Close ends a client that is not served, and its process.
func (c *Client) Close() {
	c.cancel(socket.ErrLeft)
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
func (c *Client) Serve(ctx context.Context, conn socket.Conn) {
	stop := context.AfterFunc(ctx, func() {
		c.cancel(&socket.EndError{Code: websocket.StatusGoingAway, Reason: context.Cause(ctx).Error()})
	})
	defer stop()
	c.socket = socket.New(c.ctx, c.cancel, conn, socket.Options{
		MaxMessage: maxMessage, StallLimit: c.door.options.StallLimit, Limits: c.door.options.Limits,
	})
	c.log.Debug("Playwright client connected")
	var loops sync.WaitGroup
	loops.Go(c.fromClient)
	loops.Go(c.toClient)
	loops.Go(c.socket.KeepAlive)
	loops.Go(c.watchFolder)
	<-c.ctx.Done()
	code, reason := c.socket.Close() // ends fromClient
	_ = c.inner.Close(code, reason)
	loops.Wait()
	c.Close()
	c.log.Debug("Playwright client left", "code", code, "reason", reason)
}

// fromClient passes on the client's messages. A process that is busy makes the client
// wait.
func (c *Client) fromClient() {
	for {
		typ, message, done, err := c.socket.Read()
		if err != nil {
			done()
			return
		}
		if bytes.IndexByte(message, 0) >= 0 {
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
func (c *Client) toClient() {
	for {
		typ, message, err := c.inner.Read(c.ctx)
		if err != nil {
			c.endedByProcess()
			return
		}
		if c.socket.Write(typ, message) != nil {
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
