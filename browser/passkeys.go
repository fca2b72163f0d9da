package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"

	"takeover/cdp"
)

// maxPasskeys bounds the passkeys of a context; the oldest are forgotten.
const maxPasskeys = 1000

// Passkey is a WebAuthn credential of a virtual authenticator.
type Passkey struct {
	ID              []byte
	RPID            string // the relying party: a site's domain
	UserHandle      []byte
	PrivateKey      []byte // PKCS #8
	SignCount       int64
	UserName        string
	UserDisplayName string
	LargeBlob       []byte
	Discoverable    bool // a site need not name it to use it
}

// addCredential holds the parameters of WebAuthn.addCredential. cdproto's own type
// always has a member that this authenticator refuses.
type addCredential struct {
	AuthenticatorID webauthn.AuthenticatorID `json:"authenticatorId"`
	Credential      struct {
		CredentialID         []byte `json:"credentialId"`
		IsResidentCredential bool   `json:"isResidentCredential"`
		RPID                 string `json:"rpId"`
		PrivateKey           []byte `json:"privateKey"`
		UserHandle           []byte `json:"userHandle,omitempty"`
		SignCount            int64  `json:"signCount"`
		LargeBlob            []byte `json:"largeBlob,omitempty"`
		UserName             string `json:"userName,omitempty"`
		UserDisplayName      string `json:"userDisplayName,omitempty"`
	} `json:"credential"`
}

func (p Passkey) wire(to webauthn.AuthenticatorID) (add addCredential) {
	add.AuthenticatorID = to
	c := &add.Credential
	c.CredentialID, c.IsResidentCredential, c.RPID, c.PrivateKey = p.ID, p.Discoverable, p.RPID, p.PrivateKey
	c.UserHandle, c.SignCount, c.LargeBlob, c.UserName, c.UserDisplayName = p.UserHandle, p.SignCount, p.LargeBlob, p.UserName, p.UserDisplayName
	return add
}

func passkeyOf(c *webauthn.Credential) Passkey {
	return Passkey{
		ID: c.CredentialID, RPID: c.RpID, UserHandle: c.UserHandle, PrivateKey: c.PrivateKey, SignCount: int64(c.SignCount),
		UserName: c.UserName, UserDisplayName: c.UserDisplayName, LargeBlob: c.LargeBlob, Discoverable: c.IsResidentCredential,
	}
}

// platformAuthenticator describes the authenticator of every page: like that of a
// phone or a laptop, and it confirms without a person.
var platformAuthenticator = webauthn.VirtualAuthenticatorOptions{
	Protocol: webauthn.AuthenticatorProtocolCtap2, Ctap2version: webauthn.Ctap2versionCtap21, Transport: webauthn.AuthenticatorTransportInternal,
	HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, HasLargeBlob: true, AutomaticPresenceSimulation: true,
}

// passkeys are the passkeys of a context. Chromium keeps an authenticator for each
// page; this keeps them equal. Guarded by the browser's lock.
type passkeys struct {
	held []Passkey // oldest first
}

func (k *passkeys) find(id []byte) int {
	return slices.IndexFunc(k.held, func(p Passkey) bool { return slices.Equal(p.ID, id) })
}

// put adds a passkey, or replaces the one with the same id.
func (k *passkeys) put(p Passkey) {
	if at := k.find(p.ID); at >= 0 {
		k.held[at] = p
		return
	}
	if len(k.held) == maxPasskeys {
		k.held = slices.Delete(k.held, 0, 1)
	}
	k.held = append(k.held, p)
}

// SetPasskeys gives the pages of the context an authenticator with passkeys, in
// place of the machine's, and returns when the open pages have it. Passkeys that
// pages make later are added to it. If the context has an authenticator already,
// the passkeys are added.
func (c *Context) SetPasskeys(ctx context.Context, list []Passkey) error {
	b := c.browser
	b.mu.Lock()
	isNew := c.passkeys == nil
	if isNew {
		c.passkeys = &passkeys{}
	}
	for _, p := range list {
		c.passkeys.put(p)
	}
	waiting := 0
	for _, a := range b.attachments {
		if a.page == nil || a.parent != nil || a.page.context != c || a.page.service != nil {
			continue
		}
		if isNew {
			waiting++
			a.addAuthenticatorLocked(func() { waiting-- })
			continue
		}
		for _, p := range list {
			a.putPasskeyLocked(p)
		}
	}
	b.mu.Unlock()
	if err := b.await(ctx, func() (bool, error) { return waiting == 0, nil }); err != nil {
		return fmt.Errorf("set passkeys: %w", err)
	}
	return nil
}

// Passkeys returns the passkeys of the context, oldest first, and whether its pages
// have an authenticator for them.
func (c *Context) Passkeys() ([]Passkey, bool) {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	if c.passkeys == nil {
		return nil, false
	}
	return slices.Clone(c.passkeys.held), true
}

// ForgetPasskeys removes the passkeys of the context. Its pages keep their
// authenticators.
func (c *Context) ForgetPasskeys() {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	if c.passkeys == nil {
		return
	}
	for _, p := range c.passkeys.held {
		c.removePasskeyLocked(p.ID, nil)
	}
	c.passkeys.held = nil
}

// removePasskeyLocked removes a passkey from the authenticators of all pages but
// one.
func (c *Context) removePasskeyLocked(id []byte, but *attachment) {
	for _, a := range c.browser.attachments {
		if a != but && a.authenticator != "" && a.page.context == c {
			a.removePasskeyLocked(id)
		}
	}
}

// addAuthenticatorLocked gives a page's session an authenticator, with the
// context's passkeys. done is called when all commands are answered or sent.
func (a *attachment) addAuthenticatorLocked(done func()) {
	b, s := a.browser, a.session
	b.send(cdp.Send(s, webauthn.Enable, webauthn.EnableParams{}))
	err := post(s, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &platformAuthenticator},
		func(res webauthn.AddVirtualAuthenticatorResult, err error) {
			if err != nil {
				b.logger.Warn("a page gets no passkeys", "error", err)
				done()
				return
			}
			a.authenticator = res.AuthenticatorID
			if keys := a.page.context.passkeys; keys != nil {
				for _, p := range keys.held {
					a.putPasskeyLocked(p)
				}
			}
			done()
		})
	if err != nil { // the session has ended
		b.send(err)
		done()
	}
}

// putPasskeyLocked adds a passkey to a page's authenticator, in place of the one
// with the same id.
func (a *attachment) putPasskeyLocked(p Passkey) {
	if a.authenticator == "" {
		return // it gets all of them with the authenticator
	}
	b := a.browser
	a.removePasskeyLocked(p.ID)
	add := proto.Command[addCredential, proto.Empty]{Method: webauthn.AddCredential.Method}
	b.send(post(a.session, add, p.wire(a.authenticator), func(_ proto.Empty, err error) {
		if err != nil && !errors.Is(err, cdp.ErrClosed) {
			b.logger.Warn("a page lacks a passkey", "rp", p.RPID, "error", err)
		}
	}))
}

func (a *attachment) removePasskeyLocked(id []byte) {
	a.browser.send(cdp.Send(a.session, webauthn.RemoveCredential, webauthn.RemoveCredentialParams{AuthenticatorID: a.authenticator, CredentialID: id}))
}

// passkeyChangedLocked takes over a passkey that a page made or used, and gives it
// to the other pages.
func (a *attachment) passkeyChangedLocked(c *webauthn.Credential) {
	keys := a.page.context.passkeys
	if keys == nil || c == nil || a.parent != nil {
		return
	}
	p := passkeyOf(c)
	if at := keys.find(p.ID); at >= 0 && keys.held[at].SignCount >= p.SignCount && slices.Equal(keys.held[at].LargeBlob, p.LargeBlob) {
		return // one of ours that was added
	}
	keys.put(p)
	for _, other := range a.browser.attachments {
		if other != a && other.parent == nil && other.page != nil && other.page.context == a.page.context {
			other.putPasskeyLocked(p)
		}
	}
}

func (a *attachment) passkeyAddedLocked(e webauthn.EventCredentialAdded) {
	a.passkeyChangedLocked(e.Credential)
}

func (a *attachment) passkeyAssertedLocked(e webauthn.EventCredentialAsserted) {
	a.passkeyChangedLocked(e.Credential)
}

func (a *attachment) passkeyUpdatedLocked(e webauthn.EventCredentialUpdated) {
	a.passkeyChangedLocked(e.Credential)
}

// passkeyDeletedLocked forgets a passkey that a site has revoked. The event also
// comes when a passkey is replaced; then the page has it.
func (a *attachment) passkeyDeletedLocked(e webauthn.EventCredentialDeleted) {
	if a.authenticator == "" {
		return
	}
	a.browser.send(post(a.session, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: a.authenticator}, func(res webauthn.GetCredentialsResult, err error) {
		keys := a.page.context.passkeys
		has := slices.ContainsFunc(res.Credentials, func(c *webauthn.Credential) bool { return slices.Equal(c.CredentialID, e.CredentialID) })
		if err != nil || has || keys.find(e.CredentialID) < 0 {
			return
		}
		keys.held = slices.Delete(keys.held, keys.find(e.CredentialID), keys.find(e.CredentialID)+1)
		a.page.context.removePasskeyLocked(e.CredentialID, a)
	}))
}
