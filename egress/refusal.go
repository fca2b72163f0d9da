package egress

import (
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// page is what a person sees in place of a page that is refused or cannot be reached.
// It has no scripts, and loads nothing. The colours are those of the server's own pages.
var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>
:root { color-scheme: light dark; --page: light-dark(#fafaf9, #141413); --ink: light-dark(#1c1b1a, #ecebe8); --quiet: light-dark(#6b6863, #a19e98); }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 36rem; padding: 2rem; }
h1 { font-size: 1.25rem; font-weight: 600; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); font-size: .875rem; }
</style>
</head>
<body>
<main>
<h1>{{.Title}}</h1>
<p>{{.Address}}</p>
<p>{{.Why}}</p>
{{with .Help}}<p class="quiet">{{.}}</p>{{end}}
</main>
</body>
</html>
`))

// helps say to people what can be done about a refusal.
var helps = map[Reason]string{
	ReasonMetadata:   "This rule has no exceptions.",
	ReasonOwn:        "This rule has no exceptions.",
	ReasonSpecial:    "This rule has no exceptions.",
	ReasonLoopback:   "Whoever runs the server can allow it with --allow-networks.",
	ReasonPrivate:    "Whoever runs the server can allow it with --allow-networks.",
	ReasonDenied:     "Whoever runs the server or made the session chose the list.",
	ReasonNotAllowed: "Whoever runs the server or made the session chose the list.",
}

// pageOf is what the page says.
type pageOf struct{ Title, Address, Why, Help string }

func (p pageOf) html() string {
	var out strings.Builder
	_ = page.Execute(&out, p) // into memory
	return out.String()
}

// refused returns the page for a refusal.
func refused(address *url.URL, b *BlockedError) pageOf {
	return pageOf{Title: "This address is not opened here", Address: address.Scheme + "://" + address.Host, Why: sentence(sentences[b.Reason]), Help: helps[b.Reason]}
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// failures say Chromium's errors to people.
var failures = map[string]string{
	"net::ERR_NAME_NOT_RESOLVED":      "There is no server with this name.",
	"net::ERR_CONNECTION_REFUSED":     "The server refused the connection.",
	"net::ERR_ADDRESS_UNREACHABLE":    "There is no way to the server's address.",
	"net::ERR_CONNECTION_RESET":       "The server ended the connection.",
	"net::ERR_CONNECTION_TIMED_OUT":   "The server did not answer in time.",
	"net::ERR_EMPTY_RESPONSE":         "The server ended the connection without an answer.",
	"net::ERR_INSUFFICIENT_RESOURCES": "Too many connections are open.",
	"net::ERR_INVALID_HTTP_RESPONSE":  "The server's answer is not valid.",
}

// ErrorPage returns the HTML of a page that says why a URL was not opened. It is
// empty unless the failure is the one that Failure returned for the latest
// connection to the URL's host.
func (t *Traffic) ErrorPage(address, failure string) string {
	failed := t.outcomes.get(address).err
	u, err := url.Parse(address)
	if err != nil || failed == nil || failure != errorName(failed) {
		return ""
	}
	if b, ok := errors.AsType[*BlockedError](failed); ok {
		return refused(u, b).html()
	}
	why := failures[failure]
	if why == "" {
		return ""
	}
	return pageOf{Title: "This page cannot be reached", Address: u.Scheme + "://" + u.Host, Why: why, Help: strings.TrimPrefix(failure, "net::")}.html()
}

// refusal returns the response to a request that the policy refuses.
func refusal(req *http.Request, b *BlockedError) *http.Response {
	said := refused(req.URL, b)
	body, contentType := said.Why+"\n", "text/plain; charset=utf-8"
	if strings.Contains(req.Header.Get("Accept"), "text/html") {
		body, contentType = said.html(), "text/html; charset=utf-8"
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{
			"Content-Type":            {contentType},
			"Content-Length":          {strconv.Itoa(len(body))},
			"Cache-Control":           {"no-store"},
			"Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'; sandbox"},
			"X-Content-Type-Options":  {"nosniff"},
		},
		ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
	}
}
