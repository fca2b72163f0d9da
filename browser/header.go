package browser

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/chromedp/cdproto/fetch"
)

// Header is one field of a request's or an answer's header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// parseHeaders reads Chromium's object of headers in its order. Several values
// of one name stand in lines of their own there.
func parseHeaders(object []byte) []Header {
	headers := []Header{}
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return headers
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		value, err := d.Token()
		if err != nil {
			break
		}
		text, _ := value.(string)
		for line := range strings.SplitSeq(text, "\n") {
			headers = append(headers, Header{Name: name.(string), Value: line}) //nolint:forcetypeassert // a key
		}
	}
	return headers
}

// entries are headers as the Fetch domain takes them.
func entries(headers []Header) []*fetch.HeaderEntry {
	list := make([]*fetch.HeaderEntry, 0, len(headers))
	for _, h := range headers {
		list = append(list, &fetch.HeaderEntry{Name: h.Name, Value: h.Value})
	}
	return list
}

// headersSize is what a message's head takes in HTTP/1.1, as Playwright counts:
// without the empty line.
func headersSize(first string, headers []Header) int {
	size := len(first) + len("\r\n")
	for _, h := range headers {
		size += len(h.Name) + len(": ") + len(h.Value) + len("\r\n")
	}
	return size
}

// pathOf is a URL's path with its query.
func pathOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "/"
	}
	return u.RequestURI()
}

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }
