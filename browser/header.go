package browser

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/chromedp/cdproto/fetch"
)

// Header is one field of the header of a request or response.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// parseHeaders reads Chromium's object of headers in order. Chromium separates
// several values of one name by line breaks.
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
		key, ok := name.(string)
		if _, nested := value.(json.Delim); nested || !ok {
			break // no Chromium sends this, unless a page has taken it over
		}
		text, _ := value.(string)
		for line := range strings.SplitSeq(text, "\n") {
			headers = append(headers, Header{Name: key, Value: line})
		}
	}
	return headers
}

// entries converts headers to the form of the Fetch domain.
func entries(headers []Header) []*fetch.HeaderEntry {
	list := make([]*fetch.HeaderEntry, 0, len(headers))
	for _, h := range headers {
		list = append(list, &fetch.HeaderEntry{Name: h.Name, Value: h.Value})
	}
	return list
}

// headersSize returns the size of a message's head in HTTP/1.1, as Playwright
// counts it: without the empty line.
func headersSize(first string, headers []Header) int {
	size := len(first) + len("\r\n")
	for _, h := range headers {
		size += len(h.Name) + len(": ") + len(h.Value) + len("\r\n")
	}
	return size
}

// pathOf returns the path of a URL with its query.
func pathOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "/"
	}
	return u.RequestURI()
}

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }
