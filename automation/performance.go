package automation

import (
	"context"
	"errors"
	"fmt"
	"io"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	cdpio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/tracing"

	"takeover/browser"
	"takeover/cdp"
	"takeover/files"
)

// performanceOperations are the operations of this file. Their files have the formats
// that Chrome's DevTools open.
var performanceOperations = table{
	"performance.start": op(false, opStartPerformance), // {page}: begins to trace what the browser does for a page
	"performance.stop":  op(false, opStopPerformance),  // {name} → {name,size,target}: ends that, and writes it to a new file
	"performance.drop":  op(false, opDropPerformance),  // {}: ends it without a file; does nothing if there is none
	"performance.heap":  op(true, opHeapSnapshot),      // {page,name} → {name,size}: writes the page's memory to a new file
}

const (
	// maxPerformanceTrace bounds the file of a trace, in bytes. A page that loads has
	// about 10 MB.
	maxPerformanceTrace = 256 << 20

	// maxHeapSnapshot bounds the file of a page's memory, in bytes. A large page has
	// about 100 MB.
	maxHeapSnapshot = 512 << 20

	// tracePart is how much of a trace is read at a time, in bytes.
	tracePart = 1 << 20
)

// traceCategories are what DevTools' performance panel asks for, without pictures and
// without the keys that somebody presses.
var traceCategories = []string{
	"blink.console", "blink.user_timing", "devtools.timeline", "loading", "v8.execute",
	"disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame", "disabled-by-default-devtools.timeline.stack",
	"disabled-by-default-v8.cpu_profiler",
}

// keyCategories are those whose events have keys; see door/cdp/tracing.go.
var keyCategories = []string{"latency", "disabled-by-default-devtools.timeline.inputs"}

// performanceTrace is a trace that a client records.
type performanceTrace struct {
	page    *browser.Page
	client  *cdp.Client // of its own, so that the trace ends with it
	session *cdp.Session
	stream  chan cdpio.StreamHandle // gets one handle when the trace is complete
}

// profileClient returns a connection of its own to a page, and the page's session.
func profileClient(ctx context.Context, p *browser.Page, sink cdp.Sink) (*cdp.Client, *cdp.Session, error) {
	client, err := p.Session().Client().Conn().NewClient(ctx, sink)
	if err != nil {
		return nil, nil, err
	}
	session, err := client.Attach(ctx, p.ID())
	if err != nil {
		return nil, nil, errors.Join(err, client.Close(context.WithoutCancel(ctx)))
	}
	return client, session, nil
}

func opStartPerformance(ctx context.Context, c *Client, p *pageParams) (any, error) {
	pg, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	t := &performanceTrace{page: pg, stream: make(chan cdpio.StreamHandle, 1)}
	c.mu.Lock()
	busy, closed := c.tracing != nil, c.closed
	if !busy && !closed {
		c.tracing = t
	}
	c.mu.Unlock()
	switch {
	case closed:
		return nil, errClientClosed
	case busy:
		return nil, errorf("a performance trace is being recorded: stop it first")
	}
	if err := t.start(ctx); err != nil {
		c.mu.Lock()
		c.tracing = nil
		c.mu.Unlock()
		return nil, err
	}
	return emptyJSON, nil
}

func (t *performanceTrace) start(ctx context.Context) (err error) {
	if t.client, t.session, err = profileClient(ctx, t.page, cdp.SinkFunc(t.put)); err != nil {
		return err
	}
	_, err = cdp.Call(ctx, t.session, tracing.Start, tracing.StartParams{
		TransferMode: tracing.StartTransferModeReturnAsStream,
		TraceConfig:  &tracing.TraceConfig{IncludedCategories: traceCategories, ExcludedCategories: append([]string{"*"}, keyCategories...)},
	})
	if err != nil {
		return errors.Join(err, t.close(ctx))
	}
	return nil
}

// put takes the event that the trace is complete.
func (t *performanceTrace) put(ev cdp.Event) {
	defer ev.Release()
	if ev.Method != tracing.TracingComplete.Method {
		return
	}
	complete, err := cdp.Decode(ev, tracing.TracingComplete)
	if err != nil {
		return // without a handle, the stop runs into its time limit
	}
	select {
	case t.stream <- complete.Stream:
	default:
	}
}

// close ends the trace's connection, and with it what it still records.
func (t *performanceTrace) close(ctx context.Context) error {
	if t.client == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return t.client.Close(ctx)
}

// performanceFile is a file that was written.
type performanceFile struct {
	files.File
	Target string `json:"target"` // of the page
}

type performanceParams struct {
	Page string `json:"page"`
	Name string `json:"name"` // wished for; a file of this name is not replaced
}

func opStopPerformance(ctx context.Context, c *Client, p *performanceParams) (any, error) {
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	t := c.takeTrace()
	if t == nil {
		return nil, errorf("no performance trace is being recorded")
	}
	file, err := t.stop(ctx, folder, p.Name)
	if closed := t.close(ctx); err == nil && closed != nil {
		c.automation.log.Debug("end a performance trace", "error", closed) // its page or browser may be gone
	}
	if err != nil {
		return nil, err
	}
	return performanceFile{file, string(t.page.ID())}, nil
}

// takeTrace returns the trace that is being recorded, or nil. The caller ends it.
func (c *Client) takeTrace() *performanceTrace {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tracing
	c.tracing = nil
	return t
}

func opDropPerformance(ctx context.Context, c *Client, _ *struct{}) (any, error) {
	if t := c.takeTrace(); t != nil {
		_ = t.close(ctx) // its page or browser may be gone
	}
	return emptyJSON, nil
}

// stop ends the trace and writes it to a file.
func (t *performanceTrace) stop(ctx context.Context, folder *files.Folder, name string) (files.File, error) {
	if _, err := cdp.Call(ctx, t.session, tracing.End, proto.Empty{}); err != nil {
		return files.File{}, err
	}
	select {
	case handle := <-t.stream:
		return folder.Add(name, &streamReader{ctx: ctx, session: t.session, handle: handle})
	case <-ctx.Done():
		return files.File{}, context.Cause(ctx)
	}
}

// streamReader reads a stream of Chromium's.
type streamReader struct {
	ctx     context.Context
	session *cdp.Session
	handle  cdpio.StreamHandle
	part    []byte
	read    int64
	end     bool
}

// Read implements io.Reader.
func (r *streamReader) Read(b []byte) (int, error) {
	for len(r.part) == 0 {
		if r.end {
			return 0, io.EOF
		}
		got, err := cdp.Call(r.ctx, r.session, cdpio.Read, cdpio.ReadParams{Handle: r.handle, Size: tracePart})
		if err != nil {
			return 0, err
		}
		r.part, r.end = got.Data, got.EOF
		if r.read += int64(len(r.part)); r.read > maxPerformanceTrace {
			return 0, fmt.Errorf("the trace has more than %d bytes: record a shorter time", maxPerformanceTrace)
		}
	}
	n := copy(b, r.part)
	r.part = r.part[n:]
	return n, nil
}

func opHeapSnapshot(ctx context.Context, c *Client, p *performanceParams) (any, error) {
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	pg, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	chunks := &chunkReader{queue: cdp.NewQueue(0, nil), ctx: ctx}
	client, session, err := profileClient(ctx, pg, chunks.queue)
	if err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = client.Close(ctx) // the page or the browser may be gone
	}()
	// The answer comes after the last chunk, in the same queue.
	if err := session.Post(heapprofiler.TakeHeapSnapshot.Method, heapprofiler.TakeHeapSnapshotParams{}, chunks); err != nil {
		return nil, err
	}
	file, err := folder.Add(p.Name, chunks)
	if err != nil {
		return nil, err
	}
	return performanceFile{file, string(pg.ID())}, nil
}

// chunkReader reads the chunks of a heap snapshot from the events in a queue.
type chunkReader struct {
	queue *cdp.Queue
	ctx   context.Context
	part  []byte
	read  int64
}

// Read implements io.Reader.
func (r *chunkReader) Read(b []byte) (int, error) {
	for len(r.part) == 0 {
		ev, err := r.queue.Next(r.ctx)
		switch {
		case errors.Is(err, io.EOF):
			return 0, browser.ErrPageClosed
		case err != nil:
			return 0, err
		case ev.Token != nil:
			if ev.Err != nil {
				return 0, ev.Err
			}
			return 0, io.EOF
		case ev.Method != heapprofiler.AddHeapSnapshotChunk.Method:
			ev.Release()
			continue
		}
		chunk, err := cdp.Decode(ev, heapprofiler.AddHeapSnapshotChunk)
		ev.Release()
		if err != nil {
			return 0, err
		}
		r.part = []byte(chunk.Chunk)
		if r.read += int64(len(r.part)); r.read > maxHeapSnapshot {
			return 0, fmt.Errorf("the snapshot has more than %d bytes", maxHeapSnapshot)
		}
	}
	n := copy(b, r.part)
	r.part = r.part[n:]
	return n, nil
}
