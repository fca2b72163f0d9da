package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

type mcpCommand struct {
	Tools []string `help:"Sets of tools to offer: core, input, code, network, takeover, diagnose. Default: all." placeholder:"SET"`
}

const (
	// maxMCPLine bounds a message of a client, in bytes. The server's own bound is
	// lower, and its error says more.
	maxMCPLine = 16 << 20
	// mcpNotice bounds how long the server may take to accept a message that has no
	// answer.
	mcpNotice = 30 * time.Second
	// mcpGoodbye bounds how long calls go on when the client has ended its input, and
	// then how long the server may take to forget the client.
	mcpGoodbye = 2 * time.Second
	// sessionlessMCP is the first version of the protocol in which every message names
	// its version.
	sessionlessMCP = "2026-07-28"

	codeParse    = -32700 // JSON-RPC: not JSON
	codeInternal = -32603 // JSON-RPC: failed
)

// Run speaks the Model Context Protocol on the standard streams for a client that
// starts its servers as programs. It passes messages on to a running server, because
// that is where sessions are, where people see them, and where the links of takeovers
// lead.
func (m *mcpCommand) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	return newMCPBridge(api, m.Tools, std).run(ctx, std.in)
}

// mcpBridge passes the messages of one client on to a server, each as a request of its
// own.
type mcpBridge struct {
	api   *client
	path  string
	calls sync.WaitGroup

	writing sync.Mutex // held while a line is written
	std     streams

	mu      sync.Mutex // guards what follows
	session string     // the server's name for the client, in versions that have one
	version string     // negotiated by initialize
	cancels map[string]context.CancelFunc
}

func newMCPBridge(api *client, tools []string, std streams) *mcpBridge {
	path := "/mcp"
	if len(tools) > 0 {
		path += "?tools=" + url.QueryEscape(strings.Join(tools, ","))
	}
	return &mcpBridge{api: api, path: path, std: std, cancels: map[string]context.CancelFunc{}}
}

// mcpMessage is what the bridge needs to know of a message.
type mcpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result struct {
		ProtocolVersion string `json:"protocolVersion"`
	} `json:"result"`
}

// isCall reports whether the message waits for an answer.
func (m *mcpMessage) isCall() bool { return m.Method != "" && len(m.ID) > 0 }

// run passes messages on until the client ends its input or ctx ends.
func (b *mcpBridge) run(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		hurry := time.AfterFunc(mcpGoodbye, cancel) // calls that are nearly answered still are
		b.calls.Wait()
		hurry.Stop()
		cancel()
		b.goodbye(context.WithoutCancel(ctx))
	}()
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() { failed <- readLines(ctx, in, lines) }() // a read that never returns ends with the process
	for {
		select {
		case line := <-lines:
			b.pass(ctx, line)
		case err := <-failed:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// readLines reads lines until the end of the input.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 64<<10), maxMCPLine)
	for scanner.Scan() {
		line := bytes.Clone(bytes.TrimSpace(scanner.Bytes()))
		if len(line) == 0 {
			continue
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return nil
		}
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a message has more than %d bytes", maxMCPLine)
	} else if err != nil {
		return fmt.Errorf("read input: %w", err)
	}
	return nil
}

// pass passes a message on. A call goes on by itself; everything else is accepted by
// the server before the next message is read.
func (b *mcpBridge) pass(ctx context.Context, line []byte) {
	var m mcpMessage
	if err := json.Unmarshal(line, &m); err != nil && !json.Valid(line) {
		b.fail(nil, codeParse, "this line is not JSON")
		return
	}
	if !m.isCall() {
		if m.Method == "notifications/cancelled" && b.cancel(m.Params.RequestID) {
			return // the end of its request tells the server
		}
		ctx, cancel := context.WithTimeout(ctx, mcpNotice)
		defer cancel()
		if err := b.post(ctx, &m, line); err != nil && ctx.Err() == nil {
			fmt.Fprintln(b.std.err, "takeover:", err)
		}
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	key := string(m.ID)
	b.mu.Lock()
	if m.Params.Meta.Version >= sessionlessMCP {
		b.cancels[key] = cancel
	}
	b.mu.Unlock()
	b.calls.Go(func() {
		err := b.post(ctx, &m, line)
		b.mu.Lock()
		delete(b.cancels, key)
		b.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			b.fail(m.ID, codeInternal, err.Error())
		}
		cancel()
	})
}

// cancel ends the request of a call, and reports whether there is one that ends so. In
// earlier versions of the protocol, the message itself cancels the call.
func (b *mcpBridge) cancel(id json.RawMessage) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	cancel := b.cancels[string(id)]
	if cancel != nil {
		cancel()
	}
	return cancel != nil
}

// post sends a message and writes what the server answers.
func (b *mcpBridge) post(ctx context.Context, m *mcpMessage, line []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.api.base+b.path, bytes.NewReader(line))
	if err != nil {
		return err
	}
	h := req.Header
	h.Set("Authorization", "Bearer "+b.api.key)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	b.mu.Lock()
	version, session := b.version, b.session
	b.mu.Unlock()
	if m.Params.Meta.Version >= sessionlessMCP {
		h.Set("Mcp-Protocol-Version", m.Params.Meta.Version)
		h.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" { // a message has one of them
			h.Set("Mcp-Name", name)
		}
	} else if session != "" {
		h.Set("Mcp-Session-Id", session)
		h.Set("Mcp-Protocol-Version", version)
	}
	resp, err := b.api.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s does not answer: is the server running? %s (%w)", b.api.base, startServer, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	return b.answer(m, resp)
}

// answer writes the messages of a response.
func (b *mcpBridge) answer(m *mcpMessage, resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		return b.stream(m, resp)
	case kind == "application/json":
		raw, err := io.ReadAll(io.LimitReader(resp.Body, maxEvent))
		if err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		b.write(raw)
	case resp.StatusCode >= http.StatusBadRequest:
		p := &problem{Title: resp.Status, Status: resp.StatusCode}
		_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(p) // without a JSON body, the error has only the status
		if p.Status == http.StatusUnauthorized {
			p.Detail = fmt.Sprintf("the server rejected the key, which comes from %s", b.api.from)
		}
		return p
	}
	return nil
}

// stream writes the messages of a stream of events.
func (b *mcpBridge) stream(m *mcpMessage, resp *http.Response) error {
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 64<<10), maxEvent)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		if m.Method == "initialize" {
			b.initialized(resp.Header.Get("Mcp-Session-Id"), data)
		}
		b.write(data)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// initialized remembers what the server has agreed to.
func (b *mcpBridge) initialized(session string, answer []byte) {
	var m mcpMessage
	if json.Unmarshal(answer, &m) != nil || m.Result.ProtocolVersion == "" {
		return // an error, or another message
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session, b.version = session, m.Result.ProtocolVersion
}

// fail answers a call with an error.
func (b *mcpBridge) fail(id json.RawMessage, code int, message string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}})
	if err == nil { // an id that was read can be written
		b.write(raw)
	}
}

// write writes a message as a line.
func (b *mcpBridge) write(message []byte) {
	if len(bytes.TrimSpace(message)) == 0 {
		return
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	_, _ = b.std.out.Write(append(bytes.TrimSpace(message), '\n')) // a client that is gone also ends the input
}

// goodbye tells the server that the client has ended, if the server remembers it. The
// browser sessions go on.
func (b *mcpBridge) goodbye(ctx context.Context) {
	b.mu.Lock()
	session := b.session
	b.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mcpGoodbye)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, b.api.base+b.path, nil)
	if err != nil {
		return
	}
	req.Header.Set("Authorization", "Bearer "+b.api.key)
	req.Header.Set("Mcp-Session-Id", session)
	if resp, err := b.api.http.Do(req); err == nil {
		_ = resp.Body.Close()
	}
}
