package browser

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"takeover/cdp"
)

// Credentials are a name and a password for servers that ask for them.
type Credentials struct {
	Username, Password string
	Origin             string // such as "https://example.com"; default: any
}

// SetExtraHeaders replaces the headers that are added to every request of the
// context's pages.
func (c *Context) SetExtraHeaders(ctx context.Context, headers map[string]string) error {
	c.browser.mu.Lock()
	c.options.ExtraHeaders = maps.Clone(headers)
	calls := c.browser.callsLocked(c.has, (*attachment).extraHeadersLocked)
	c.browser.mu.Unlock()
	return c.browser.callAll(ctx, calls)
}

// SetExtraHeaders replaces the page's own headers, which override the context's.
func (p *Page) SetExtraHeaders(ctx context.Context, headers map[string]string) error {
	p.browser.mu.Lock()
	p.extraHeaders = maps.Clone(headers)
	calls := p.browser.callsLocked(func(a *attachment) bool { return a.page == p }, (*attachment).extraHeadersLocked)
	p.browser.mu.Unlock()
	return p.browser.callAll(ctx, calls)
}

// ExtraHeaders returns the page's own headers, which override the context's. Do
// not change them.
func (p *Page) ExtraHeaders() map[string]string {
	defer p.locked()()
	return p.extraHeaders
}

// SetOffline disconnects the context's pages from the network, or connects them
// again.
func (c *Context) SetOffline(ctx context.Context, offline bool) error {
	c.browser.mu.Lock()
	c.offline = offline
	calls := c.browser.callsLocked(c.has, (*attachment).offlineLocked)
	c.browser.mu.Unlock()
	return c.browser.callAll(ctx, calls)
}

// Offline reports whether the context's pages are disconnected from the network.
func (c *Context) Offline() bool {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return c.offline
}

// Credentials returns the credentials for servers that ask for them. Do not
// change them.
func (c *Context) Credentials() []Credentials {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return c.credentials
}

// SetCredentials replaces the credentials for servers that ask for them. The
// first one that matches the origin is used.
func (c *Context) SetCredentials(ctx context.Context, list []Credentials) error {
	c.browser.mu.Lock()
	c.credentials = slices.Clone(list)
	c.browser.mu.Unlock()
	return c.browser.updateInterception(ctx, c.has)
}

// callsLocked returns a command for each of the matching sessions.
func (b *Browser) callsLocked(of func(*attachment) bool, call func(*attachment) sessionCall) []sessionCall {
	var calls []sessionCall
	for _, a := range b.attachments {
		if of(a) {
			calls = append(calls, call(a))
		}
	}
	return calls
}

// setUpNetworkLocked sends a new session the commands that apply the context's
// network settings.
func (a *attachment) setUpNetworkLocked() {
	c := a.page.context
	a.browser.send(cdp.Send(a.session, network.Enable, network.EnableParams{}))
	calls := a.interceptionLocked()
	if len(c.options.ExtraHeaders)+len(a.page.extraHeaders) > 0 {
		calls = append(calls, a.extraHeadersLocked())
	}
	if c.offline {
		calls = append(calls, a.offlineLocked())
	}
	for _, call := range calls {
		a.browser.send(call.session.Send(call.method, call.params))
	}
}

func (a *attachment) extraHeadersLocked() sessionCall {
	headers := network.Headers{}
	names := map[string]string{} // original spelling by lower case
	for _, list := range []map[string]string{a.page.context.options.ExtraHeaders, a.page.extraHeaders} {
		for name, value := range list {
			if before, ok := names[strings.ToLower(name)]; ok {
				delete(headers, before)
			}
			names[strings.ToLower(name)] = name
			headers[name] = value
		}
	}
	return sessionCall{a.session, network.SetExtraHTTPHeaders.Method, network.SetExtraHTTPHeadersParams{Headers: headers}}
}

// networkConditions are the parameters of Network.emulateNetworkConditions, which
// cdproto no longer has. The command that replaces it does not change
// navigator.onLine.
type networkConditions struct {
	Offline            bool    `json:"offline"`
	Latency            float64 `json:"latency"`
	DownloadThroughput float64 `json:"downloadThroughput"` // -1 for no limit
	UploadThroughput   float64 `json:"uploadThroughput"`
}

func (a *attachment) offlineLocked() sessionCall {
	return sessionCall{a.session, "Network.emulateNetworkConditions", networkConditions{
		Offline: a.page.context.offline, DownloadThroughput: -1, UploadThroughput: -1,
	}}
}

// authRequired holds the needed fields of Fetch.authRequired.
type authRequired struct {
	RequestID fetch.RequestID `json:"requestId"`
	Request   struct {
		URL string `json:"url"`
	} `json:"request"`
	Challenge struct {
		Source string `json:"source"` // "Server" or "Proxy"
		Origin string `json:"origin"`
	} `json:"authChallenge"`
}

// authRequiredLocked answers a server that asks for credentials. Wrong
// credentials are not sent again.
func (a *attachment) authRequiredLocked(e authRequired) {
	p := a.page
	response := &fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseDefault}
	credentials := p.context.credentialsLocked(e.Request.URL)
	if credentials == nil {
		credentials = p.loginLocked(e)
	}
	switch {
	case slices.Contains(p.challenged, e.RequestID):
		response.Response = fetch.AuthChallengeResponseResponseCancelAuth
	case credentials != nil:
		if p.challenged = append(p.challenged, e.RequestID); len(p.challenged) > keptRequests {
			p.challenged = p.challenged[1:]
		}
		response.Response = fetch.AuthChallengeResponseResponseProvideCredentials
		response.Username, response.Password = credentials.Username, credentials.Password
	}
	a.browser.send(cdp.Send(a.session, fetch.ContinueWithAuth, fetch.ContinueWithAuthParams{
		RequestID: e.RequestID, AuthChallengeResponse: response,
	}))
}

// credentialsLocked returns the credentials for a URL, or nil.
func (c *Context) credentialsLocked(text string) *Credentials {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	for i := range c.credentials {
		origin := strings.TrimSuffix(c.credentials[i].Origin, "/")
		if origin == "" || strings.EqualFold(origin, u.Scheme+"://"+u.Host) {
			return &c.credentials[i]
		}
	}
	return nil
}
