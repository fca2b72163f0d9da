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

	"github.com/andybalholm/brotli"
)

// readBody reads an answer's body, decompresses it, and closes it.
func readBody(res *http.Response, limit int64) (body []byte, err error) {
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	encoding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding")))
	raw := &wire{from: res.Body}
	var from io.Reader = raw
	if isCompressed(encoding) {
		buffered := bufio.NewReader(raw)
		if _, err := buffered.Peek(1); errors.Is(err, io.EOF) { // as in the answer to HEAD
			return []byte{}, nil
		}
		from, err = decoder(encoding, buffered)
	}
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(from, limit+1))
	}
	switch {
	case raw.err != nil:
		return nil, errAborted{raw.err}
	case errors.Is(err, io.ErrUnexpectedEOF) && isCompressed(encoding): // cut off, but whole so far as it was sent
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

// wire tells errors of the connection from those of the decompression.
type wire struct {
	from io.Reader
	err  error
}

// Read reads on, and remembers what failed.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		w.err = err
	}
	return n, err
}
