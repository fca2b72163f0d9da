package egress

import (
	"bytes"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// page is what a person sees in place of a page that is refused. It has no scripts,
// and loads nothing. The colours are those of the server's own pages.
var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>This address is not opened here</title>
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
<h1>This address is not opened here</h1>
<p>{{.Address}}</p>
<p>{{.Why}}</p>
<p class="quiet">{{.Help}}</p>
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

// refusal returns the response to a request that the policy refuses.
func refusal(req *http.Request, b *BlockedError) *http.Response {
	why := sentences[b.Reason]
	why = strings.ToUpper(why[:1]) + why[1:] + "."
	var body bytes.Buffer
	contentType := "text/plain; charset=utf-8"
	if strings.Contains(req.Header.Get("Accept"), "text/html") {
		contentType = "text/html; charset=utf-8"
		_ = page.Execute(&body, struct{ Address, Why, Help string }{req.URL.Scheme + "://" + req.URL.Host, why, helps[b.Reason]}) // into memory
	} else {
		body.WriteString(why + "\n")
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{
			"Content-Type":            {contentType},
			"Content-Length":          {strconv.Itoa(body.Len())},
			"Cache-Control":           {"no-store"},
			"Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'; sandbox"},
			"X-Content-Type-Options":  {"nosniff"},
			"Takeover-Refused":        {string(b.Reason)},
		},
		ContentLength: int64(body.Len()), Body: io.NopCloser(&body),
	}
}
