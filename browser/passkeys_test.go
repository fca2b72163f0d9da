package browser_test

import (
	"fmt"
	"testing"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/storagestate"
)

// makePasskey registers a passkey and returns its id; usePasskey signs in with one
// and returns its id and its counter.
const (
	makePasskey = `navigator.credentials.create({ publicKey: {
		challenge: new Uint8Array(16), rp: { name: 'R', id: 'localhost' }, user: { id: new Uint8Array([7]), name: 'quince', displayName: 'Q' },
		pubKeyCredParams: [{ type: 'public-key', alg: -7 }], authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
	} }).then(made => made.id)`
	usePasskey = `navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16), rpId: 'localhost', userVerification: 'required' } })
		.then(used => used.id + ' ' + new DataView(used.response.authenticatorData).getUint32(33))`
)

// TestPasskeys registers a passkey in one page, and uses it in others, in a popup, and
// in another context. The popup uses it when it has loaded: on a busy machine, Chromium
// sometimes cuts the connection that a popup's first script has to it.
func TestPasskeys(t *testing.T) {
	s := newSite(t, map[string]string{
		"/":      "<title>Site</title>",
		"/popup": "<script>onload = () => document.title = 'loaded'</script>",
	})
	b := attach(t)
	context := func(list []browser.Passkey) *browser.Context {
		c, err := b.NewContext(wait(t, "context"), browser.ContextOptions{})
		must(t, err)
		must(t, c.SetPasskeys(wait(t, "passkeys"), list))
		return c
	}
	page := func(c *browser.Context) *browser.Frame {
		p, err := c.NewPage(wait(t, "page"))
		must(t, err)
		open(t, p.MainFrame(), s.other("/"))
		return p.MainFrame()
	}
	one := context(nil)
	first, second := page(one), page(one)
	show := func(f *browser.Frame) { must(t, f.Page().Activate(wait(t, "show"))) } // a page without focus may not use passkeys
	show(first)
	id := eval[string](t, first, browser.WorldMain, makePasskey)
	var counter int
	used := func(where, text string) {
		t.Helper()
		var got string
		var n int
		if _, err := fmt.Sscan(text, &got, &n); err != nil || got != id || n <= counter {
			t.Errorf("%s: %q, want %s and a number above %d", where, text, id, counter)
		}
		counter = n
	}
	for _, f := range []*browser.Frame{first, second, page(one), first} {
		show(f)
		used("a page", eval[string](t, f, browser.WorldMain, usePasskey))
	}
	eval[any](t, first, browser.WorldMain, "void window.open('/popup')")
	browsertest.Until(t, "the popup", func() bool { return len(one.Pages()) == 4 })
	popup := one.Pages()[3]
	browsertest.Until(t, "the popup has loaded", func() bool { return popup.Title() == "loaded" })
	show(popup.MainFrame())
	used("a popup", eval[string](t, popup.MainFrame(), browser.WorldMain, usePasskey))

	held, on := one.Passkeys()
	if !on || len(held) != 1 || storagestate.Encode(held[0].ID) != id || held[0].RPID != "localhost" || held[0].UserName != "quince" || held[0].SignCount != int64(counter) || !held[0].Discoverable {
		t.Fatalf("passkeys %+v", held)
	}
	two := context(held)
	other := page(two)
	show(other)
	used("another context", eval[string](t, other, browser.WorldMain, usePasskey))
	if held, _ := one.Passkeys(); held[0].SignCount == int64(counter) {
		t.Error("one context changed the passkeys of another")
	}
	eval[any](t, other, browser.WorldMain, "PublicKeyCredential.signalUnknownCredential({ rpId: 'localhost', credentialId: '"+id+"' })")
	browsertest.Until(t, "the passkey is revoked", func() bool {
		held, on := two.Passkeys()
		return on && len(held) == 0
	})
	if _, on := b.DefaultContext().Passkeys(); on {
		t.Error("a context has passkeys without SetPasskeys")
	}
}
