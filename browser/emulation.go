package browser

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/security"

	"takeover/cdp"
)

// Media describes a page's surroundings to its style sheets. An empty field keeps
// Chromium's value.
type Media struct {
	Media         string // "screen" or "print"
	ColorScheme   string // prefers-color-scheme: "light", "dark", "no-preference"
	ReducedMotion string // prefers-reduced-motion: "reduce", "no-preference"
	ForcedColors  string // forced-colors: "active", "none"
	Contrast      string // prefers-contrast: "more", "no-preference"
}

// Geolocation is the position that a page gets. Accuracy is in meters.
type Geolocation struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Accuracy  float64 `json:"accuracy"`

	Unknown bool `json:"-"` // the position is unknown, so pages get an error instead of waiting for a machine that has no position
}

// params returns the parameters of Emulation.setGeolocationOverride.
func (g *Geolocation) params() any {
	if g == nil || g.Unknown {
		return proto.Empty{}
	}
	return g
}

// blockServiceWorkers is a script that runs before a page's own scripts and keeps
// them from registering service workers.
const blockServiceWorkers = `if (self.ServiceWorkerContainer)
	ServiceWorkerContainer.prototype.register = async () => { console.warn('Service Worker registration blocked by Playwright'); };`

// emulateLocked sends a page's session the commands that apply the context's
// options.
func (a *attachment) emulateLocked() {
	s, b, o := a.session, a.browser, a.page.context.options
	if a.parent == nil {
		a.sendViewport(a.page.viewport)
	} else if a.page.viewport.HasTouch {
		b.send(cdp.Send(s, emulation.SetTouchEmulationEnabled, a.page.viewport.touch()))
	}
	if o.BypassCSP {
		b.send(cdp.Send(s, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}))
	}
	if o.IgnoreHTTPSErrors {
		b.send(cdp.Send(s, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true}))
	}
	if o.JavaScriptDisabled {
		b.send(cdp.Send(s, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	}
	if o.BlockServiceWorkers {
		b.send(cdp.Send(s, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: blockServiceWorkers, RunImmediately: new(true)}))
	}
	if o.UserAgent != "" || o.Locale != "" {
		b.send(s.Send(emulation.SetUserAgentOverride.Method, o.agent()))
	}
	if o.Locale != "" {
		b.send(cdp.Send(s, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: o.Locale}))
	}
	if o.Timezone != "" {
		b.send(cdp.Send(s, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: o.Timezone}))
	}
	if o.Geolocation != nil {
		b.send(s.Send(emulation.SetGeolocationOverride.Method, o.Geolocation.params()))
	}
	if a.page.media != (Media{}) {
		b.send(s.Send(emulation.SetEmulatedMedia.Method, a.page.media.params()))
	}
}

// emulateWorkerLocked applies the user agent and the locale to a worker's session.
// A worker takes the other options from its page.
func (a *attachment) emulateWorkerLocked(o Options) {
	if o.UserAgent != "" || o.Locale != "" {
		a.browser.send(a.session.Send(emulation.SetUserAgentOverride.Method, o.agent()))
	}
}

// agentOverride holds the parameters of Emulation.setUserAgentOverride. Without a
// user agent, only the languages change.
type agentOverride struct {
	UserAgent      string         `json:"userAgent"`
	AcceptLanguage string         `json:"acceptLanguage,omitempty"`
	Metadata       *agentMetadata `json:"userAgentMetadata,omitempty"`
}

// agentMetadata is the metadata of the User-Agent Client Hints.
type agentMetadata struct {
	Mobile          bool   `json:"mobile"`
	Model           string `json:"model"`
	Architecture    string `json:"architecture"`
	Platform        string `json:"platform"`
	PlatformVersion string `json:"platformVersion"`
}

func (o Options) agent() agentOverride {
	over := agentOverride{UserAgent: o.UserAgent, AcceptLanguage: o.Locale}
	if o.UserAgent != "" {
		over.Metadata = metadataOf(o.UserAgent, o.Viewport != nil && o.Viewport.IsMobile)
	}
	return over
}

// platforms gives the platform of each pattern of user agents; the first match
// counts. The group in the pattern is the platform's version.
var platforms = []struct {
	pattern            *regexp.Regexp
	name, architecture string
}{
	{regexp.MustCompile(`Android (\d+(?:\.\d+){0,2})`), "Android", "arm"},
	{regexp.MustCompile(`iPhone OS (\d+(?:_\d+)?)`), "iOS", "arm"},
	{regexp.MustCompile(`iPad; CPU OS (\d+(?:_\d+)?)`), "iOS", "arm"},
	{regexp.MustCompile(`Intel Mac OS X (\d+(?:_\d+){0,2})`), "macOS", "x86"},
	{regexp.MustCompile(`Mac OS X (\d+(?:_\d+){0,2})`), "macOS", "arm"},
	{regexp.MustCompile(`Windows\D+(\d+(?:\.\d+){0,2})`), "Windows", "x86"},
	{regexp.MustCompile(`(?i)linux()`), "Linux", "x86"},
}

func metadataOf(agent string, mobile bool) *agentMetadata {
	m := &agentMetadata{Mobile: mobile, Platform: "Windows", Architecture: "x86"}
	for _, p := range platforms {
		if match := p.pattern.FindStringSubmatch(agent); match != nil {
			m.Platform, m.Architecture, m.PlatformVersion = p.name, p.architecture, match[1]
			break
		}
	}
	if strings.Contains(agent, "ARM") {
		m.Architecture = "arm"
	}
	return m
}

// emulatedMedia holds the parameters of Emulation.setEmulatedMedia. cdproto's
// type would lose the empty values that end an emulation.
type emulatedMedia struct {
	Media    string         `json:"media"`
	Features []mediaFeature `json:"features"`
}

type mediaFeature struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (m Media) params() emulatedMedia {
	return emulatedMedia{Media: m.Media, Features: []mediaFeature{
		{"prefers-color-scheme", m.ColorScheme}, {"prefers-reduced-motion", m.ReducedMotion},
		{"forced-colors", m.ForcedColors}, {"prefers-contrast", m.Contrast},
	}}
}

// Media returns the emulated surroundings of the page.
func (p *Page) Media() Media {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.media
}

// SetMedia changes the emulated surroundings in all frames of the page.
func (p *Page) SetMedia(ctx context.Context, m Media) error {
	p.browser.mu.Lock()
	p.media = m
	p.browser.mu.Unlock()
	if err := p.browser.tellSessions(ctx, func(a *attachment) bool { return a.page == p }, emulation.SetEmulatedMedia.Method, m.params()); err != nil {
		return fmt.Errorf("emulate media: %w", p.explain(err))
	}
	return nil
}

// SetGeolocation sets the position that the context's pages get; nil makes it
// unknown.
func (c *Context) SetGeolocation(ctx context.Context, g *Geolocation) error {
	b := c.browser
	b.mu.Lock()
	c.options.Geolocation = g
	b.mu.Unlock()
	if err := b.tellSessions(ctx, func(a *attachment) bool { return a.page.context == c }, emulation.SetGeolocationOverride.Method, g.params()); err != nil {
		return fmt.Errorf("set geolocation: %w", err)
	}
	return nil
}

// tellSessions sends a command to all matching frame sessions, and returns when
// they have carried it out. It ignores sessions that end meanwhile.
func (b *Browser) tellSessions(ctx context.Context, match func(*attachment) bool, method string, params any) error {
	b.mu.Lock()
	var sessions []*cdp.Session
	for _, a := range b.attachments {
		if a.worker == nil && match(a) {
			sessions = append(sessions, a.session)
		}
	}
	b.mu.Unlock()
	for _, s := range sessions {
		if _, err := b.call(ctx, s, method, params); err != nil && !errors.Is(err, cdp.ErrDetached) && !errors.Is(err, ErrPageCrashed) {
			return err
		}
	}
	return nil
}

// Reemulate applies the page's emulation again, after another client of the
// browser has changed it and left.
func (p *Page) Reemulate(ctx context.Context) error {
	return p.browser.Do(ctx, func() {
		p.browser.mu.Lock()
		defer p.browser.mu.Unlock()
		for _, a := range p.browser.attachments {
			if a.page != p || a.worker != nil {
				continue
			}
			if a.parent == nil { // Chromium skips a command when it believes that the value is already set
				p.browser.send(a.session.Send(emulation.ClearDeviceMetricsOverride.Method, proto.Empty{}))
			}
			a.emulateLocked()
		}
	})
}
