package recording

import (
	"strings"

	"takeover/browser"
	"takeover/har"
)

// file is the text of a HAR.
type file struct {
	Log log `json:"log"`
}

type log struct {
	Version string       `json:"version"`
	Creator har.Program  `json:"creator"`
	Browser har.Program  `json:"browser"`
	Pages   []*pageEntry `json:"pages,omitempty"`
	Entries []*entry     `json:"entries"`
}

type pageEntry struct {
	har.Page
	began float64 // start, in milliseconds since 1970
}

type entry struct {
	har.Entry
	FrameRef     string  `json:"_frameref,omitempty"`
	Monotonic    float64 `json:"_monotonicTime"` // milliseconds since the recording began
	WorkerRef    string  `json:"_serviceWorkerRef,omitempty"`
	ServerPort   int     `json:"_serverPort,omitempty"`
	Security     any     `json:"_securityDetails,omitempty"`
	WasAborted   bool    `json:"_wasAborted,omitempty"`
	WasFulfilled bool    `json:"_wasFulfilled,omitempty"`
	WasContinued bool    `json:"_wasContinued,omitempty"`
}

// harHeaders converts headers to the form that HAR uses.
func harHeaders(headers []browser.Header) []har.Header {
	list := make([]har.Header, len(headers))
	for i, h := range headers {
		list[i] = har.Header(h)
	}
	return list
}

// plainType removes the parameters of a media type.
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

// extensions are the file extensions of common media types.
var extensions = map[string]string{
	"text/html": "html", "text/css": "css", "text/plain": "txt", "text/csv": "csv", "text/xml": "xml", "text/javascript": "js", "text/markdown": "md",
	"application/javascript": "js", "application/json": "json", "application/xml": "xml", "application/pdf": "pdf", "application/wasm": "wasm",
	"application/xhtml+xml": "xhtml", "application/ld+json": "jsonld", "application/manifest+json": "webmanifest", "application/zip": "zip",
	"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp", "image/avif": "avif", "image/svg+xml": "svg",
	"image/x-icon": "ico", "image/vnd.microsoft.icon": "ico", "font/woff": "woff", "font/woff2": "woff2", "font/ttf": "ttf", "font/otf": "otf",
	"audio/mpeg": "mp3", "audio/wav": "wav", "video/mp4": "mp4", "video/webm": "webm",
}

// extensionOf returns the file extension of a media type.
func extensionOf(mimeType string) string {
	if e := extensions[plainType(mimeType)]; e != "" {
		return e
	}
	return "dat"
}
