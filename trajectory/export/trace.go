package export

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"time"

	"takeover/capture"
	"takeover/locator"
	"takeover/picture"
	"takeover/text"
	"takeover/trajectory"
)

// traceVersion is the version of the format of Playwright's traces that WriteTrace writes,
// as automation writes them for scripts.
const traceVersion = 10

// traceLine is a line of trace.trace. Its times are milliseconds since the recording
// began, plus one: 0 stands for no time.
type traceLine struct {
	Type string `json:"type"`

	// Of context-options, the first line.
	Version   int       `json:"version,omitempty"`
	Origin    string    `json:"origin,omitempty"`
	Browser   string    `json:"browserName,omitempty"`
	Options   *struct{} `json:"options,omitempty"`
	Platform  string    `json:"platform,omitempty"`
	Wall      int64     `json:"wallTime,omitempty"` // Unix ms
	Monotonic float64   `json:"monotonicTime,omitempty"`
	Language  string    `json:"sdkLanguage,omitempty"`

	// Of before and after: the start and the end of a call.
	CallID string      `json:"callId,omitempty"`
	Start  float64     `json:"startTime,omitempty"`
	End    float64     `json:"endTime,omitempty"`
	Title  string      `json:"title,omitempty"`
	Class  string      `json:"class,omitempty"`
	Method string      `json:"method,omitempty"`
	Params any         `json:"params,omitempty"`
	Result any         `json:"result,omitempty"`
	Error  *traceError `json:"error,omitempty"`
	PageID string      `json:"pageId,omitempty"`

	// Of console.
	MessageType string         `json:"messageType,omitempty"`
	Text        string         `json:"text,omitempty"`
	Location    *traceLocation `json:"location,omitempty"`
	Time        float64        `json:"time,omitempty"`

	// Of screencast-frame.
	File      string  `json:"file,omitempty"`
	Width     int     `json:"width,omitempty"`
	Height    int     `json:"height,omitempty"`
	Timestamp float64 `json:"timestamp,omitempty"`
	FrameWall int64   `json:"frameSwapWallTime,omitempty"` // Unix ms
}

type traceError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

type traceLocation struct {
	URL    string `json:"url"`
	Line   int64  `json:"lineNumber"`
	Column int64  `json:"columnNumber"`
}

// WriteTrace writes the bundle as a trace that Playwright's trace viewer opens: calls,
// pictures, console and requests. It has no DOM snapshots. version is the server's.
func WriteTrace(a *trajectory.Archive, to io.Writer, version string) error {
	t := &tracing{archive: a, began: a.Info().Report.StartedAt.UnixMilli(), out: zip.NewWriter(to), asked: map[any]string{}}
	t.add(traceLine{
		Type: "context-options", Version: traceVersion, Origin: "library", Browser: "chromium", Options: &struct{}{}, Platform: "linux",
		Wall: t.began, Monotonic: t.clock(t.began), Language: "javascript", Title: a.Info().ID,
	}, 0)
	err := a.EachEvent(t.event)
	if err == nil {
		err = eachSessionEvent(a, t.sessionEvent)
	}
	if err == nil {
		err = t.writeLines()
	}
	if err == nil {
		err = t.network(version)
	}
	if err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return t.out.Close()
}

// tracing is a trace that is being written.
type tracing struct {
	archive *trajectory.Archive
	began   int64 // Unix ms
	out     *zip.Writer
	lines   []timedLine
	bytes   int            // of lines
	asked   map[any]string // the calls of takeovers, by their ids
}

// timedLine is a line with its time, by which the lines are sorted.
type timedLine struct {
	at   float64
	line []byte
}

// maxTrace bounds the lines of a trace in bytes. Later ones are left out.
const maxTrace = 128 << 20

// clock converts a time (Unix ms) to the trace's.
func (t *tracing) clock(ms int64) float64 { return float64(1 + ms - t.began) }

func (t *tracing) add(line traceLine, at float64) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(line) // what came from JSON can be written as JSON
	if t.bytes += out.Len(); t.bytes <= maxTrace {
		t.lines = append(t.lines, timedLine{at, bytes.Clone(out.Bytes())})
	}
}

// writeLines writes the lines in order of time.
func (t *tracing) writeLines() error {
	slices.SortStableFunc(t.lines, func(a, b timedLine) int { return cmp.Compare(a.at, b.at) })
	w, err := t.out.Create("trace.trace")
	for i := 0; err == nil && i < len(t.lines); i++ {
		_, err = w.Write(t.lines[i].line)
	}
	return err
}

func (t *tracing) write(name string, content []byte) error {
	method := zip.Deflate
	if path.Ext(name) == ".png" {
		method = zip.Store
	}
	w, err := t.out.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

// event adds an event of the bundle.
func (t *tracing) event(e *trajectory.Event) error {
	at := t.clock(e.TS)
	page := ""
	if e.TabID != "" {
		page = "page@" + e.TabID
	}
	id := func(seq uint64) string { return "call@" + strconv.FormatUint(seq, 10) }
	line := traceLine{Type: "before", CallID: id(e.Seq), Start: at, Class: e.Actor, Method: cmp.Or(e.Tool, string(e.Kind)), Params: e.Args, PageID: page, Title: Title(e)}
	if args, _ := e.Args.(map[string]any); e.Actor == "script" && e.Kind == trajectory.ToolCallStart && (args["selector"] != nil || args["url"] != nil) {
		line.Class, line.Title = "Frame", "" // the viewer has better words for the calls of its own library
	}
	switch e.Kind {
	case trajectory.ToolCallStart:
		t.add(line, at)
	case trajectory.TakeoverStart: // a call that ends when the person is finished
		args, _ := e.Args.(map[string]any)
		t.asked[args["takeover"]] = line.CallID
		t.add(line, at)
	case trajectory.TakeoverEnd:
		args, _ := e.Args.(map[string]any)
		began := t.asked[args["takeover"]]
		if began == "" { // it was asked for before the recording
			began = line.CallID
			t.add(line, at)
		}
		t.add(traceLine{Type: "after", CallID: began, End: at, Result: e.Result, Error: failureOf(e)}, at)
	case trajectory.ToolCallEnd:
		t.add(traceLine{Type: "after", CallID: id(e.Call), End: at, Result: e.Result, Error: failureOf(e)}, at)
	default: // what only happens begins and ends at once
		t.add(line, at)
		t.add(traceLine{Type: "after", CallID: id(e.Seq), End: at, Result: e.Result, Error: failureOf(e)}, at)
	}
	return t.picture(e, cmp.Or(page, "page@0"))
}

// Title describes an event in one line.
func Title(e *trajectory.Event) string {
	words := cmp.Or(e.Tool, string(e.Kind))
	switch e.Kind {
	case trajectory.ContractOf, trajectory.CheckpointOf, trajectory.Hint, trajectory.Recovery, trajectory.Failure, trajectory.TakeoverEnd:
		words = e.Kind.Words()
	case trajectory.TakeoverStart: // its reason follows
		words = e.Kind.Words() + ":"
	case trajectory.ToolCallStart, trajectory.ToolCallEnd:
	}
	args, _ := e.Args.(map[string]any)
	if selector, ok := args["selector"].(string); ok && selector != "" {
		return words + " " + text.Clip(locator.Of(selector), maxTitle)
	}
	for _, name := range []string{"reason", "url", "text", "key", "title", "expression", "taskDescription"} {
		if value, ok := args[name].(string); ok && value != "" {
			return words + " " + text.Clip(value, maxTitle)
		}
	}
	if e.Kind == trajectory.ContractOf {
		contract, _ := json.Marshal(args) // it came from JSON
		return words + " " + text.Clip(string(contract), maxTitle)
	}
	return words
}

// maxTitle bounds what a title says of the arguments, in bytes.
const maxTitle = 200

// failureOf returns why an event is a failure, or nil.
func failureOf(e *trajectory.Event) *traceError {
	result, _ := e.Result.(map[string]any)
	said := func(name string) string { words, _ := result[name].(string); return words }
	switch {
	case !e.Failed():
		return nil
	case e.Kind == trajectory.Failure:
		return &traceError{"Error", cmp.Or(said("message"), "the browser failed")}
	case e.Kind == trajectory.ContractOf:
		return &traceError{"Contract", "the contract is not fulfilled"}
	}
	return &traceError{"Error", cmp.Or(said("error"), said("note"), "it failed")}
}

// picture adds the picture of an event, if it has one.
func (t *tracing) picture(e *trajectory.Event, page string) error {
	from, content, err := t.archive.Picture(e)
	if err != nil || from == "" {
		return err
	}
	size, err := picture.Size(content)
	if err != nil {
		return nil //nolint:nilerr // it was cut off
	}
	at, name := t.clock(e.TS), path.Join("screencast", path.Base(from))
	t.add(traceLine{Type: "screencast-frame", PageID: page, File: name, Width: size.X, Height: size.Y, Timestamp: at, FrameWall: e.TS}, at)
	return t.write(name, content)
}

// sessionEvent adds an event of the session: of its consoles.
func (t *tracing) sessionEvent(e *capture.Event) error {
	if e.Type != capture.TypeConsoleLog && e.Type != capture.TypeConsoleError {
		return nil
	}
	var said struct {
		Level, Text, URL string
		Line, Column     int64
	}
	_ = json.Unmarshal(e.Data, &said) // what was captured is right
	if e.Type == capture.TypeConsoleError {
		said.Level = "error"
	}
	at := t.clock(e.TS)
	t.add(traceLine{
		Type: "console", MessageType: cmp.Or(said.Level, "log"), Text: said.Text, Time: at,
		Location: &traceLocation{cmp.Or(said.URL, e.URL), max(0, said.Line-1), max(0, said.Column-1)},
	}, at)
	return nil
}

// network writes the requests, and the bodies that are known as files beside them.
func (t *tracing) network(version string) error {
	var har bytes.Buffer
	if err := WriteHAR(t.archive, &har, version); err != nil {
		return err
	}
	var file struct {
		Log struct{ Entries []map[string]any }
	}
	if err := json.Unmarshal(har.Bytes(), &file); err != nil {
		return err
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for i, entry := range file.Log.Entries {
		began, _ := entry["startedDateTime"].(string)
		if at, err := time.Parse(time.RFC3339, began); err == nil {
			entry["_monotonicTime"] = t.clock(at.UnixMilli())
		}
		response, _ := entry["response"].(map[string]any)
		content, _ := response["content"].(map[string]any)
		if body, ok := content["text"].(string); ok {
			raw := []byte(body)
			if content["encoding"] == "base64" {
				raw, _ = base64.StdEncoding.DecodeString(body)
			}
			name := fmt.Sprintf("resources/%06d", i+1)
			if err := t.write(name, raw); err != nil {
				return err
			}
			content["_file"] = name
			delete(content, "text")
			delete(content, "encoding")
		}
		_ = encoder.Encode(map[string]any{"type": "resource-snapshot", "snapshot": entry}) // it came from JSON
	}
	return t.write("trace.network", lines.Bytes())
}
