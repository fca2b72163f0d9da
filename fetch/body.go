package fetch

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/andybalholm/brotli"
)

// readBody reads the body of a response, decompresses it, and closes it.
func (c *Client) readBody(res *http.Response) (body []byte, err error) {
	limit := c.options.MaxBody
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	encoding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding")))
	raw := &wire{from: res.Body}
	var from io.Reader = raw
	if isCompressed(encoding) {
		buffered := bufio.NewReader(raw)
		if _, err := buffered.Peek(1); errors.Is(err, io.EOF) { // for example, in a response to HEAD
			return []byte{}, nil
		}
		from, err = decoder(encoding, buffered)
	}
	if err == nil {
		counted := &counted{from: io.LimitReader(from, limit+1), all: &c.reading, most: c.options.MaxBodies}
		defer counted.done()
		body, err = io.ReadAll(counted)
	}
	switch {
	case raw.err != nil:
		return nil, abortedError{raw.err}
	case errors.Is(err, errBodies):
		return nil, &Error{Text: fmt.Sprintf("the bodies of the responses under way are larger than %d bytes together, the most that is read here at a time", c.options.MaxBodies), cause: err}
	case errors.Is(err, io.ErrUnexpectedEOF) && isCompressed(encoding): // the connection ended early, but the decompressed part is usable
		err = nil
	case err != nil && isCompressed(encoding):
		return nil, &Error{Text: fmt.Sprintf("failed to decompress '%s' encoding: Error: %s", encoding, decodeWords(err)), cause: err}
	}
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > limit {
		return nil, &Error{Text: fmt.Sprintf("the body of the response is larger than %d bytes, the most that is read here", limit)}
	}
	return body, nil
}

func isCompressed(encoding string) bool {
	switch encoding {
	case "gzip", "x-gzip", "deflate", "br":
		return true
	}
	return false
}

func decoder(encoding string, from io.Reader) (io.Reader, error) {
	switch encoding {
	case "br":
		return brotli.NewReader(from), nil
	case "deflate":
		return zlib.NewReader(from)
	default:
		return gzip.NewReader(from)
	}
}

func decodeWords(err error) string {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, zlib.ErrHeader) {
		return "incorrect header check"
	}
	return err.Error()
}

// errBodies is returned when the bodies being read are too large together.
var errBodies = errors.New("too many bytes of bodies")

// counted adds the bytes that it reads to a total that it shares with other
// readers, up to a limit.
type counted struct {
	from io.Reader
	all  *atomic.Int64
	most int64
	own  int64
}

// Read reads while the total stays within the limit.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.own += int64(n)
	if c.all.Add(int64(n)) > c.most {
		return n, errBodies
	}
	return n, err
}

// done subtracts the reader's bytes from the total.
func (c *counted) done() { c.all.Add(-c.own) }

// wire distinguishes errors of the connection from errors of decompression.
type wire struct {
	from io.Reader
	err  error
}

// Read reads and remembers the error.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		w.err = err
	}
	return n, err
}
