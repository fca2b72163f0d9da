package automation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	cdpio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/tracing"

	"takeover/browser"
	"takeover/cdp"
	"takeover/cdp/policy"
	"takeover/files"
)

// performanceOperations are the operations of this file. Their files have the formats
// that Chrome's DevTools open.
var performanceOperations = table{
	"performance.start": op(false, opStartPerformance), // {page}: begins to trace what the browser does for a page
	"performance.stop":  op(false, opStopPerformance),  // {name} → {name,size,target}: ends that, and writes it to a new file
	"performance.drop":  op(false, opDropPerformance),  // {}: ends the trace without a file, if one is being recorded
	"performance.heap":  op(true, opHeapSnapshot),      // {page,name} → {name,size}: writes the page's memory to a new file
}

const (
	// maxPerformanceTrace bounds the file of a trace, in bytes. A page that loads has
	// about 10 MB.
	maxPerformanceTrace = 256 << 20

	// maxHeapSnapshot bounds the file of a page's memory, in bytes. A large page has
	// about 100 MB.
	maxHeapSnapshot = 512 << 20

	// maxTraceTime bounds the time that a trace records. What nobody has ended by then is
	// dropped.
	maxTraceTime = 10 * time.Minute

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

// performanceTrace is a trace that a client records.
type performanceTrace struct {
	page    *browser.Page
	client  *cdp.Client // of its own, so that the trace ends with it
	session *cdp.Session
	ended   chan tracing.EventTracingComplete // gets one event when the trace is complete
	timer   *time.Timer                       // drops the trace when nobody ends it
	ready   bool                              // it has begun; guarded by the client's mu
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
	t := &performanceTrace{page: pg, ended: make(chan tracing.EventTracingComplete, 1)}
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
	err = t.start(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.tracing = nil // nobody else changes it before it is ready
		return nil, err
	}
	t.ready = true
	t.timer = time.AfterFunc(maxTraceTime, func() { // takes c.mu, and so waits for ready
		c.dropTrace(context.Background(), t)
	})
	return emptyJSON, nil
}

// dropTrace ends the trace that takeTrace returns, if there is one, without a file.
func (c *Client) dropTrace(ctx context.Context, only *performanceTrace) {
	if t := c.takeTrace(only); t != nil {
		_ = t.close(ctx) // its page or browser may be gone
	}
}

func (t *performanceTrace) start(ctx context.Context) (err error) {
	if t.client, t.session, err = profileClient(ctx, t.page, cdp.SinkFunc(t.put)); err != nil {
		return err
	}
	_, err = cdp.Call(ctx, t.session, tracing.Start, tracing.StartParams{
		TransferMode: tracing.StartTransferModeReturnAsStream,
		TraceConfig:  &tracing.TraceConfig{IncludedCategories: traceCategories, ExcludedCategories: append([]string{"*"}, policy.KeyCategories...)},
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
		return // without the event, the stop runs into its time limit
	}
	select {
	case t.ended <- complete:
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
	Lost   bool   `json:"lost"`   // the trace lacks events, because Chromium's buffer was full
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
	t := c.takeTrace(nil)
	if t == nil {
		return nil, errorf("no performance trace is being recorded")
	}
	file, lost, err := t.stop(ctx, folder, p.Name)
	if closed := t.close(ctx); err == nil && closed != nil {
		c.automation.log.Debug("end a performance trace", "error", closed) // its page or browser may be gone
	}
	if err != nil {
		return nil, err
	}
	return performanceFile{file, string(t.page.ID()), lost}, nil
}

// takeTrace returns the trace that is being recorded, or nil. The caller ends it. only
// restricts it to one trace; nil does not.
func (c *Client) takeTrace(only *performanceTrace) *performanceTrace {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tracing
	if t == nil || !t.ready || only != nil && t != only {
		return nil
	}
	c.tracing = nil
	t.timer.Stop()
	return t
}

func opDropPerformance(ctx context.Context, c *Client, _ *struct{}) (any, error) {
	c.dropTrace(ctx, nil)
	return emptyJSON, nil
}

// stop ends the trace and writes it to a file. lost says that the trace lacks events.
func (t *performanceTrace) stop(ctx context.Context, folder *files.Folder, name string) (file files.File, lost bool, err error) {
	if _, err := cdp.Call(ctx, t.session, tracing.End, proto.Empty{}); err != nil {
		return files.File{}, false, err
	}
	select {
	case complete := <-t.ended:
		file, err = folder.Add(name, &streamReader{ctx: ctx, session: t.session, handle: complete.Stream})
		_ = cdp.Send(t.session, cdpio.Close, cdpio.CloseParams{Handle: complete.Stream}) // it also ends with the page
		return file, complete.DataLossOccurred, err
	case <-ctx.Done():
		return files.File{}, false, context.Cause(ctx)
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
	chunks := &chunkReader{Queue: cdp.NewQueue(0, nil), ctx: ctx}
	client, session, err := profileClient(ctx, pg, chunks)
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
	return performanceFile{file, string(pg.ID()), false}, nil
}

// chunkReader takes the chunks of a heap snapshot as events, and reads them.
type chunkReader struct {
	*cdp.Queue
	ctx   context.Context
	part  []byte
	bytes atomic.Int64 // of all chunks
}

// Put implements cdp.Sink.
func (r *chunkReader) Put(ev cdp.Event) {
	if r.bytes.Add(int64(len(ev.Params))) > maxHeapSnapshot && ev.Token == nil {
		ev.Release()
		return
	}
	r.Queue.Put(ev)
}

// Read implements io.Reader.
func (r *chunkReader) Read(b []byte) (int, error) {
	for len(r.part) == 0 {
		ev, err := r.Next(r.ctx)
		switch {
		case r.bytes.Load() > maxHeapSnapshot:
			return 0, fmt.Errorf("the snapshot has more than %d bytes", maxHeapSnapshot)
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
	}
	n := copy(b, r.part)
	r.part = r.part[n:]
	return n, nil
}
