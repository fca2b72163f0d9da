package automation

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/storage"

	"takeover/browser"
	"takeover/fetch"
)

// maxExpires is the latest expiry time of a cookie: the last second of the year
// 9999.
const maxExpires = 253402300799

// contextOperations act on a browser context. {context} is its id; default: the
// client's own. Settings in a context that the client did not open are undone
// when the client ends.
var contextOperations = table{
	"context.setGeolocation":   op(true, opSetGeolocation),   // {context,geolocation:{latitude,longitude,accuracy}}
	"context.grantPermissions": op(true, opGrantPermissions), // {context,permissions,origin}
	"context.clearPermissions": op(true, opClearPermissions), // {context}
	"context.storageState":     op(false, opStorageState),    // {context,indexedDB,opfs} → {cookies,origins}
	"context.setStorageState":  op(true, opSetStorageState),  // {context,state,initial}; initial adds to the existing state
	// {page,media,colorScheme,reducedMotion,forcedColors,contrast}; for each but
	// page, "no-override" ends the override.
	"page.emulateMedia": op(true, opEmulateMedia),

	"context.cookies":      op(false, opCookies),     // {context,urls} → {cookies}
	"context.addCookies":   op(true, opAddCookies),   // {context,cookies:[{name,value,url|domain,path,…}]}
	"context.clearCookies": op(true, opClearCookies), // {context,cookies}: those of the list, or all
}

// wireCookie is a cookie with Chromium's field names. cdproto's own types lose
// values that are empty or zero.
type wireCookie struct {
	Name         string     `json:"name"`
	Value        string     `json:"value"`
	Domain       string     `json:"domain,omitempty"`
	Path         string     `json:"path,omitempty"`
	Expires      *float64   `json:"expires,omitempty"`
	HTTPOnly     bool       `json:"httpOnly"`
	Secure       bool       `json:"secure"`
	SameSite     string     `json:"sameSite,omitempty"`
	PartitionKey *partition `json:"partitionKey,omitempty"`
}

type partition struct {
	TopLevelSite         string `json:"topLevelSite"`
	HasCrossSiteAncestor bool   `json:"hasCrossSiteAncestor"`
}

type wireCookies struct {
	Cookies []wireCookie `json:"cookies"`
	Context string       `json:"browserContextId,omitempty"`
}

// readCookies returns all cookies of a context.
func readCookies(ctx context.Context, bc *browser.Context) ([]wireCookie, error) {
	var res wireCookies
	err := bc.Browser().Session().Call(ctx, storage.GetCookies.Method, map[string]string{"browserContextId": bc.ID()}, &res)
	return res.Cookies, err
}

func writeCookies(ctx context.Context, bc *browser.Context, cookies []wireCookie) error {
	return bc.Browser().Session().Call(ctx, storage.SetCookies.Method, wireCookies{Cookies: cookies, Context: bc.ID()}, nil)
}

// plain returns the cookie as scripts see it.
func (w wireCookie) plain() fetch.Cookie {
	c := fetch.Cookie{
		Name: w.Name, Value: w.Value, Domain: w.Domain, Path: w.Path, Expires: -1,
		HTTPOnly: w.HTTPOnly, Secure: w.Secure, SameSite: cmp.Or(w.SameSite, "Lax"), // Chromium treats a missing SameSite as Lax
	}
	if w.Expires != nil {
		c.Expires = *w.Expires
	}
	if w.PartitionKey != nil {
		c.PartitionKey, c.CrossSiteAncestor = w.PartitionKey.TopLevelSite, new(w.PartitionKey.HasCrossSiteAncestor)
	}
	return c
}

// newCookieOf returns a stored cookie as one to add.
func newCookieOf(c fetch.Cookie) newCookie {
	n := newCookie{
		Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, HTTPOnly: c.HTTPOnly, Secure: new(c.Secure), SameSite: c.SameSite,
		PartitionKey: c.PartitionKey, CrossSiteAncestor: c.CrossSiteAncestor,
	}
	if c.Expires >= 0 {
		n.Expires = new(c.Expires)
	}
	return n
}

// newCookie is a cookie that a script adds.
type newCookie struct {
	Name         string   `json:"name"`
	Value        string   `json:"value"`
	URL          string   `json:"url"`
	Domain       string   `json:"domain"`
	Path         string   `json:"path"`
	Expires      *float64 `json:"expires"`
	HTTPOnly     bool     `json:"httpOnly"`
	Secure       *bool    `json:"secure"`
	SameSite     string   `json:"sameSite"`
	PartitionKey string   `json:"partitionKey"`

	CrossSiteAncestor *bool `json:"_crHasCrossSiteAncestor"` // default true
}

// wire converts a cookie to Chromium's form, or returns Playwright's error for it.
func (c newCookie) wire() (wireCookie, error) {
	w := wireCookie{
		Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, HTTPOnly: c.HTTPOnly, SameSite: c.SameSite,
		Expires: c.Expires, Secure: c.Secure != nil && *c.Secure,
	}
	if c.PartitionKey != "" {
		w.PartitionKey = &partition{TopLevelSite: c.PartitionKey, HasCrossSiteAncestor: c.CrossSiteAncestor == nil || *c.CrossSiteAncestor}
	}
	switch {
	case c.URL == "" && (c.Domain == "" || c.Path == ""):
		return w, errorf("Cookie should have a url or a domain/path pair")
	case c.URL != "" && c.Domain != "":
		return w, errorf("Cookie should have either url or domain")
	case c.URL != "" && c.Path != "":
		return w, errorf("Cookie should have either url or path")
	case c.Expires != nil && (*c.Expires < 0 && *c.Expires != -1 || *c.Expires > maxExpires):
		return w, errorf("Cookie should have a valid expires, only -1 or a positive number for the unix timestamp in seconds is allowed")
	}
	if c.URL == "" {
		return w, nil
	}
	switch {
	case c.URL == "about:blank":
		return w, errorf("Blank page can not have cookie %q", c.Name)
	case strings.HasPrefix(c.URL, "data:"):
		return w, errorf("Data URL page can not have cookie %q", c.Name)
	}
	u, err := fetch.ParseURL(nil, c.URL)
	if err != nil {
		return w, errorf("%v", err)
	}
	path := u.EscapedPath()
	w.Domain, w.Path = u.Hostname(), path[:strings.LastIndexByte(path, '/')+1]
	w.Secure = u.Scheme == "https"
	return w, nil
}

type addCookiesParams struct {
	Context string      `json:"context"`
	Cookies []newCookie `json:"cookies"`
}

func opAddCookies(ctx context.Context, c *Client, p *addCookiesParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	return emptyJSON, addCookies(ctx, bc, p.Cookies)
}

// addCookies adds cookies to a context, all or none.
func addCookies(ctx context.Context, bc *browser.Context, given []newCookie) (err error) {
	cookies := make([]wireCookie, len(given))
	for i, cookie := range given {
		if cookies[i], err = cookie.wire(); err != nil {
			return err
		}
	}
	if len(cookies) == 0 {
		return nil
	}
	return writeCookies(ctx, bc, cookies)
}

type cookiesParams struct {
	Context string   `json:"context"`
	URLs    []string `json:"urls"`
}

func opCookies(ctx context.Context, c *Client, p *cookiesParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	list, err := readCookies(ctx, bc)
	if err != nil {
		return nil, err
	}
	cookies := make([]fetch.Cookie, len(list))
	for i, w := range list {
		cookies[i] = w.plain()
	}
	return forURLs(cookies, p.URLs)
}

// forURLs returns the cookies for requests to any of the URLs, or all cookies if
// urls is empty.
func forURLs(cookies []fetch.Cookie, urls []string) (any, error) {
	if len(urls) > 0 {
		parsed := make([]*url.URL, len(urls))
		for i, text := range urls {
			u, err := fetch.ParseURL(nil, text)
			if err != nil {
				return nil, errorf("%v", err)
			}
			parsed[i] = u
		}
		cookies = slices.DeleteFunc(cookies, func(c fetch.Cookie) bool { return !slices.ContainsFunc(parsed, c.Matches) })
	}
	if cookies == nil {
		cookies = []fetch.Cookie{}
	}
	return map[string]any{"cookies": cookies}, nil
}

type clearCookiesParams struct {
	Context string          `json:"context"`
	Cookies *[]fetch.Cookie `json:"cookies"`
}

// same reports whether one cookie replaces the other.
func same(a, b fetch.Cookie) bool {
	return a.Name == b.Name && a.Domain == b.Domain && a.Path == b.Path && a.PartitionKey == b.PartitionKey &&
		(a.CrossSiteAncestor == nil || *a.CrossSiteAncestor) == (b.CrossSiteAncestor == nil || *b.CrossSiteAncestor)
}

// among returns a function that reports whether a cookie is in a list. A nil list
// contains all cookies.
func among(list *[]fetch.Cookie) func(fetch.Cookie) bool {
	return func(c fetch.Cookie) bool {
		return list == nil || slices.ContainsFunc(*list, func(o fetch.Cookie) bool { return same(c, o) })
	}
}

// opClearCookies removes cookies by letting them expire, so that other cookies
// stay unchanged.
func opClearCookies(ctx context.Context, c *Client, p *clearCookiesParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	if p.Cookies == nil {
		return emptyJSON, bc.Browser().Session().Call(ctx, storage.ClearCookies.Method, map[string]string{"browserContextId": bc.ID()}, nil)
	}
	list, err := readCookies(ctx, bc)
	if err != nil {
		return nil, err
	}
	wanted := among(p.Cookies)
	list = slices.DeleteFunc(list, func(w wireCookie) bool { return !wanted(w.plain()) })
	for i := range list {
		list[i].Expires = new(float64(1)) // in the past
	}
	if len(list) == 0 {
		return emptyJSON, nil
	}
	return emptyJSON, writeCookies(ctx, bc, list)
}

// contextJar is a browser context's cookies.
type contextJar struct{ context *browser.Context }

// Cookies returns the cookies for a URL.
func (j contextJar) Cookies(ctx context.Context, u *url.URL) ([]fetch.Cookie, error) {
	list, err := readCookies(ctx, j.context)
	if err != nil {
		return nil, err
	}
	var cookies []fetch.Cookie
	for _, w := range list {
		if c := w.plain(); c.Matches(u) {
			cookies = append(cookies, c)
		}
	}
	return cookies, nil
}

// SetCookies adds cookies to the browser. Chromium refuses all of them if it
// refuses one; then they are added one by one.
func (j contextJar) SetCookies(ctx context.Context, cookies []fetch.Cookie) error {
	list := make([]wireCookie, len(cookies))
	for i, c := range cookies {
		expires := max(c.Expires, -1)
		if expires == 0 {
			expires = 1 // 0 would make it a session cookie
		}
		list[i] = wireCookie{
			Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: &expires,
			HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: c.SameSite,
		}
	}
	err := writeCookies(ctx, j.context, list)
	if !refused(err) || len(list) == 1 {
		return ignoreRefusal(err)
	}
	for _, w := range list {
		if err := ignoreRefusal(writeCookies(ctx, j.context, []wireCookie{w})); err != nil {
			return err
		}
	}
	return nil
}

func ignoreRefusal(err error) error {
	if refused(err) {
		return nil
	}
	return err
}

type requestCookiesParams struct {
	Request string      `json:"request"`
	URLs    []string    `json:"urls"`
	Cookies []newCookie `json:"cookies"`
}

func opRequestCookies(_ context.Context, c *Client, p *requestCookiesParams) (any, error) {
	rc, err := c.requestContext(p.Request)
	if err != nil {
		return nil, err
	}
	return forURLs(rc.jar.All(), p.URLs)
}

func opAddRequestCookies(ctx context.Context, c *Client, p *requestCookiesParams) (any, error) {
	rc, err := c.requestContext(p.Request)
	if err != nil {
		return nil, err
	}
	cookies := make([]fetch.Cookie, len(p.Cookies))
	for i, n := range p.Cookies {
		w, err := n.wire()
		if err != nil {
			return nil, err
		}
		cookies[i] = w.plain()
	}
	return emptyJSON, rc.jar.SetCookies(ctx, cookies)
}

type clearRequestCookiesParams struct {
	Request string          `json:"request"`
	Cookies *[]fetch.Cookie `json:"cookies"`
}

func opClearRequestCookies(_ context.Context, c *Client, p *clearRequestCookiesParams) (any, error) {
	rc, err := c.requestContext(p.Request)
	if err != nil {
		return nil, err
	}
	rc.jar.Remove(among(p.Cookies))
	return emptyJSON, nil
}

func (c *Client) requestContext(id string) (*requestContext, error) {
	rc, err := lookup[*requestContext](c, "request", id)
	if err != nil {
		return nil, &Error{Name: nameTargetClosed, Message: textTargetClosed}
	}
	return rc, nil
}
