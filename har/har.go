// Package har holds the types of HAR files, version 1.2
// (http://www.softwareishard.com/blog/har-12-spec/), with additional fields of
// Playwright and Chrome, whose names begin with _.
package har

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Version is the version of the format.
const Version = "1.2"

// Header is a name and a value: of a header, a query or a form.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Program identifies the program that wrote the file, or the browser.
type Program struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// PageTimings are milliseconds since the start of the page, or -1 for what did
// not happen.
type PageTimings struct {
	OnContentLoad float64 `json:"onContentLoad"`
	OnLoad        float64 `json:"onLoad"`
}

// Page is a document that entries belong to.
type Page struct {
	Started string      `json:"startedDateTime"`
	ID      string      `json:"id"`
	Title   string      `json:"title"`
	Timings PageTimings `json:"pageTimings"`
}

// Entry is a request and its response. _resourceType is as in the HAR files
// that Chrome writes.
type Entry struct {
	PageRef      string   `json:"pageref,omitempty"`
	Started      string   `json:"startedDateTime"`
	Time         float64  `json:"time"` // milliseconds
	Request      Request  `json:"request"`
	Response     Response `json:"response"`
	Cache        struct{} `json:"cache"`
	Timings      Timings  `json:"timings"`
	ServerIP     string   `json:"serverIPAddress,omitempty"`
	ResourceType string   `json:"_resourceType,omitempty"`
}

// Request is a request as sent. Sizes are bytes, or -1 when unknown.
type Request struct {
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	HTTPVersion string    `json:"httpVersion"`
	Cookies     []Cookie  `json:"cookies"`
	Headers     []Header  `json:"headers"`
	Query       []Header  `json:"queryString"`
	HeadersSize int       `json:"headersSize"`
	BodySize    int       `json:"bodySize"`
	PostData    *PostData `json:"postData,omitempty"`
}

// PostData is the body of a request.
type PostData struct {
	MimeType string   `json:"mimeType"`
	Text     string   `json:"text"`
	Params   []Header `json:"params"`
	File     string   `json:"_file,omitempty"`
}

// Response is the response to a request. Sizes are bytes, or -1 when unknown.
type Response struct {
	Status       int      `json:"status"`
	StatusText   string   `json:"statusText"`
	HTTPVersion  string   `json:"httpVersion"`
	Cookies      []Cookie `json:"cookies"`
	Headers      []Header `json:"headers"`
	Content      Content  `json:"content"`
	HeadersSize  int      `json:"headersSize"`
	BodySize     int      `json:"bodySize"`
	RedirectURL  string   `json:"redirectURL"`
	TransferSize *int     `json:"_transferSize,omitempty"`
	Failure      string   `json:"_failureText,omitempty"`
}

// Content is the body of a response. Sizes are bytes.
type Content struct {
	Size        int     `json:"size"`
	MimeType    string  `json:"mimeType"`
	Compression *int    `json:"compression,omitempty"`
	Text        *string `json:"text,omitempty"`
	Encoding    string  `json:"encoding,omitempty"` // base64, or empty
	File        string  `json:"_file,omitempty"`
	Comment     string  `json:"comment,omitempty"`
}

// Timings are milliseconds, or -1 when unknown.
type Timings struct {
	Blocked *float64 `json:"blocked,omitempty"`
	DNS     *float64 `json:"dns,omitempty"`
	Connect *float64 `json:"connect,omitempty"`
	SSL     *float64 `json:"ssl,omitempty"`
	Send    float64  `json:"send"`
	Wait    float64  `json:"wait"`
	Receive float64  `json:"receive"`
}

// Cookie is a cookie of a request or a response.
type Cookie struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Path     string `json:"path,omitempty"`
	Domain   string `json:"domain,omitempty"`
	Expires  string `json:"expires,omitempty"`
	HTTPOnly bool   `json:"httpOnly,omitempty"`
	Secure   bool   `json:"secure,omitempty"`
	SameSite string `json:"sameSite,omitempty"`
}

// PlainHTTP is the HTTP version to use when there was no response, or the version
// is unknown.
const PlainHTTP = "HTTP/1.1"

// HTTPVersion converts Chromium's name of a protocol to the form of a status
// line.
func HTTPVersion(protocol string) string {
	switch protocol {
	case "":
		return PlainHTTP
	case "h2", "h3":
		return "HTTP/" + protocol[1:] + ".0"
	}
	return strings.ToUpper(protocol)
}

// Time formats a time as JavaScript does.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// URL converts an address to the form of RFC 3986, which readers of HAR files
// require. It percent-encodes characters that Chromium leaves alone, and marks
// like [REDACTED].
func URL(raw string) string {
	const allowed = "-._~:/?#@!$&'()*+,;="
	scheme, rest, _ := strings.Cut(raw, "://")
	host := len(raw)
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = len(scheme) + 3 + end
	}
	var out strings.Builder
	for i := range len(raw) {
		c := raw[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte(allowed, c) >= 0,
			(c == '[' || c == ']') && i < host,
			c == '%' && i+2 < len(raw) && isHex(raw[i+1]) && isHex(raw[i+2]):
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// Query returns the parameters of a URL's query, in order.
func Query(raw string) []Header {
	u, err := url.Parse(raw)
	if err != nil {
		return []Header{}
	}
	return Form(u.RawQuery)
}

// Form parses names and values as in queries and form bodies.
func Form(text string) []Header {
	list := []Header{}
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		list = append(list, Header{Name: unescaped(name), Value: unescaped(value)})
	}
	return list
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// SentCookies returns the cookies in a request's headers.
func SentCookies(headers []Header) []Cookie {
	list := []Cookie{}
	for _, h := range headers {
		if !strings.EqualFold(h.Name, "cookie") {
			continue
		}
		for part := range strings.SplitSeq(h.Value, ";") {
			list = append(list, cookieNamed(part))
		}
	}
	return list
}

func cookieNamed(pair string) Cookie {
	name, value, _ := strings.Cut(pair, "=")
	return Cookie{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
}

// SetCookies returns the cookies that a response's headers set.
func SetCookies(headers []Header, now time.Time) []Cookie {
	list := []Cookie{}
	for _, h := range headers {
		if !strings.EqualFold(h.Name, "set-cookie") {
			continue
		}
		for line := range strings.SplitSeq(h.Value, "\n") {
			list = append(list, setCookie(line, now))
		}
	}
	return list
}

func setCookie(line string, now time.Time) Cookie {
	first, rest, _ := strings.Cut(line, ";")
	cookie := cookieNamed(first)
	for attribute := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(attribute, "=")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "domain":
			cookie.Domain = value
		case "path":
			cookie.Path = value
		case "samesite":
			cookie.SameSite = value
		case "httponly":
			cookie.HTTPOnly = true
		case "secure":
			cookie.Secure = true
		case "max-age":
			if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
				cookie.Expires = Time(now.Add(time.Duration(seconds) * time.Second))
			}
		case "expires":
			for _, layout := range []string{time.RFC1123, "Mon, 02-Jan-2006 15:04:05 MST"} {
				if at, err := time.Parse(layout, value); err == nil {
					cookie.Expires = Time(at)
				}
			}
		}
	}
	return cookie
}
