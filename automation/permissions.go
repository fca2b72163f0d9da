package automation

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	proto "github.com/chromedp/cdproto/cdp"

	"takeover/browser"
)

// permissions maps Playwright's names of permissions to Chromium's
// (Browser.PermissionType).
var permissions = map[string][]string{
	"geolocation": {"geolocation"}, "midi": {"midi"}, "midi-sysex": {"midiSysex"}, "notifications": {"notifications"},
	"camera": {"videoCapture"}, "microphone": {"audioCapture"}, "background-sync": {"backgroundSync"},
	"ambient-light-sensor": {"sensors"}, "accelerometer": {"sensors"}, "gyroscope": {"sensors"}, "magnetometer": {"sensors"},
	"clipboard-read": {"clipboardReadWrite"}, "clipboard-write": {"clipboardSanitizedWrite"}, "payment-handler": {"paymentHandler"},
	"storage-access": {"storageAccess"}, "local-fonts": {"localFonts"}, "screen-wake-lock": {"wakeLockScreen"},
	"local-network-access": {"localNetworkAccess", "localNetwork", "loopbackNetwork"},
}

// grants holds what clients have granted. Chromium sets all permissions of an
// origin at once, and resets those of a whole context, so the grants of each
// client are kept here.
type grants struct {
	lock chan struct{} // held while grants change, here and in Chromium; guards the fields all and people
	all  map[grantKey]map[*Client][]string

	people  []allowed    // what people gave, from Allow
	clients atomic.Int64 // the length of all, to read without the lock
}

// allowed is a permission that people gave a site.
type allowed struct {
	context      *browser.Context
	origin, name string
}

// grantKey says where grants apply: to one origin or all origins of a context.
type grantKey struct {
	context *browser.Context
	origin  string // empty for all origins
}

func newGrants() *grants {
	return &grants{lock: make(chan struct{}, 1), all: map[grantKey]map[*Client][]string{}}
}

func (g *grants) count() { g.clients.Store(int64(len(g.all))) }

// take locks the grants; end unlocks them.
func (g *grants) take(ctx context.Context) (end func(), err error) {
	select {
	case g.lock <- struct{}{}:
		return func() { <-g.lock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// add adds a client's permissions to earlier ones.
func (g *grants) add(ctx context.Context, c *Client, key grantKey, names []string) error {
	for _, name := range names {
		if permissions[name] == nil {
			return errorf("Unknown permission: %s", name)
		}
	}
	end, err := g.take(ctx)
	if err != nil {
		return err
	}
	defer end()
	of := g.all[key]
	if of == nil {
		of = map[*Client][]string{}
		g.all[key] = of
		g.count()
	}
	before := of[c]
	of[c] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, names))))
	if err := g.tell(ctx, key); err != nil {
		of[c] = before
		return err
	}
	return g.allowAgain(ctx, key.context)
}

// remove removes a client's grants in a context. Other clients' grants stay.
func (g *grants) remove(ctx context.Context, c *Client, bc *browser.Context) error {
	end, err := g.take(ctx)
	if err != nil {
		return err
	}
	defer end()
	left := g.drop(c, bc)
	defer g.count() // after Chromium has been told
	if err := bc.Browser().Session().Call(ctx, "Browser.resetPermissions", map[string]string{"browserContextId": bc.ID()}, nil); err != nil {
		return err
	}
	for _, key := range left {
		if err := g.tell(ctx, key); err != nil {
			return err
		}
	}
	return g.allowAgain(ctx, bc)
}

// forget drops a client's grants in contexts that ended with it.
func (g *grants) forget(c *Client) {
	g.lock <- struct{}{}
	defer func() { <-g.lock }()
	g.drop(c, nil)
	g.count()
}

// drop drops a client's grants in one context, or in all, and returns the
// remaining grants there.
func (g *grants) drop(c *Client, bc *browser.Context) (left []grantKey) {
	for key, of := range g.all {
		if bc != nil && key.context != bc {
			continue
		}
		if delete(of, c); len(of) == 0 {
			delete(g.all, key)
		} else {
			left = append(left, key)
		}
	}
	return left
}

// grantParams are the parameters of Browser.grantPermissions, with permission
// names that cdproto may not know.
type grantParams struct {
	Permissions []string `json:"permissions"`
	Origin      string   `json:"origin,omitempty"`
	Context     string   `json:"browserContextId"`
}

// tell grants the permissions of all clients together.
func (g *grants) tell(ctx context.Context, key grantKey) error {
	p := grantParams{Permissions: []string{}, Origin: key.origin, Context: key.context.ID()}
	for _, names := range g.all[key] {
		for _, name := range names {
			p.Permissions = append(p.Permissions, permissions[name]...)
		}
	}
	return key.context.Browser().Session().Call(ctx, "Browser.grantPermissions", p, nil)
}

// Allow gives a site a permission, by its name in the Permissions API, until the
// context ends, no matter what clients grant and remove. Other permissions stay
// unchanged. The caller bounds the number of calls.
func (a *Automation) Allow(ctx context.Context, bc *browser.Context, origin, name string) error {
	g := a.grants
	end, err := g.take(ctx)
	if err != nil {
		return err
	}
	defer end()
	one := allowed{bc, origin, name}
	if err := one.tell(ctx); err != nil {
		return fmt.Errorf("allow %s: %w", name, err)
	}
	if !slices.Contains(g.people, one) {
		g.people = append(g.people, one)
	}
	return nil
}

// GrantsPermissions reports whether clients have granted permissions to pages.
// Chromium then refuses all other permissions without asking.
func (a *Automation) GrantsPermissions() bool { return a.grants.clients.Load() > 0 }

// allowAgain restores what people allowed, after clients' grants have changed.
func (g *grants) allowAgain(ctx context.Context, bc *browser.Context) error {
	for _, one := range g.people {
		if one.context != bc {
			continue
		}
		if err := one.tell(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tell sets the permission in Chromium. cdproto may not know its name.
func (one allowed) tell(ctx context.Context) error {
	return one.context.Browser().Session().Call(ctx, "Browser.setPermission", map[string]any{
		"permission": map[string]string{"name": one.name}, "setting": "granted", "origin": one.origin, "browserContextId": one.context.ID(),
	}, new(proto.Empty))
}

type permissionParams struct {
	Context     string   `json:"context"`
	Permissions []string `json:"permissions"`
	Origin      string   `json:"origin"` // the only origin that gets the permissions; default: all
}

func opGrantPermissions(ctx context.Context, c *Client, p *permissionParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	c.undo(bc, "permissions", bc, func(ctx context.Context) error { return c.automation.grants.remove(ctx, c, bc) })
	if p.Origin == "*" {
		p.Origin = ""
	}
	return emptyJSON, c.automation.grants.add(ctx, c, grantKey{bc, p.Origin}, p.Permissions)
}

func opClearPermissions(ctx context.Context, c *Client, p *contextParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	return emptyJSON, c.automation.grants.remove(ctx, c, bc)
}
