package automation

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"takeover/browser"
)

// What follows is a HAR file of version 1.2 (http://www.softwareishard.com/blog/har-12-spec/)
// with the fields that Playwright adds, whose names begin with _.

type harFile struct {
	Log harLog `json:"log"`
}

type harLog struct {
	Version string      `json:"version"`
	Creator harProgram  `json:"creator"`
	Browser browserInit `json:"browser"`
	Pages   []*harPage  `json:"pages,omitempty"`
	Entries []*harEntry `json:"entries"`
}

type harProgram struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type harPage struct {
	Started string         `json:"startedDateTime"`
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Timings harPageTimings `json:"pageTimings"`

	began float64 // milliseconds since 1970
}

// harPageTimings are milliseconds since the page began, -1 for what did not happen.
type harPageTimings struct {
	OnContentLoad float64 `json:"onContentLoad"`
	OnLoad        float64 `json:"onLoad"`
}

type harEntry struct {
	PageRef      string      `json:"pageref,omitempty"`
	Started      string      `json:"startedDateTime"`
	Time         float64     `json:"time"` // milliseconds
	Request      harRequest  `json:"request"`
	Response     harResponse `json:"response"`
	Cache        struct{}    `json:"cache"`
	Timings      harTimings  `json:"timings"`
	FrameRef     string      `json:"_frameref,omitempty"`
	Monotonic    float64     `json:"_monotonicTime"` // milliseconds since the recording began
	WorkerRef    string      `json:"_serviceWorkerRef,omitempty"`
	ResourceType string      `json:"_resourceType,omitempty"`
	ServerIP     string      `json:"serverIPAddress,omitempty"`
	ServerPort   int         `json:"_serverPort,omitempty"`
	Security     any         `json:"_securityDetails,omitempty"`
	WasAborted   bool        `json:"_wasAborted,omitempty"`
	WasFulfilled bool        `json:"_wasFulfilled,omitempty"`
	WasContinued bool        `json:"_wasContinued,omitempty"`
}

type harRequest struct {
	Method      string           `json:"method"`
	URL         string           `json:"url"`
	HTTPVersion string           `json:"httpVersion"`
	Cookies     []harCookie      `json:"cookies"`
	Headers     []browser.Header `json:"headers"`
	Query       []browser.Header `json:"queryString"`
	HeadersSize int              `json:"headersSize"`
	BodySize    int              `json:"bodySize"`
	PostData    *harPostData     `json:"postData,omitempty"`
}

type harPostData struct {
	MimeType string           `json:"mimeType"`
	Text     string           `json:"text"`
	Params   []browser.Header `json:"params"`
	File     string           `json:"_file,omitempty"`
}

type harResponse struct {
	Status       int              `json:"status"`
	StatusText   string           `json:"statusText"`
	HTTPVersion  string           `json:"httpVersion"`
	Cookies      []harCookie      `json:"cookies"`
	Headers      []browser.Header `json:"headers"`
	Content      harContent       `json:"content"`
	HeadersSize  int              `json:"headersSize"`
	BodySize     int              `json:"bodySize"`
	RedirectURL  string           `json:"redirectURL"`
	TransferSize *int             `json:"_transferSize,omitempty"`
	Failure      string           `json:"_failureText,omitempty"`
}

type harContent struct {
	Size        int     `json:"size"`
	MimeType    string  `json:"mimeType"`
	Compression *int    `json:"compression,omitempty"`
	Text        *string `json:"text,omitempty"`
	Encoding    string  `json:"encoding,omitempty"` // base64, or none
	File        string  `json:"_file,omitempty"`
	Comment     string  `json:"comment,omitempty"`
}

// harTimings are in milliseconds, -1 for what is not known.
type harTimings struct {
	DNS     *float64 `json:"dns,omitempty"`
	Connect *float64 `json:"connect,omitempty"`
	SSL     *float64 `json:"ssl,omitempty"`
	Send    float64  `json:"send"`
	Wait    float64  `json:"wait"`
	Receive float64  `json:"receive"`
}

type harCookie struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Path     string `json:"path,omitempty"`
	Domain   string `json:"domain,omitempty"`
	Expires  string `json:"expires,omitempty"`
	HTTPOnly bool   `json:"httpOnly,omitempty"`
	Secure   bool   `json:"secure,omitempty"`
	SameSite string `json:"sameSite,omitempty"`
}

// plainHTTP is the version of what was not answered, or not said.
const plainHTTP = "HTTP/1.1"

// httpVersion is a protocol of Chromium's in the words of the first line of an answer.
func httpVersion(protocol string) string {
	switch protocol {
	case "":
		return plainHTTP
	case "h2", "h3":
		return "HTTP/" + protocol[1:] + ".0"
	}
	return strings.ToUpper(protocol)
}

// isoTime writes a moment as JavaScript does.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// harQuery is a URL's query in its order.
func harQuery(raw string) []browser.Header {
	u, err := url.Parse(raw)
	if err != nil {
		return []browser.Header{}
	}
	return harForm(u.RawQuery)
}

// harForm reads names and values as they stand in queries and bodies of forms.
func harForm(text string) []browser.Header {
	list := []browser.Header{}
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		list = append(list, browser.Header{Name: unescaped(name), Value: unescaped(value)})
	}
	return list
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// sentCookies are those of a request's headers.
func sentCookies(headers []browser.Header) []harCookie {
	list := []harCookie{}
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

func cookieNamed(pair string) harCookie {
	name, value, _ := strings.Cut(pair, "=")
	return harCookie{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
}

// setCookies are those of an answer's headers.
func setCookies(headers []browser.Header, now time.Time) []harCookie {
	list := []harCookie{}
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

func setCookie(line string, now time.Time) harCookie {
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
				cookie.Expires = isoTime(now.Add(time.Duration(seconds) * time.Second))
			}
		case "expires":
			for _, layout := range []string{time.RFC1123, "Mon, 02-Jan-2006 15:04:05 MST"} {
				if at, err := time.Parse(layout, value); err == nil {
					cookie.Expires = isoTime(at)
				}
			}
		}
	}
	return cookie
}

// plainType is a media type without its parameters.
func plainType(mimeType string) string {
	kind, _, _ := strings.Cut(mimeType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// textual reports whether a body of a media type is text.
func textual(mimeType string) bool {
	kind := plainType(mimeType)
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasPrefix(kind, "application/xml") {
		return true
	}
	switch kind {
	case "application/json", "application/javascript", "application/x-javascript", "application/ecmascript", "application/graphql", formType, "image/svg":
		return true
	}
	return false
}

const formType = "application/x-www-form-urlencoded"

// extensions are those of the media types that are met most.
var extensions = map[string]string{
	"text/html": "html", "text/css": "css", "text/plain": "txt", "text/csv": "csv", "text/xml": "xml", "text/javascript": "js", "text/markdown": "md",
	"application/javascript": "js", "application/json": "json", "application/xml": "xml", "application/pdf": "pdf", "application/wasm": "wasm",
	"application/xhtml+xml": "xhtml", "application/ld+json": "jsonld", "application/manifest+json": "webmanifest", "application/zip": "zip",
	"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp", "image/avif": "avif", "image/svg+xml": "svg",
	"image/x-icon": "ico", "image/vnd.microsoft.icon": "ico", "font/woff": "woff", "font/woff2": "woff2", "font/ttf": "ttf", "font/otf": "otf",
	"audio/mpeg": "mp3", "audio/wav": "wav", "video/mp4": "mp4", "video/webm": "webm",
}

// extensionOf is how names of files of a media type end.
func extensionOf(mimeType string) string {
	if e := extensions[plainType(mimeType)]; e != "" {
		return e
	}
	return "dat"
}
