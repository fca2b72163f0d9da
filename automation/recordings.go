package automation

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"takeover/automation/recording"
	"takeover/browser"
	"takeover/files"
	"takeover/har"
)

// recordingOperations record events into files of the session.
var recordingOperations = table{
	// {context|page,content: embed|attach|omit,minimal,urls: regular expression|absent} → {har}
	"har.start": op(false, opStartHAR),
	// {har,path}: writes the file. Bodies in separate files go beside it or, for
	// a .zip, into it.
	"har.stop": op(false, opStopHAR),

	// {context,screenshots,network} → {trace}: records calls that have a name in
	// the parameter tracedAs.
	"trace.start": op(false, opStartTrace),
	// {trace,path,events,stacks}: writes what was recorded since the last write,
	// all requests since the start, and the events from the script. Without a
	// path, what was recorded since the last write is dropped.
	"trace.write": op(false, opWriteTrace),
	"trace.stop":  op(false, opStopTrace), // {trace}
}

type harStartParams struct {
	Context string            `json:"context"`
	Page    string            `json:"page"`
	Content recording.Content `json:"content"`
	Minimal bool              `json:"minimal"`
	URLs    string            `json:"urls"`
}

func opStartHAR(_ context.Context, c *Client, p *harStartParams) (any, error) {
	switch p.Content {
	case recording.ContentEmbed, recording.ContentAttach, recording.ContentOmit:
	default:
		return nil, errorf("content: expected one of (omit|embed|attach)")
	}
	var page *browser.Page
	bc, err := c.contextOf(p.Context)
	if p.Page != "" {
		if page, err = c.page(p.Page); err == nil {
			bc = page.Context()
		}
	}
	if err != nil {
		return nil, err
	}
	o := recording.HAROptions{Context: bc, Page: page, Content: p.Content, Minimal: p.Minimal}
	if p.URLs != "" {
		pattern, err := regexp.Compile(p.URLs)
		if err != nil {
			return nil, errorf("urlFilter: this regular expression cannot be used here: %v", err)
		}
		o.Wanted = pattern.MatchString
	}
	r, err := c.recordings.StartHAR(o, c.automation.browser.Pages())
	if err != nil {
		return nil, errorf("%v", err)
	}
	return map[string]string{"har": c.idOf("har", r)}, nil
}

type harStopParams struct {
	HAR  string `json:"har"`
	Path string `json:"path"`
}

func opStopHAR(ctx context.Context, c *Client, p *harStopParams) (any, error) {
	r, err := lookup[*recording.HAR](c, "recording", p.HAR)
	if err != nil {
		return nil, err
	}
	folder, name, err := c.newFile(p.Path)
	if err != nil {
		return nil, err
	}
	c.forget(r)
	defer r.Release()
	text, beside, err := r.Finish(ctx, har.Program(c.describeBrowser()))
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".zip") {
		archive, err := recording.Archive(append([]recording.File{{Name: "har.har", Data: text}}, beside...))
		if err != nil {
			return nil, err
		}
		return emptyJSON, write(folder, name, archive)
	}
	for _, f := range beside {
		if err := write(folder, f.Name, f.Data); err != nil {
			return nil, err
		}
	}
	return emptyJSON, write(folder, name, text)
}

func write(folder *files.Folder, name string, data []byte) error {
	_, err := folder.Write(name, bytes.NewReader(data))
	return err
}

type traceStartParams struct {
	Context     string `json:"context"`
	Screenshots bool   `json:"screenshots"`
	Network     bool   `json:"network"`
}

func opStartTrace(_ context.Context, c *Client, p *traceStartParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	t, err := c.recordings.StartTrace(recording.TraceOptions{Context: bc, Pictures: p.Screenshots, Network: p.Network})
	if err != nil {
		return nil, errorf("%v", err)
	}
	return map[string]string{"trace": c.idOf("trace", t)}, nil
}

type traceWriteParams struct {
	Trace  string            `json:"trace"`
	Path   string            `json:"path"`
	Events []json.RawMessage `json:"events"`
	Stacks json.RawMessage   `json:"stacks"`
}

func opWriteTrace(ctx context.Context, c *Client, p *traceWriteParams) (any, error) {
	t, err := lookup[*recording.Trace](c, "recording", p.Trace)
	if err != nil {
		return nil, err
	}
	t.Wait(ctx)
	taken := t.Take()
	if p.Path == "" {
		return emptyJSON, nil
	}
	folder, name, err := c.newFile(p.Path)
	if err != nil {
		return nil, err
	}
	archive, err := recording.Archive(t.Files(taken, p.Events, p.Stacks))
	if err != nil {
		return nil, err
	}
	return emptyJSON, write(folder, name, archive)
}

type traceParams struct {
	Trace string `json:"trace"`
}

func opStopTrace(_ context.Context, c *Client, p *traceParams) (any, error) {
	t, err := lookup[*recording.Trace](c, "recording", p.Trace)
	if err != nil {
		return nil, err
	}
	c.forget(t)
	t.Stop()
	return emptyJSON, nil
}

// recordingHost is a client as its recordings see it.
type recordingHost struct{ client *Client }

func (h recordingHost) ID(kind string, object any) string       { return h.client.idOf(kind, object) }
func (h recordingHost) Hide(data []byte) []byte                 { return h.client.options.Hide(data) }
func (h recordingHost) Veiled(p *browser.Page) bool             { return h.client.options.Veil(ended, p) != nil }
func (h recordingHost) Spawn(do func(ctx context.Context)) bool { return h.client.spawn(do) }

// traced holds the parameters of a call that a trace needs.
type traced struct {
	Call   string `json:"tracedAs"`
	Frame  string `json:"frame"`
	Page   string `json:"page"`
	Handle string `json:"handle"`
}

// traceCall removes a call's trace name from its parameters, and returns the
// function to run after the call, with its progress or nil. That function is nil if the
// call is not traced.
func (c *Client) traceCall(params json.RawMessage) (json.RawMessage, func(*progress)) {
	traces, named := c.recordings.Traces()
	if !named {
		return params, nil
	}
	var fields map[string]json.RawMessage
	var call traced
	if json.Unmarshal(params, &fields) != nil || fields["tracedAs"] == nil || json.Unmarshal(params, &call) != nil {
		return params, nil
	}
	delete(fields, "tracedAs")
	plain, err := json.Marshal(fields)
	if err != nil {
		return params, nil
	}
	pg := c.pageOf(call)
	return plain, func(done *progress) {
		for _, t := range traces {
			if done != nil {
				t.Log(call.Call, done.log)
			}
			if pg != nil {
				t.Picture(pg)
			}
		}
	}
}

// pageOf returns the page that a call acts on, or nil.
func (c *Client) pageOf(call traced) *browser.Page {
	if p, err := c.page(call.Page); err == nil {
		return p
	}
	if f, err := c.frame(call.Frame); err == nil {
		return f.Page()
	}
	if h, err := c.handle(call.Handle); err == nil {
		return h.world.Page()
	}
	return nil
}
