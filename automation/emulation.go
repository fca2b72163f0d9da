package automation

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"takeover/browser"
)

// emulationOperations are the operations of this file.
var emulationOperations = table{
	// newContextParams → {context}: opens an incognito context, which
	// context.close or the client's end closes.
	"browser.newContext":   op(true, opNewContext),
	"page.setViewportSize": op(true, opSetViewport),
}

type newContextParams struct {
	Viewport            *size                `json:"viewport"`
	NoViewport          bool                 `json:"noViewport"` // pages are as large as the window
	Screen              *size                `json:"screen"`
	DeviceScaleFactor   float64              `json:"deviceScaleFactor"`
	IsMobile            bool                 `json:"isMobile"`
	HasTouch            bool                 `json:"hasTouch"`
	UserAgent           string               `json:"userAgent"`
	Locale              string               `json:"locale"`
	Timezone            string               `json:"timezoneId"`
	ExtraHeaders        map[string]string    `json:"extraHTTPHeaders"`
	Geolocation         *browser.Geolocation `json:"geolocation"`
	Permissions         []string             `json:"permissions"`
	ColorScheme         *string              `json:"colorScheme"` // for this and the next three, "no-override" keeps the browser's value; default: Playwright's
	ReducedMotion       *string              `json:"reducedMotion"`
	ForcedColors        *string              `json:"forcedColors"`
	Contrast            *string              `json:"contrast"`
	BypassCSP           bool                 `json:"bypassCSP"`
	IgnoreHTTPSErrors   bool                 `json:"ignoreHTTPSErrors"`
	JavaScriptDisabled  bool                 `json:"javaScriptDisabled"`
	BlockServiceWorkers bool                 `json:"blockServiceWorkers"`
	RefuseDownloads     bool                 `json:"refuseDownloads"`
	Proxy               *proxyParams         `json:"proxy"`
}

type size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// maxContexts bounds the contexts that a client opens.
const maxContexts = 100

// opNewContext opens an incognito context, which ends with the client.
func opNewContext(ctx context.Context, c *Client, p *newContextParams) (any, error) {
	c.mu.Lock()
	many := len(c.own) >= maxContexts
	c.mu.Unlock()
	if many {
		return nil, errorf("a script may have %d contexts of its own; close some first", maxContexts)
	}
	o, err := c.contextOptions(p)
	if err != nil {
		return nil, err
	}
	bc, err := c.automation.browser.NewContext(ctx, o)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.contexts[bc] = true
	c.own = append(c.own, bc)
	if p.Proxy != nil {
		c.proxies[bc], _ = scriptProxy(p.Proxy) // contextOptions has parsed it
	}
	c.mu.Unlock()
	if len(p.Permissions) > 0 {
		if err := c.automation.grants.add(ctx, c, grantKey{bc, ""}, p.Permissions); err != nil {
			return nil, err
		}
	}
	return map[string]string{"context": c.idOf("context", bc)}, nil
}

func (c *Client) contextOptions(p *newContextParams) (browser.ContextOptions, error) {
	o := browser.ContextOptions{
		UserAgent: p.UserAgent, Locale: p.Locale, Timezone: p.Timezone, ExtraHeaders: p.ExtraHeaders,
		Geolocation: p.Geolocation, BypassCSP: p.BypassCSP, IgnoreHTTPSErrors: p.IgnoreHTTPSErrors,
		JavaScriptDisabled: p.JavaScriptDisabled, BlockServiceWorkers: p.BlockServiceWorkers, RefuseDownloads: p.RefuseDownloads,
		Media: browser.Media{ColorScheme: "light", ReducedMotion: "no-preference", ForcedColors: "none", Contrast: "no-preference"},
	}
	if err := (&mediaParams{ColorScheme: p.ColorScheme, ReducedMotion: p.ReducedMotion, ForcedColors: p.ForcedColors, Contrast: p.Contrast}).over(&o.Media); err != nil {
		return o, err
	}
	if err := checkGeolocation(p.Geolocation); err != nil {
		return o, err
	}
	if err := p.viewport(&o, c.automation.browser.DefaultContext().Options().Viewport); err != nil {
		return o, err
	}
	if p.Proxy == nil {
		return o, nil
	}
	return o, c.contextProxy(p.Proxy, &o)
}

// contextProxy makes a context's pages use a proxy.
func (c *Client) contextProxy(p *proxyParams, o *browser.ContextOptions) error {
	proxy, err := scriptProxy(p)
	if err != nil {
		return err
	}
	if check := c.automation.options.CheckURL; check != nil {
		if err := check(proxy.Server); err != nil {
			return &Error{Name: nameError, Message: err.Error(), cause: err}
		}
	}
	if open := c.automation.options.OpenProxy; open != nil {
		server := *proxy.Server
		if p.Username != "" {
			server.User = url.UserPassword(p.Username, p.Password)
		}
		address, end, err := open(&server, proxy.Bypass)
		o.ProxyServer, o.ProxyBypass, o.Closed = "http://"+address, "<-loopback>", end
		return err
	}
	if p.Username != "" {
		return errorf("proxy: this version does not answer a proxy that asks for a password")
	}
	// Without the last entry, Chromium would bypass the proxy for this machine.
	o.ProxyServer, o.ProxyBypass = proxy.Server.Scheme+"://"+proxy.Server.Host, strings.Join(append(proxy.Bypass, "<-loopback>"), ",")
	return nil
}

// viewport sets the viewport of the context's pages. If the script sets nothing, it
// is usual. If the script sets something other than the size, only the size is
// taken from usual.
func (p *newContextParams) viewport(o *browser.ContextOptions, usual *browser.Viewport) error {
	v := browser.Viewport{}
	if usual != nil {
		v = *usual
	}
	switch {
	case p.NoViewport && p.DeviceScaleFactor != 0:
		return errorf(`"deviceScaleFactor" option is not supported with null "viewport"`)
	case p.NoViewport && p.IsMobile:
		return errorf(`"isMobile" option is not supported with null "viewport"`)
	case p.NoViewport:
		v = browser.Viewport{HasTouch: p.HasTouch}
	case p.Viewport != nil || p.DeviceScaleFactor != 0 || p.IsMobile || p.HasTouch || p.Screen != nil || usual == nil:
		v = browser.Viewport{Width: v.Width, Height: v.Height, DeviceScaleFactor: p.DeviceScaleFactor, IsMobile: p.IsMobile, HasTouch: p.HasTouch}
		if p.Viewport != nil {
			v.Width, v.Height = p.Viewport.Width, p.Viewport.Height
		} else if v.Width == 0 {
			v.Width, v.Height = defaultWidth, defaultHeight
		}
		if p.Screen != nil {
			v.Screen = browser.Size(*p.Screen)
		}
	}
	o.Viewport = &v
	return nil
}

// defaultWidth and defaultHeight are Playwright's defaults.
const defaultWidth, defaultHeight = 1280, 720

// noOverride ends an emulation.
const noOverride = "no-override"

type mediaParams struct {
	Page          string  `json:"page"`
	Media         *string `json:"media"` // for each of these, absent leaves it unchanged and "no-override" ends the override
	ColorScheme   *string `json:"colorScheme"`
	ReducedMotion *string `json:"reducedMotion"`
	ForcedColors  *string `json:"forcedColors"`
	Contrast      *string `json:"contrast"`
}

// over applies the given values to m.
func (p *mediaParams) over(m *browser.Media) error {
	for _, f := range []struct {
		name  string
		value *string
		into  *string
		known []string
	}{
		{"media", p.Media, &m.Media, []string{"screen", "print"}},
		{"colorScheme", p.ColorScheme, &m.ColorScheme, []string{"dark", "light", "no-preference"}},
		{"reducedMotion", p.ReducedMotion, &m.ReducedMotion, []string{"reduce", "no-preference"}},
		{"forcedColors", p.ForcedColors, &m.ForcedColors, []string{"active", "none"}},
		{"contrast", p.Contrast, &m.Contrast, []string{"no-preference", "more"}},
	} {
		switch {
		case f.value == nil:
		case *f.value == noOverride:
			*f.into = ""
		case !slices.Contains(f.known, *f.value):
			return errorf("%s: expected one of (%s)", f.name, strings.Join(append(f.known, noOverride), "|"))
		default:
			*f.into = *f.value
		}
	}
	return nil
}

func opEmulateMedia(ctx context.Context, c *Client, p *mediaParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	before := page.Media()
	m := before
	if err := p.over(&m); err != nil {
		return nil, err
	}
	c.undo(page.Context(), "media", page, func(ctx context.Context) error { return page.SetMedia(ctx, before) })
	return emptyJSON, page.SetMedia(ctx, m)
}

func opSetViewport(ctx context.Context, c *Client, p *viewportParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	before := page.Viewport()
	usual := page.Context().Options().Viewport
	c.undo(page.Context(), "viewport", page, func(ctx context.Context) error {
		if now := page.Context().Options().Viewport; now != usual { // the context was resized meanwhile
			before = *now
		}
		return page.SetViewport(ctx, before)
	})
	return emptyJSON, page.SetViewport(ctx, before.Sized(browser.Size{Width: p.Width, Height: p.Height}))
}

type geolocationParams struct {
	Context     string               `json:"context"`
	Geolocation *browser.Geolocation `json:"geolocation"` // absent makes the position unknown
}

func opSetGeolocation(ctx context.Context, c *Client, p *geolocationParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	if err := checkGeolocation(p.Geolocation); err != nil {
		return nil, err
	}
	before := bc.Options().Geolocation
	c.undo(bc, "geolocation", bc, func(ctx context.Context) error { return bc.SetGeolocation(ctx, before) })
	return emptyJSON, bc.SetGeolocation(ctx, p.Geolocation)
}

// checkPlace returns Playwright's error for a language or a time zone that
// Chromium would refuse. Playwright reports it when the first page opens.
func checkPlace(o browser.Options) error {
	if o.Locale != "" {
		if _, err := language.Parse(o.Locale); err != nil {
			return errorf("Protocol error (Emulation.setLocaleOverride): Invalid locale name")
		}
	}
	if o.Timezone == "" {
		return nil
	}
	_, err := time.LoadLocation(o.Timezone)
	if _, none := time.LoadLocation("Europe/Berlin"); err != nil && none == nil { // whether this machine has time zone data
		return errorf("Invalid timezone ID: %s", o.Timezone)
	}
	return nil
}

func checkGeolocation(g *browser.Geolocation) error {
	switch {
	case g == nil:
	case g.Longitude < -180 || g.Longitude > 180:
		return errorf("geolocation.longitude: precondition -180 <= LONGITUDE <= 180 failed.")
	case g.Latitude < -90 || g.Latitude > 90:
		return errorf("geolocation.latitude: precondition -90 <= LATITUDE <= 90 failed.")
	case g.Accuracy < 0:
		return errorf("geolocation.accuracy: precondition 0 <= ACCURACY failed.")
	}
	return nil
}
