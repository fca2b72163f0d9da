package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// unprivileged is the uid of the reference Chromium when the bench runs as root,
// because Chromium's sandbox does not work as root.
const unprivileged = 61999

// rawChromium is the reference: a Chromium on a pipe, driven by a minimum of
// code. One goroutine reads; everything else is inline.
type rawChromium struct {
	cmd  *exec.Cmd
	dir  string
	in   *os.File
	out  *bufio.Reader
	end  *os.File
	done chan struct{}

	session string

	mu      sync.Mutex // guards what follows, and writes to the pipe
	id      int
	waiting map[int]chan json.RawMessage
	picture func(arrived time.Time, jpeg []byte)
}

// startRaw starts Chromium with switches, and returns at once.
func startRaw(ctx context.Context, executable string, switches []string) (*rawChromium, error) {
	dir, err := os.MkdirTemp("", "takeover-bench-")
	if err != nil {
		return nil, err
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &rawChromium{dir: dir, in: in, out: bufio.NewReaderSize(out, 1<<20), end: out, done: make(chan struct{}), waiting: map[int]chan json.RawMessage{}}
	args := append([]string{"--remote-debugging-pipe", "--user-data-dir=" + filepath.Join(dir, "profile")}, switches...)
	c.cmd = exec.CommandContext(ctx, executable, append(args, "about:blank")...)
	c.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	c.cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		c.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
		if err := os.Chown(dir, unprivileged, unprivileged); err != nil {
			return nil, err
		}
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start chromium: %w", err)
	}
	_ = theirIn.Close()
	_ = theirOut.Close()
	go c.read()
	return c, nil
}

func (c *rawChromium) close() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	_ = c.cmd.Wait()
	_ = c.in.Close()
	_ = c.end.Close()
	<-c.done
	_ = os.RemoveAll(c.dir)
}

// read runs the loop of a screencast client: acknowledge, decode, pass on.
func (c *rawChromium) read() {
	defer close(c.done)
	for {
		line, err := c.out.ReadBytes(0)
		if err != nil {
			return
		}
		arrived := time.Now()
		var msg struct {
			ID     int
			Method string
			Params struct {
				Data      string
				SessionID int
			}
			Result json.RawMessage
			Error  json.RawMessage
		}
		if json.Unmarshal(line[:len(line)-1], &msg) != nil {
			continue
		}
		if msg.Method == "Page.screencastFrame" {
			_ = c.send("Page.screencastFrameAck", map[string]any{"sessionId": msg.Params.SessionID})
			data, err := base64.StdEncoding.DecodeString(msg.Params.Data)
			c.mu.Lock()
			show := c.picture
			c.mu.Unlock()
			if err == nil && show != nil {
				show(arrived, data)
			}
			continue
		}
		c.mu.Lock()
		reply := c.waiting[msg.ID]
		delete(c.waiting, msg.ID)
		c.mu.Unlock()
		if reply != nil {
			if msg.Error != nil {
				msg.Result = nil
			}
			reply <- msg.Result
		}
	}
}

func (c *rawChromium) send(method string, params any) error {
	return c.write(method, params, nil)
}

func (c *rawChromium) write(method string, params any, reply chan json.RawMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	if reply != nil {
		c.waiting[c.id] = reply
	}
	msg := map[string]any{"id": c.id, "method": method, "params": params}
	if c.session != "" {
		msg["sessionId"] = c.session
	}
	b, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(b, 0))
	return err
}

func (c *rawChromium) call(ctx context.Context, method string, params any, result any) error {
	reply := make(chan json.RawMessage, 1)
	if err := c.write(method, params, reply); err != nil {
		return err
	}
	select {
	case raw := <-reply:
		if raw == nil {
			return fmt.Errorf("%s was refused", method)
		}
		if result != nil {
			return json.Unmarshal(raw, result)
		}
		return nil
	case <-c.done:
		return errors.New("chromium ended")
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// attach finds the first page and sets its viewport.
func (c *rawChromium) attach(ctx context.Context) error {
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	for id := ""; id == ""; {
		if err := c.call(ctx, "Target.getTargets", map[string]any{}, &targets); err != nil {
			return err
		}
		for _, t := range targets.TargetInfos {
			if t.Type == "page" {
				id = t.TargetID
			}
		}
		if id == "" {
			continue
		}
		var attached struct{ SessionID string }
		if err := c.call(ctx, "Target.attachToTarget", map[string]any{"targetId": id, "flatten": true}, &attached); err != nil {
			return err
		}
		c.mu.Lock()
		c.session = attached.SessionID
		c.mu.Unlock()
	}
	return c.call(ctx, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// open shows a page and waits until it has loaded.
func (c *rawChromium) open(ctx context.Context, url string) error {
	if err := c.call(ctx, "Page.navigate", map[string]any{"url": url}, nil); err != nil {
		return err
	}
	return c.call(ctx, "Runtime.evaluate", map[string]any{"awaitPromise": true, "expression": `new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', done))`}, nil)
}

// cast starts the screencast. show gets every picture, on the read loop.
func (c *rawChromium) cast(ctx context.Context, show func(time.Time, []byte)) error {
	c.mu.Lock()
	c.picture = show
	c.mu.Unlock()
	return c.call(ctx, "Page.startScreencast", map[string]any{"format": "jpeg", "quality": 60, "everyNthFrame": 1}, nil)
}

func (c *rawChromium) stopCast(ctx context.Context) error {
	return c.call(ctx, "Page.stopScreencast", map[string]any{}, nil)
}

func (c *rawChromium) mouse(kind string, buttons int) error {
	params := map[string]any{"type": kind, "x": markX, "y": markY, "buttons": buttons}
	if kind != "mouseMoved" {
		params["button"], params["clickCount"] = "left", 1
	}
	return c.send("Input.dispatchMouseEvent", params)
}

func (c *rawChromium) press() error {
	return errors.Join(c.mouse("mousePressed", 1), c.mouse("mouseReleased", 0))
}
