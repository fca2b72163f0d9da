package fetch

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// firstBackoff is the pause before the first retry; it doubles with each retry.
const firstBackoff = 250 * time.Millisecond

// Do makes a request and follows up on the response: it follows redirects,
// answers a challenge, and retries after a reset. Errors have Playwright's and
// Node's wording. The cause of ctx and errors of the policy are returned
// unchanged.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	if r.Log == nil {
		r.Log = func(string) {}
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	backoff := firstBackoff
	for attempt := 0; ; attempt++ {
		res, err := c.chain(ctx, r)
		if err == nil || ctx.Err() != nil || r.MaxRetries == 0 {
			return res, inWords(ctx, err)
		}
		if attempt == r.MaxRetries {
			return nil, &Error{Text: fmt.Sprintf("Failed after %d attempt(s): Error: %s", attempt+1, plainWords(err)), cause: err}
		}
		if !isReset(err) {
			return nil, inWords(ctx, err)
		}
		r.Log(fmt.Sprintf("  Received ECONNRESET, will retry after %dms.", backoff.Milliseconds()))
		timer := time.NewTimer(backoff)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
		backoff *= 2
	}
}

// chain follows redirects, and answers a challenge once.
func (c *Client) chain(ctx context.Context, r Request) (*Response, error) {
	r.Headers = slices.Clone(r.Headers)
	ownCookies := has(r.Headers, "cookie")
	redirects := r.MaxRedirects
	for _, known := range r.Credentials {
		if known.Always && known.fits(r.URL) {
			set(&r.Headers, "Authorization", known.header())
			break
		}
	}
	for {
		if err := c.allowed(r); err != nil {
			return nil, err
		}
		if !ownCookies {
			if err := addCookies(ctx, &r); err != nil {
				return nil, err
			}
		}
		res, lines, err := c.once(ctx, r)
		if err != nil {
			return nil, err
		}
		if cookies := setCookies(r.URL, lines, time.Now()); len(cookies) > 0 && r.Jar != nil {
			if err := r.Jar.SetCookies(ctx, cookies); err != nil {
				return nil, err
			}
		}
		location := res.get("location")
		switch {
		case isRedirect(res.Status) && r.MaxRedirects > 0 && location != "":
			if redirects--; redirects < 0 {
				return nil, &Error{Text: "Max redirect count exceeded"}
			}
			ownCookies = false
			if err := r.follow(res.Status, location); err != nil {
				return nil, err
			}
		case res.Status == http.StatusUnauthorized && !has(r.Headers, "authorization") && r.answers(res.get("www-authenticate")):
			remove(&r.Headers, "cookie")
		default:
			return res.Response, nil
		}
		if res.body != nil {
			_ = res.body.Close() // the body is not needed
		}
	}
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow changes r into the request that a redirect leads to.
func (r *Request) follow(status int, location string) error {
	to, err := ParseURL(r.URL, location)
	if err != nil {
		return &Error{Text: "uri requested responds with an invalid redirect URL: " + location}
	}
	remove(&r.Headers, "cookie")
	if (status == http.StatusMovedPermanently || status == http.StatusFound) && r.Method == http.MethodPost ||
		status == http.StatusSeeOther && r.Method != http.MethodGet && r.Method != http.MethodHead {
		r.Method, r.Body = http.MethodGet, nil
		for _, name := range []string{"content-encoding", "content-language", "content-length", "content-location", "content-type"} {
			remove(&r.Headers, name)
		}
	}
	set(&r.Headers, "host", to.Host)
	if origin(to) != origin(r.URL) {
		remove(&r.Headers, "authorization")
	}
	r.URL = to
	return nil
}

// answers adds matching credentials for a challenge, if there are any.
func (r *Request) answers(challenge string) bool {
	if !strings.HasPrefix(strings.TrimSpace(challenge), "Basic") {
		return false
	}
	for _, known := range r.Credentials {
		if known.fits(r.URL) {
			set(&r.Headers, "Authorization", known.header())
			return true
		}
	}
	return false
}

func (k Credentials) fits(u *url.URL) bool {
	return k.Origin == "" || strings.EqualFold(strings.TrimSuffix(k.Origin, "/"), origin(u))
}

func (k Credentials) header() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(k.Username+":"+k.Password))
}

func origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else {
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host
}

func addCookies(ctx context.Context, r *Request) error {
	if r.Jar == nil {
		return nil
	}
	cookies, err := r.Jar.Cookies(ctx, r.URL)
	if err != nil || len(cookies) == 0 {
		return err
	}
	sortCookies(cookies)
	pairs := make([]string, len(cookies))
	for i := range cookies {
		pairs[i] = cookies[i].pair()
	}
	set(&r.Headers, "cookie", strings.Join(pairs, "; "))
	return nil
}

// allowed returns why the policy refuses a request's URL, or nil.
func (c *Client) allowed(r Request) error {
	u := r.URL
	if u.Scheme != "http" && u.Scheme != "https" {
		return &Error{Text: fmt.Sprintf("Protocol %q not supported. Expected \"http:\"", u.Scheme+":")}
	}
	if proxyFor(r.Proxy, u) != "" {
		return c.options.CheckBehind(u)
	}
	return c.options.CheckURL(u)
}

// answer is a response and its body, which is read only if it is needed.
type answer struct {
	*Response
	body io.Closer
}

func (a *answer) get(name string) string {
	for _, h := range a.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// once makes one request. It reads the body, unless the response is a redirect to
// follow. lines are the response's Set-Cookie headers.
func (c *Client) once(ctx context.Context, r Request) (*answer, []string, error) {
	h := &hop{url: r.URL, start: time.Now()}
	req, err := h.request(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	r.Log(fmt.Sprintf("→ %s %s", r.Method, r.URL))
	for _, header := range r.Headers {
		r.Log(fmt.Sprintf("  %s: %s", header.Name, header.Value))
	}
	res, err := c.roundTrip(req, r) //nolint:bodyclose // the answer has the body; its reader closes it
	if err != nil {
		return nil, nil, err
	}
	out := &answer{Response: h.response(res), body: res.Body}
	out.URL = r.URL.String()
	r.Log(strings.TrimSpace(fmt.Sprintf("← %d %s", out.Status, out.StatusText)))
	var lines []string
	for _, header := range out.Headers {
		r.Log(fmt.Sprintf("  %s: %s", strings.ToLower(header.Name), header.Value))
		if strings.EqualFold(header.Name, "set-cookie") {
			lines = append(lines, header.Value)
		}
	}
	if isRedirect(out.Status) && r.MaxRedirects > 0 && out.get("location") != "" {
		return out, lines, nil
	}
	out.Body, err = c.readBody(res)
	if err != nil {
		return nil, nil, err
	}
	out.Timing = h.timing()
	return out, lines, nil
}

// roundTrip sends a request.
func (c *Client) roundTrip(req *http.Request, r Request) (*http.Response, error) {
	t, err := c.transport(transportKey{proxy: proxyFor(r.Proxy, r.URL), insecure: r.IgnoreHTTPSErrors})
	if err != nil {
		return nil, err
	}
	return t.RoundTrip(req)
}

// request converts r to the request type of net/http.
func (h *hop) request(ctx context.Context, r Request) (*http.Request, error) {
	if !httpguts.ValidHeaderFieldName(r.Method) { // the method and header names must both be tokens
		return nil, &Error{Text: fmt.Sprintf("Method must be a valid HTTP token [%q]", r.Method)}
	}
	ctx = httptrace.WithClientTrace(context.WithValue(ctx, hopKey{}, h), h.trace())
	req := (&http.Request{Method: r.Method, URL: r.URL, Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	req.GetBody = func() (io.ReadCloser, error) {
		if len(r.Body) == 0 {
			return http.NoBody, nil
		}
		return io.NopCloser(bytes.NewReader(r.Body)), nil
	}
	req.Body, _ = req.GetBody() // never fails
	req.ContentLength = int64(len(r.Body))
	for _, header := range r.Headers {
		if !httpguts.ValidHeaderFieldName(header.Name) {
			return nil, &Error{Text: fmt.Sprintf("Header name must be a valid HTTP token [%q]", header.Name)}
		}
		if !httpguts.ValidHeaderFieldValue(header.Value) {
			return nil, &Error{Text: fmt.Sprintf("Invalid character in header content [%q]", header.Name)}
		}
		switch strings.ToLower(header.Name) {
		case "host":
			req.Host = header.Value
		case "user-agent": // net/http adds its own user agent unless this one is set
			req.Header["User-Agent"] = []string{header.Value}
		case "content-length", "transfer-encoding", "connection", "trailer": // the connection sets these itself
		default:
			req.Header[header.Name] = append(req.Header[header.Name], header.Value)
		}
	}
	if _, ok := req.Header["User-Agent"]; !ok {
		req.Header["User-Agent"] = nil // send no user agent
	}
	return req, nil
}

// response reads the head of a response.
func (h *hop) response(res *http.Response) *Response {
	out := &Response{Status: res.StatusCode, Security: h.security(), Timing: h.timing()}
	_, out.StatusText, _ = strings.Cut(res.Status, " ")
	h.mu.Lock()
	conn := h.conn
	out.Server = h.server
	h.mu.Unlock()
	if conn != nil {
		out.Headers = conn.headers()
	}
	if out.Headers == nil {
		for _, name := range slices.Sorted(mapKeys(res.Header)) {
			for _, value := range res.Header[name] {
				out.Headers = append(out.Headers, Header{name, value})
			}
		}
	}
	for i := range out.Headers {
		out.Headers[i].Value = fromLatin1(out.Headers[i].Value)
	}
	return out
}

// fromLatin1 converts the bytes of a header to text. Each byte is one character.
func fromLatin1(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0 {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}

func addrOf(conn net.Conn) (ServerAddr, bool) {
	host, port, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return ServerAddr{}, false
	}
	n, err := strconv.Atoi(port)
	return ServerAddr{IPAddress: host, Port: n}, err == nil
}
