package automation

import (
	"context"
	"fmt"

	"takeover/browser"
	"takeover/storagestate"
)

// readPasskeys returns the passkeys of a context in the form of states.
func readPasskeys(bc *browser.Context) ([]storagestate.Passkey, error) {
	held, _ := bc.Passkeys()
	list := make([]storagestate.Passkey, len(held))
	for i, p := range held {
		public, err := storagestate.PublicKey(p.PrivateKey)
		if err != nil {
			return nil, fmt.Errorf("passkey for %s: %w", p.RPID, err)
		}
		list[i] = storagestate.Passkey{
			ID: storagestate.Encode(p.ID), RPID: p.RPID, UserHandle: storagestate.Encode(p.UserHandle), PrivateKey: storagestate.Encode(p.PrivateKey), PublicKey: public,
			SignCount: p.SignCount, UserName: p.UserName, UserDisplayName: p.UserDisplayName, LargeBlob: storagestate.Encode(p.LargeBlob), NotDiscoverable: !p.Discoverable,
		}
	}
	return list, nil
}

// restorePasskeys gives a context passkeys.
func restorePasskeys(ctx context.Context, bc *browser.Context, list []storagestate.Passkey) error {
	held := make([]browser.Passkey, len(list))
	for i, p := range list {
		held[i] = browser.Passkey{RPID: p.RPID, SignCount: p.SignCount, UserName: p.UserName, UserDisplayName: p.UserDisplayName, Discoverable: !p.NotDiscoverable}
		for _, f := range []struct {
			to   *[]byte
			from string
		}{{&held[i].ID, p.ID}, {&held[i].UserHandle, p.UserHandle}, {&held[i].PrivateKey, p.PrivateKey}, {&held[i].LargeBlob, p.LargeBlob}} {
			var err error
			if *f.to, err = storagestate.Decode(f.from); err != nil {
				return fmt.Errorf("passkey for %s: %w", p.RPID, err)
			}
		}
	}
	return bc.SetPasskeys(ctx, held)
}

// SetPasskeys gives the pages of the default context an authenticator of its own,
// with passkeys, so that sites can register more. It does nothing for a nil list.
func (a *Automation) SetPasskeys(ctx context.Context, list []storagestate.Passkey) error {
	if list == nil {
		return nil
	}
	return restorePasskeys(ctx, a.browser.DefaultContext(), list)
}

// Passkeys returns the passkeys of the default context, or nil if its pages have no
// authenticator of its own.
func (a *Automation) Passkeys() ([]storagestate.Passkey, error) {
	bc := a.browser.DefaultContext()
	if _, on := bc.Passkeys(); !on {
		return nil, nil
	}
	return readPasskeys(bc)
}
