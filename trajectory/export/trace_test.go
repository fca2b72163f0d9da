package export_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"takeover/capture"
	"takeover/contract"
	"takeover/redact"
	"takeover/trajectory"
	"takeover/trajectory/export"
)

// sessionEvents returns events of a session as lines.
func sessionEvents(t *testing.T, list ...capture.Event) (lines []byte) {
	t.Helper()
	for i, e := range list {
		e.Seq = uint64(i + 1)
		lines = append(append(lines, e.JSON()...), '\n')
	}
	return lines
}

func newEvent(t *testing.T, kind string, data any) capture.Event {
	t.Helper()
	e, err := capture.NewEvent(kind, data)
	if err != nil {
		t.Fatal(err)
	}
	e.URL = "https://example.com/"
	return e
}

// TestWriteTrace writes a bundle as a trace: calls with their pictures, a takeover, a contract,
// the console, and a request with its body.
func TestWriteTrace(t *testing.T) {
	l := trajectory.Open(filepath.Join(t.TempDir(), "trajectories"), trajectory.KeepOptions{})
	b, err := l.Begin(trajectory.Options{Redactor: redact.New(redact.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 20, 10))); err != nil {
		t.Fatal(err)
	}
	click := b.AddCall(trajectory.Event{Actor: "script", Tool: "click", TabID: "2", Args: map[string]any{"selector": `internal:role=button[name="Buy"i]`}}, picture.Bytes())
	other := b.AddCall(trajectory.Event{Actor: "mcp", Tool: "browser_click", Args: map[string]any{"text": "<b>"}}, []byte("no PNG"))
	b.AddEnd(other, trajectory.Event{Tool: "browser_click", OK: new(true)}, nil)
	b.AddEnd(click, trajectory.Event{Tool: "click", TabID: "2", OK: new(false), Result: map[string]string{"error": "Timeout"}}, picture.Bytes())
	b.AddContract(trajectory.Event{Actor: "script", Args: map[string]any{"url": map[string]string{"equals": "x"}}}, contract.Fail, "evidence")
	b.Add(trajectory.Event{Kind: trajectory.TakeoverStart, Actor: "script", Args: map[string]any{"takeover": "to_1", "reason": "Enter the code"}})
	b.Add(trajectory.Event{Kind: trajectory.TakeoverEnd, Actor: "person", OK: new(true), Args: map[string]any{"takeover": "to_1"}})
	b.AddSessionEvents(sessionEvents(t,
		newEvent(t, capture.TypeConsoleLog, map[string]any{"level": "warning", "text": "careful"}),
		newEvent(t, capture.TypeConsoleError, map[string]any{"text": "boom", "line": 3, "column": 4}),
		newEvent(t, capture.TypeNetworkRequest, map[string]any{"request_id": "1", "method": "GET", "url": "https://example.com/a", "headers": map[string]string{}, "type": "Fetch"}),
		newEvent(t, capture.TypeNetworkResponse, map[string]any{"request_id": "1", "status": 200, "url": "https://example.com/a", "mime_type": "text/plain", "body": "hello"}),
	), false)
	if _, err := b.End(); err != nil {
		t.Fatal(err)
	}
	a, err := l.Archive(b.ID(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var out bytes.Buffer
	if err := export.WriteTrace(a, &out, "1"); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(content)
	}
	var seen []string
	for line := range strings.Lines(files["trace.trace"]) {
		var e struct {
			Type, Class, Method, Title, Text, MessageType, File, CallID string
			Width                                                       int
			Error                                                       *struct{ Message string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "before":
			seen = append(seen, fmt.Sprintf("%s %s.%s %s", e.CallID, e.Class, e.Method, e.Title))
		case "after":
			words := "ends " + e.CallID
			if e.Error != nil {
				words += ": " + e.Error.Message
			}
			seen = append(seen, words)
		case "console":
			seen = append(seen, e.MessageType+" "+e.Text)
		case "screencast-frame":
			if e.Width != 20 || files[e.File] != picture.String() {
				t.Errorf("the picture %s has %d bytes", line, len(files[e.File]))
			}
			seen = append(seen, e.File)
		default:
			seen = append(seen, e.Type)
		}
	}
	for _, want := range []string{
		"call@1 Frame.click ", "call@2 mcp.browser_click browser_click <b>", "ends call@2", "ends call@1: Timeout", `call@5 script.contract Contract {"url":{"equals":"x"}}`,
		"ends call@5: the contract is not fulfilled", "call@6 script.takeover_start Asked for a person: Enter the code", "ends call@6", "warning careful", "error boom",
		"screencast/000001-before.png", "screencast/000001-after.png",
	} {
		if n := strings.Count("\n"+strings.Join(seen, "\n")+"\n", "\n"+want+"\n"); n != 1 {
			t.Errorf("%q is there %d times", want, n)
		}
	}
	if seen[0] != "context-options" || len(seen) != 13 {
		t.Errorf("the trace is %s", strings.Join(seen, "\n"))
	}
	var entry struct {
		Type     string
		Snapshot struct {
			Request  struct{ URL string }
			Response struct {
				Content struct {
					File string `json:"_file"`
					Text *string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(files["trace.network"]), &entry); err != nil || entry.Type != "resource-snapshot" || entry.Snapshot.Request.URL != "https://example.com/a" {
		t.Errorf("the requests are %s, %v", files["trace.network"], err)
	}
	if content := entry.Snapshot.Response.Content; content.Text != nil || files[content.File] != "hello" {
		t.Errorf("the body is %q in %+v", files[content.File], content)
	}
	out.Reset()
	if err := export.WriteHAR(a, &out, "1"); err != nil || !json.Valid(out.Bytes()) || !strings.Contains(out.String(), "https://example.com/a") {
		t.Errorf("the HAR file is %s, %v", out.Bytes(), err)
	}
}
