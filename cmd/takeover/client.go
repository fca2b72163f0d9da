package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxEvent bounds a line of an event stream, in bytes. The end of a run contains
// its result and its logs.
const maxEvent = 32 << 20

// client calls a server's API.
type client struct {
	base string
	key  string
	from string // where the key comes from, for error messages
	http *http.Client
}

// problem is an error response of the API.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (p *problem) Error() string {
	if p.Detail == "" {
		return fmt.Sprintf("%s (%d)", p.Title, p.Status)
	}
	return fmt.Sprintf("%s: %s", p.Title, p.Detail)
}

// client returns a client for the flags. Without a key, the client uses the key
// of a server on this machine.
func (c *cli) client() (*client, error) {
	base, err := serverURL(c.Server)
	if err != nil {
		return nil, usage("%w", err)
	}
	key, from := c.Key, "--key"
	if key == "" {
		key, _, _ = strings.Cut(os.Getenv("TAKEOVER_API_KEY"), ",")
		from = "TAKEOVER_API_KEY"
	}
	dir := os.Getenv("TAKEOVER_DATA_DIR")
	if dir == "" {
		dir = defaultDataDir()
	}
	if key == "" {
		from = filepath.Join(dir, keyFile)
		if raw, err := os.ReadFile(from); err == nil {
			key = string(raw)
		}
	}
	if key = strings.TrimSpace(key); key == "" {
		return nil, usage("no API key: set TAKEOVER_API_KEY, or give --key. It is the server's; one that was started without keeps its own in its data directory, and %s is not there", from)
	}
	return &client{base: base, key: key, from: from, http: &http.Client{}}, nil
}

// keyFile is the file, in its data directory, in which a server keeps its key.
const keyFile = "api-key"

// defaultDataDir returns the folder in which the server keeps a user's data.
func defaultDataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "takeover")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "data"
	}
	return filepath.Join(home, ".local", "share", "takeover")
}

// defaultServer is the address that serve listens on by default.
const defaultServer = "http://127.0.0.1:8080"

// serverURL returns a server's address with http:// in front if it has no scheme.
func serverURL(given string) (string, error) {
	text := cmp.Or(strings.TrimSpace(given), defaultServer)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is not a server address: write http://host:port in --server or TAKEOVER_URL", given)
	}
	return strings.TrimRight(text, "/"), nil
}

// call sends in as JSON and decodes the response into out. Either may be nil.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.do(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	return decode(resp.Body, out)
}

// decode decodes a JSON response.
func decode(body io.Reader, out any) error {
	if err := json.NewDecoder(body).Decode(out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// do sends a request and turns an error response into a *problem.
func (c *client) do(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, usage("%s: %w", c.base, err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return c.send(req)
}

// send adds the key to a request, sends it, and turns an error response into a
// *problem.
func (c *client) send(req *http.Request) (*http.Response, error) {
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := c.http.Do(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, context.Cause(req.Context())
		}
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, fmt.Errorf("%s does not answer: is the server running? %s, or name another with --server or TAKEOVER_URL (%w)", c.base, startServer, err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	defer resp.Body.Close()
	p := &problem{Title: resp.Status, Status: resp.StatusCode}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind != "application/problem+json":
		p.Title, p.Detail = c.base+" answers, but is not a Takeover server", resp.Status+" for "+req.URL.Path
	case resp.StatusCode == http.StatusUnauthorized:
		p.Title = "the server rejected this key"
		p.Detail = fmt.Sprintf("it comes from %s. Find the right key in TAKEOVER_API_KEY where the server runs, or in the file %s of its data directory; pass it with --key or TAKEOVER_API_KEY", c.from, keyFile)
	default:
		_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(p) // without a JSON body, the error has only the status
	}
	return nil, p
}

// errStreamEnded is returned for a stream that the server has ended.
var errStreamEnded = errors.New("the stream ended early")

// stream reads server-sent events until the stream ends or yield returns false.
func (c *client) stream(ctx context.Context, path string, yield func(event string, data []byte) (more bool, err error)) error {
	resp, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return readStream(resp.Body, yield)
}

// readStream reads server-sent events until they end or yield returns false.
func readStream(body io.Reader, yield func(event string, data []byte) (more bool, err error)) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64<<10), maxEvent)
	event := ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			event = value
		case "data":
			if more, err := yield(event, []byte(value)); err != nil || !more {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read stream: %w", err)
	}
	return errStreamEnded
}

// The parts of the API's responses that the commands use.
type (
	sessionInfo struct {
		ID               string    `json:"id"`
		Status           string    `json:"status"`
		URL              string    `json:"url"`
		Title            string    `json:"title"`
		Controller       string    `json:"controller"`
		Viewers          int       `json:"viewers"`
		CreatedAt        time.Time `json:"createdAt"`
		ExpiresAt        time.Time `json:"expiresAt"`
		EndReason        string    `json:"endReason"`
		SessionViewerURL string    `json:"sessionViewerUrl"`
		DevToolsURL      string    `json:"devtoolsUrl"`
		Warnings         []string  `json:"warnings"`
	}
	takeoverInfo struct {
		ID          string    `json:"id"`
		SessionID   string    `json:"sessionId"`
		Reason      string    `json:"reason"`
		RequestedBy string    `json:"requestedBy"`
		State       string    `json:"state"`
		CreatedAt   time.Time `json:"createdAt"`
		Deadline    time.Time `json:"deadline"`
		URL         string    `json:"url"`
	}
	runInfo struct {
		ID     string          `json:"id"`
		Status string          `json:"status"`
		Result json.RawMessage `json:"result"`
		Error  *runError       `json:"error"`
		Tests  []testInfo      `json:"tests"`
	}
	runError struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
	}
	testInfo struct {
		Title      string    `json:"title"`
		Status     string    `json:"status"`
		DurationMS float64   `json:"durationMs"`
		Error      *runError `json:"error"`
	}
	logLine struct {
		Level string `json:"level"`
		Text  string `json:"text"`
	}
)
