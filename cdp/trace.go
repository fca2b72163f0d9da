package cdp

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// maxTraced is the largest message, in bytes, that a trace contains in full.
// Pictures and response bodies are usually larger.
const maxTraced = 16 << 10

// Trace writes the messages of connections as JSON lines: {time, browser, to,
// message} for a message in full, {time, browser, to, bytes, start} for a longer
// one. It is for debugging: it contains cookies, page contents and the values
// that scripts fill in. Only the parameters of Input commands are left out,
// because they are what people type.
//
// Any number of connections may use a Trace at the same time.
type Trace struct {
	mu  sync.Mutex // guards what follows
	out io.Writer
}

// NewTrace returns a trace that writes to out, one whole line per call. It
// ignores errors of out.
func NewTrace(out io.Writer) *Trace { return &Trace{out: out} }

// Wrap returns a transport that carries the messages of t and writes them to the
// trace, under the name of a browser.
func (tr *Trace) Wrap(t Transport, browser string) Transport {
	traced := &tracedTransport{Transport: t, trace: tr, browser: browser}
	if try, ok := t.(tryWriter); ok {
		return &tracedTryWriter{tracedTransport: traced, try: try}
	}
	return traced
}

// tracedMessage is a line of a trace.
type tracedMessage struct {
	Time    time.Time       `json:"time"`
	Browser string          `json:"browser"`
	To      string          `json:"to"` // "chromium" or "server"
	Message json.RawMessage `json:"message,omitempty"`
	Bytes   int             `json:"bytes,omitempty"`
	Start   string          `json:"start,omitempty"`
}

func (tr *Trace) write(browser, to string, msg []byte) {
	line := tracedMessage{Time: time.Now().UTC(), Browser: browser, To: to, Message: withoutInput(msg)}
	if len(line.Message) > maxTraced || !json.Valid(line.Message) {
		line.Message, line.Bytes, line.Start = nil, len(msg), string(line.Message[:min(len(line.Message), maxTraced)])
	}
	text, err := json.Marshal(line)
	if err != nil {
		return // all its values can be encoded
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	_, _ = tr.out.Write(append(text, '\n'))
}

// withoutInput removes the parameters from a command of the Input domain.
func withoutInput(msg []byte) json.RawMessage {
	if !bytes.Contains(msg, []byte(`"Input.`)) {
		return msg
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(msg, &fields) != nil || !bytes.HasPrefix(fields["method"], []byte(`"Input.`)) {
		return msg
	}
	fields["params"] = json.RawMessage(`"left out"`)
	without, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return without
}

// tracedTransport is a transport whose messages are traced.
type tracedTransport struct {
	Transport
	trace   *Trace
	browser string
}

func (t *tracedTransport) Read() ([]byte, error) {
	msg, err := t.Transport.Read()
	if err == nil {
		t.trace.write(t.browser, "server", msg)
	}
	return msg, err
}

func (t *tracedTransport) Write(msg []byte) error {
	if len(msg) > 0 { // otherwise it sends what TryWrite left
		t.trace.write(t.browser, "chromium", msg)
	}
	return t.Transport.Write(msg)
}

// tracedTryWriter is a tracedTransport whose transport has TryWrite.
type tracedTryWriter struct {
	*tracedTransport
	try tryWriter
}

func (t *tracedTryWriter) TryWrite(msg []byte) bool {
	t.trace.write(t.browser, "chromium", msg)
	return t.try.TryWrite(msg)
}
