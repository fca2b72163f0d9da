package mcp

import (
	"cmp"
	"context"
	"io"
	"sync/atomic"
	"time"

	"takeover/door/mcp/insight"
)

const (
	// traceRest is how long a trace that stops by itself goes on after the page has
	// loaded, so that late work and shifts are in it.
	traceRest = 3 * time.Second

	// traceTime is how long a trace may take to become a file, and heapTime a page's
	// memory.
	traceTime = time.Minute
	heapTime  = 2 * time.Minute
)

type traceStartArgs struct {
	where
	Reload   *bool  `json:"reload,omitempty" jsonschema:"load the page again while it is traced; default true"`
	AutoStop *bool  `json:"autoStop,omitempty" jsonschema:"stop when the page has loaded; default true. With false, act, and then call performance_stop_trace"`
	Filename string `json:"filename,omitempty" jsonschema:"default: trace.json"`
}

type traceStopArgs struct {
	where
	Filename string `json:"filename,omitempty" jsonschema:"default: trace.json"`
}

type heapArgs struct {
	where
	Filename string `json:"filename,omitempty" jsonschema:"default: page.heapsnapshot"`
}

// performanceTools measure pages. Their names are those of Chrome's own server.
var performanceTools = []tool{
	row("performance_start_trace", setPerformance, "Record performance", acts,
		"Record what the browser does for the page, and say what is slow: loading, layout shifts, long tasks, requests.",
		`{} or {"reload": false, "autoStop": false}`, (*call).startTrace),
	row("performance_stop_trace", setPerformance, "End the recording of performance", reads,
		"End a recording that performance_start_trace began with autoStop false, and say what was slow.", `{}`, (*call).stopTrace),
	row("take_heapsnapshot", setPerformance, "Record memory", acts,
		"Write the page's memory to a file for DevTools, and say which objects need most. The page stands still meanwhile.",
		`{"filename": "before.heapsnapshot"}`, (*call).heap),
}

func (c *call) startTrace(in traceStartArgs) (*answer, error) {
	reload, stops := in.Reload == nil || *in.Reload, in.AutoStop == nil || *in.AutoStop
	var began atomic.Bool // a dialog may interrupt the action, which then goes on
	a, err := c.act(in.where, view{}, func(ctx context.Context, t tab) error {
		if err := t.run(ctx, "performance.start", params{"page": t.names.Page}, nil); err != nil {
			return err
		}
		began.Store(true)
		if !reload {
			return nil
		}
		return t.Reload(ctx)
	})
	switch {
	case err != nil && began.Load():
		c.dropTrace()
		return nil, err
	case err != nil || !stops || !began.Load():
		return a, err
	}
	select {
	case <-time.After(traceRest):
	case <-c.ctx.Done():
		c.dropTrace()
		return nil, context.Cause(c.ctx)
	}
	trace, err := c.endTrace(cmp.Or(in.Filename, "trace.json"))
	if err != nil {
		c.dropTrace()
		return nil, err
	}
	trace.lines = append(trace.lines, a.lines...) // such as a dialog that opened
	return trace, nil
}

// dropTrace ends a recording whose call failed, if there is one.
func (c *call) dropTrace() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), settleTime)
	defer cancel()
	_ = c.conversation.perform(ctx, "performance.drop", params{}, nil) // its browser may be gone
}

// perform carries out an operation that concerns no shown tab.
func (s *conversation) perform(ctx context.Context, operation string, in params, into any) error {
	client, err := s.program.Client(ctx)
	if err != nil {
		return err
	}
	return tab{client: client}.run(ctx, operation, in, into)
}

func (c *call) stopTrace(in traceStopArgs) (*answer, error) {
	if _, err := c.at(in.where); err != nil {
		return nil, err
	}
	return c.endTrace(cmp.Or(in.Filename, "trace.json"))
}

// endTrace ends the recording, and says what is in it.
func (c *call) endTrace(name string) (*answer, error) {
	ctx, cancel := context.WithTimeout(c.ctx, traceTime)
	defer cancel()
	var file performanceFile
	if err := c.conversation.perform(ctx, "performance.stop", params{"name": name}, &file); err != nil {
		return nil, err
	}
	a := say("The session's file %s has the trace, %d bytes; the performance panel of Chrome's DevTools opens it.", file.Name, file.Size)
	if file.Lost {
		a.add("It lacks events, because Chromium's buffer was full: record a shorter time.")
	}
	return a, c.insights(a, file, func(r io.Reader) ([]string, error) { return insight.Trace(r, file.Target, c.hide) })
}

func (c *call) heap(in heapArgs) (*answer, error) {
	written := make(chan performanceFile, 1) // a dialog may interrupt the action, which then goes on
	a, err := c.act(in.where, view{}, func(ctx context.Context, t tab) error {
		ctx, cancel := context.WithTimeout(ctx, heapTime)
		defer cancel()
		var file performanceFile
		if err := t.run(ctx, "performance.heap", params{"page": t.names.Page, "name": cmp.Or(in.Filename, "page.heapsnapshot")}, &file); err != nil {
			return err
		}
		written <- file
		return nil
	})
	if err != nil {
		return nil, err
	}
	var file performanceFile
	select {
	case file = <-written:
	default:
		return a, nil
	}
	a = say("The session's file %s has the page's memory, %d bytes; the memory panel of Chrome's DevTools opens it.", file.Name, file.Size)
	if file.Size > insight.MaxHeap {
		return a.add("It is too large to be summarized here."), nil
	}
	return a, c.insights(a, file, func(r io.Reader) ([]string, error) { return insight.Heap(r, c.hide) })
}

// performanceFile is what the operations that write files return.
type performanceFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Target string `json:"target"`
	Lost   bool   `json:"lost"`
}

// insights adds to an answer what a file of the session contains.
func (c *call) insights(a *answer, file performanceFile, read func(io.Reader) ([]string, error)) error {
	folder, err := c.conversation.session.Files()
	if err != nil {
		return err
	}
	content, _, err := folder.Open(file.Name)
	if err != nil {
		return err
	}
	defer content.Close()
	select { // one at a time, because each needs memory
	case c.door.reading <- struct{}{}:
		defer func() { <-c.door.reading }()
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
	lines, err := read(content)
	if err != nil {
		return err
	}
	a.lines = append(a.lines, lines...)
	return nil
}
