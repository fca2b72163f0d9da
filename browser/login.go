package browser

import (
	"context"
	"fmt"
)

// login is what a page's documents answer who asks for a name and a password,
// while they are loaded again for it.
type login struct {
	credentials Credentials // Origin is the server's, also when a proxy asks
	proxy       bool
}

// LogIn loads the page's document again and gives a name and a password to the
// server that asks for them, or with proxy to the proxy. Chromium keeps them for
// what the page asks for afterwards. It returns when the document is there, or
// another error page.
//
// Only then does Chromium hold back documents, and nothing else, to ask for the
// answer: holding them back all the time, in case a server asks, would cost each
// navigation a round trip.
func (p *Page) LogIn(ctx context.Context, c Credentials, proxy bool) (err error) {
	if err := p.setLogin(ctx, &login{c, proxy}); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	defer func() {
		if e := p.setLogin(context.WithoutCancel(ctx), nil); e != nil && err == nil {
			err = fmt.Errorf("log in: %w", e)
		}
	}()
	_, err = p.Reload(ctx, NavigateOptions{WaitUntil: LifecycleCommit})
	return err
}

func (p *Page) setLogin(ctx context.Context, l *login) error {
	p.browser.mu.Lock()
	p.login = l
	p.browser.mu.Unlock()
	return p.browser.updateInterception(ctx, func(a *attachment) bool { return a.page == p })
}

// loginLocked is what somebody who just logs in gives to who asks, or nil.
func (p *Page) loginLocked(e authRequired) *Credentials {
	l := p.login
	if l == nil || l.proxy != (e.Challenge.Source == "Proxy") || !l.proxy && l.credentials.Origin != e.Challenge.Origin {
		return nil
	}
	return &l.credentials
}
