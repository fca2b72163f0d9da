package automation

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"takeover/browser"
	"takeover/fetch"
)

const (
	// inlineBody is the largest body, in bytes, that is sent with its response.
	// Larger bodies are kept for api.body until the script disposes of them.
	inlineBody = 256 << 10

	// maxKeptBodies bounds the bodies that are kept for one client, in bytes.
	maxKeptBodies = 128 << 20

	// maxRequestBody bounds the body of a request, in bytes.
	maxRequestBody = 64 << 20

	// maxFetchLog bounds the log of one request and its redirects, in bytes.
	maxFetchLog = 1 << 20

	// maxRequestContexts bounds the request contexts of a client.
	maxRequestContexts = 200

	// plainAgent is the user agent of requests without a context.
	plainAgent = "node"

	// shownBody bounds how much of a body an error quotes, in characters.
	shownBody = 1000
)

// apiOperations are requests outside the pages.
var apiOperations = table{
	// {context|request,url,method,headers:[{name,value}],body(base64),timeout,maxRedirects,maxRetries,failOnStatusCode,ignoreHTTPSErrors,credentials}
	// → {url,status,statusText,headers,serverAddr,securityDetails,timing,log,
	// body(base64) or response for api.body}. Cookies are read from and stored in
	// the context. The context's user agent and extra headers apply unless the
	// request sets its own.
	"api.fetch":           op(false, opFetch),
	"api.body":            op(false, opResponseBody),          // {response} → {body(base64)}
	"api.disposeResponse": op(false, opDisposeResponse),       // {response}
	"api.newContext":      op(false, opNewRequestContext),     // {userAgent,headers,ignoreHTTPSErrors,credentials,proxy,cookies} → {request}
	"api.dispose":         op(false, opDisposeRequestContext), // {request}
	"api.cookies":         op(false, opRequestCookies),        // {request,urls} → {cookies}
	"api.addCookies":      op(false, opAddRequestCookies),     // {request,cookies}
	"api.clearCookies":    op(false, opClearRequestCookies),   // {request,cookies}: those in the list, or all
}

// requests holds what a client needs to make requests outside its pages:
// connections, request contexts, and the bodies that are kept for api.body.
type requests struct {
	client *fetch.Client

	mu       sync.Mutex // guards what follows
	bodies   map[string][]byte
	kept     int // bytes of kept bodies
	contexts int
	last     int // number of the newest body
}

// requestContext is the result of playwright.request.newContext: requests with
// cookies and defaults of their own.
type requestContext struct {
	newRequestContext
	jar fetch.Memory
}

type newRequestContext struct {
	UserAgent         string              `json:"userAgent"`
	Headers           []fetch.Header      `json:"headers"`
	IgnoreHTTPSErrors bool                `json:"ignoreHTTPSErrors"`
	Credentials       []fetch.Credentials `json:"credentials"`
	Proxy             *proxyParams        `json:"proxy"`
	Cookies           []fetch.Cookie      `json:"cookies"`
}

// proxyParams is a proxy in a script's options.
type proxyParams struct {
	Server   string `json:"server"`
	Bypass   string `json:"bypass"`
	Username string `json:"username"`
	Password string `json:"password"`
}

// requests returns the client's requests. The first call creates them.
func (c *Client) requests() (*requests, error) {
	return c.network.requests(func() *requests {
		return &requests{
			client: fetch.NewClient(fetch.Options{
				CheckURL: c.automation.options.CheckURL, CheckBehind: c.automation.options.CheckBehind, Dial: c.automation.options.Dial, DialProxy: c.automation.options.DialProxy,
			}),
			bodies: map[string][]byte{},
		}
	})
}

func opNewRequestContext(_ context.Context, c *Client, p *newRequestContext) (any, error) {
	rc := &requestContext{newRequestContext: *p}
	if _, err := c.proxy(p.Proxy); err != nil {
		return nil, err
	}
	if err := rc.jar.SetCookies(context.Background(), p.Cookies); err != nil {
		return nil, err
	}
	api, err := c.requests()
	if err != nil {
		return nil, err
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	if api.contexts >= maxRequestContexts {
		return nil, errorf("a script may have %d request contexts; dispose() of some first", maxRequestContexts)
	}
	api.contexts++
	return map[string]string{"request": c.idOf("request", rc)}, nil
}

type requestContextParams struct {
	Request string `json:"request"`
}

func opDisposeRequestContext(_ context.Context, c *Client, p *requestContextParams) (any, error) {
	api, err := c.requests()
	if err != nil {
		return nil, err
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	if rc, err := lookup[*requestContext](c, "request", p.Request); err == nil {
		c.forget(rc)
		api.contexts--
	}
	return emptyJSON, nil
}

type fetchParams struct {
	Context           string              `json:"context"` // source of cookies, headers and user agent; default: the client's
	Request           string              `json:"request"` // a request context, instead of a browser context
	Plain             bool                `json:"plain"`   // without cookies and without the browser's user agent
	URL               string              `json:"url"`
	Method            string              `json:"method"`
	Headers           []fetch.Header      `json:"headers"`
	Body              []byte              `json:"body"`
	Timeout           float64             `json:"timeout"`
	MaxRedirects      *int                `json:"maxRedirects"`
	MaxRetries        int                 `json:"maxRetries"`
	FailOnStatusCode  bool                `json:"failOnStatusCode"`
	IgnoreHTTPSErrors bool                `json:"ignoreHTTPSErrors"`
	Credentials       []fetch.Credentials `json:"credentials"` // take precedence over those of the request context
}

type fetchResult struct {
	URL        string            `json:"url"`
	Status     int               `json:"status"`
	StatusText string            `json:"statusText"`
	Headers    []fetch.Header    `json:"headers"`
	Server     *fetch.ServerAddr `json:"serverAddr"`
	Security   *fetch.Security   `json:"securityDetails"`
	Timing     fetch.Timing      `json:"timing"`
	Body       *string           `json:"body,omitempty"`     // base64, or
	Response   string            `json:"response,omitempty"` // what api.body takes
	Log        []string          `json:"log"`
}

// opFetch makes a request. Options.CheckURL applies to each address that it
// connects to.
func opFetch(ctx context.Context, c *Client, f *fetchParams) (any, error) {
	api, err := c.requests()
	if err != nil {
		return nil, err
	}
	if len(f.Body) > maxRequestBody {
		return nil, errorf("the body of the request is larger than %d bytes, the most that is sent from here", maxRequestBody)
	}
	r, err := c.fetchRequest(f)
	if err != nil {
		return nil, err
	}
	p, cancel := c.begin(ctx, f.Timeout, false)
	defer cancel()
	room := maxFetchLog
	r.Log = func(line string) {
		if room -= len(line); room >= 0 {
			p.log = append(p.log, line)
		}
	}
	res, err := api.client.Do(p, r)
	if err != nil {
		return nil, p.fail(err)
	}
	if f.FailOnStatusCode && (res.Status < 200 || res.Status >= 400) {
		return nil, p.fail(errorf("%d %s%s", res.Status, res.StatusText, quoted(res.Body)))
	}
	out := fetchResult{
		URL: res.URL, Status: res.Status, StatusText: res.StatusText, Headers: res.Headers,
		Server: res.Server, Security: res.Security, Timing: res.Timing, Log: p.log,
	}
	if len(res.Body) <= inlineBody {
		out.Body = new(base64.StdEncoding.EncodeToString(res.Body))
		return out, nil
	}
	out.Response, err = c.keepBody(api, res.Body)
	return out, err
}

// quoted shortens a body for an error message.
func quoted(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	text := string(body[:min(len(body), shownBody*utf8.UTFMax+1)])
	if utf8.RuneCountInString(text) > shownBody {
		text = string([]rune(text)[:shownBody-3]) + "..."
	}
	return "\nResponse text:\n" + text
}

// fetchRequest applies the context's defaults to a script's request.
func (c *Client) fetchRequest(f *fetchParams) (fetch.Request, error) {
	r := fetch.Request{
		Method: cmp.Or(f.Method, "GET"), Body: f.Body, MaxRetries: f.MaxRetries,
		MaxRedirects: fetch.DefaultMaxRedirects, IgnoreHTTPSErrors: f.IgnoreHTTPSErrors,
	}
	if f.MaxRedirects != nil {
		r.MaxRedirects = *f.MaxRedirects
	}
	var err error
	if r.URL, err = fetch.ParseURL(nil, f.URL); err != nil {
		return r, errorf("%v", err)
	}
	var agent string
	var extra []fetch.Header
	switch {
	case f.Plain:
		agent = plainAgent
		if r.Proxy, err = c.proxy(nil); err != nil {
			return r, err
		}
	case f.Request != "":
		rc, err := c.requestContext(f.Request)
		if err != nil {
			return r, err
		}
		agent, extra = rc.UserAgent, rc.Headers
		r.Jar, r.Credentials = &rc.jar, append(f.Credentials, rc.Credentials...)
		r.IgnoreHTTPSErrors = r.IgnoreHTTPSErrors || rc.IgnoreHTTPSErrors
		if r.Proxy, err = c.proxy(rc.Proxy); err != nil {
			return r, err
		}
	default:
		bc, err := c.contextOf(f.Context)
		if err != nil {
			return r, err
		}
		o := bc.Options()
		agent = o.UserAgent
		for _, name := range slices.Sorted(maps.Keys(o.ExtraHeaders)) {
			extra = append(extra, fetch.Header{Name: name, Value: o.ExtraHeaders[name]})
		}
		r.Jar, r.Credentials = contextJar{bc}, f.Credentials
		if r.Proxy, err = c.proxyOf(bc); err != nil {
			return r, err
		}
	}
	r.Headers = fetch.Merge([]fetch.Header{
		{Name: "user-agent", Value: cmp.Or(agent, c.automation.browser.UserAgent())},
		{Name: "accept", Value: "*/*"},
		{Name: "accept-encoding", Value: "gzip,deflate,br"},
	}, extra, f.Headers)
	return r, nil
}

// proxy parses a script's proxy. Without one, it returns the browser's.
func (c *Client) proxy(p *proxyParams) (*fetch.Proxy, error) {
	if p == nil {
		return serverProxy(c.automation.options.Proxy)
	}
	return scriptProxy(p)
}

// proxyOf returns the proxy of a context's pages, or nil.
func (c *Client) proxyOf(bc *browser.Context) (*fetch.Proxy, error) {
	c.mu.Lock()
	own := c.proxies[bc]
	c.mu.Unlock()
	if own != nil {
		return own, nil
	}
	return serverProxy(c.automation.options.Proxy)
}

func serverProxy(server string) (*fetch.Proxy, error) {
	if server == "" {
		return nil, nil //nolint:nilnil // nil means no proxy
	}
	return scriptProxy(&proxyParams{Server: server})
}

func (c *Client) keepBody(api *requests, body []byte) (string, error) {
	api.mu.Lock()
	defer api.mu.Unlock()
	if api.kept+len(body) > maxKeptBodies {
		return "", errorf("the bodies of responses kept here would take more than %d bytes: dispose() of those that are not needed any more", maxKeptBodies)
	}
	api.kept += len(body)
	api.last++
	id := fmt.Sprintf("response@%d", api.last)
	api.bodies[id] = body
	return id, nil
}

type responseParams struct {
	Response string `json:"response"`
}

func opResponseBody(ctx context.Context, c *Client, p *responseParams) (any, error) {
	api, err := c.requests()
	if err != nil {
		return nil, err
	}
	end, err := c.lockLarge(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	api.mu.Lock()
	body, ok := api.bodies[p.Response]
	api.mu.Unlock()
	if !ok {
		return nil, errorf("Response has been disposed")
	}
	return map[string]string{"body": base64.StdEncoding.EncodeToString(body)}, nil
}

func opDisposeResponse(_ context.Context, c *Client, p *responseParams) (any, error) {
	api, err := c.requests()
	if err != nil {
		return nil, err
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	api.kept -= len(api.bodies[p.Response])
	delete(api.bodies, p.Response)
	return emptyJSON, nil
}

// scriptProxy parses a proxy's address; "host:port" means http.
func scriptProxy(p *proxyParams) (*fetch.Proxy, error) {
	u, err := url.Parse(p.Server)
	if err != nil || u.Host == "" {
		u, err = url.Parse("http://" + p.Server)
	}
	if err != nil || u.Host == "" {
		return nil, errorf("Invalid URL")
	}
	switch u.Scheme {
	case "http", "https", "socks5":
	default:
		return nil, errorf("proxy: %s: is not supported here, use http, https or socks5", u.Scheme)
	}
	out := &fetch.Proxy{Server: u, Username: p.Username, Password: p.Password}
	if p.Bypass != "" {
		out.Bypass = strings.Split(p.Bypass, ",")
	}
	return out, nil
}
