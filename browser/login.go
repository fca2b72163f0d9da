package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	protoio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/network"
)

// login holds what LogIn or DeclineLogin needs while the page's document is loaded
// again.
type login struct {
	credentials Credentials // Origin is the server's, even if a proxy asks
	proxy       bool
	refused     chan refusal // for DeclineLogin: gets the refusal that Chromium holds back; nil for LogIn
}

// LogIn loads the page's document again and sends a name and a password to the
// server that asks for them, or to the proxy if proxy is true. Chromium keeps
// them for later requests of the page. LogIn returns when the new document or an
// error page has replaced the present one.
//
// Only during that time does Chromium hold documents back. Doing so all the time
// would cost each navigation a round trip.
func (p *Page) LogIn(ctx context.Context, c Credentials, proxy bool) error {
	return p.answerLogin(ctx, &login{credentials: c, proxy: proxy})
}

// maxRefusal bounds how much of a server's refusal is shown, in bytes.
const maxRefusal = 1 << 20

// refusal is a response with 401 or 407 that Chromium holds back.
type refusal struct {
	id      fetch.RequestID
	status  int64
	headers []Header
}

// DeclineLogin loads the page's document again and shows the response that the
// server or proxy sends to visitors without credentials. Without a window,
// Chromium would keep showing an empty page, because it waits for an answer to
// its own dialog. So the response must not look like one that asks for
// credentials. If the response has no body, Chromium shows an error page of its
// own, and the error is a *NavigationError.
func (p *Page) DeclineLogin(ctx context.Context) error {
	l := &login{refused: make(chan refusal, 1)}
	loaded := make(chan error, 1)
	go func() { loaded <- p.answerLogin(ctx, l) }()
	select {
	case err := <-loaded:
		return err
	case r := <-l.refused:
		err := p.showRefusal(ctx, r)
		if err != nil {
			err = errors.Join(err, p.Session().Call(ctx, fetch.FailRequest.Method, fetch.FailRequestParams{
				RequestID: r.id, ErrorReason: network.ErrorReasonAborted,
			}, new(proto.Empty)))
		}
		return errors.Join(err, <-loaded)
	}
}

// showRefusal shows the page a refusal, without the headers that make Chromium
// ask for credentials.
func (p *Page) showRefusal(ctx context.Context, r refusal) error {
	var out struct {
		Stream protoio.StreamHandle `json:"stream"`
	}
	if err := p.Session().Call(ctx, fetch.TakeResponseBodyAsStream.Method, fetch.TakeResponseBodyAsStreamParams{RequestID: r.id}, &out); err != nil {
		return fmt.Errorf("read a refusal: %w", err)
	}
	body := &stream{ctx: ctx, page: p, handle: out.Stream}
	data, err := io.ReadAll(io.LimitReader(body, maxRefusal))
	if err != nil {
		return err
	}
	headers := slices.DeleteFunc(r.headers, func(h Header) bool {
		switch strings.ToLower(h.Name) {
		case "www-authenticate", "proxy-authenticate", "content-length", "content-encoding", "transfer-encoding":
			return true
		}
		return false
	})
	return errors.Join(body.Close(), p.Session().Call(ctx, fetch.FulfillRequest.Method, fulfillment{
		FulfillRequestParams: fetch.FulfillRequestParams{RequestID: r.id, ResponseCode: r.status, ResponseHeaders: entries(headers)}, Body: data,
	}, new(proto.Empty)))
}

// fulfillment answers in place of the server. It sends even an empty body:
// without a body, Chromium would use the server's, and fail because that has
// already been read.
type fulfillment struct {
	fetch.FulfillRequestParams
	Body []byte `json:"body"`
}

// answeredLocked handles a response that Chromium holds back. Only DeclineLogin
// needs it.
func (h *pause) answeredLocked(e requestPaused) {
	l := h.attachment.page.login
	if l != nil && l.refused != nil && (e.ResponseStatus == 401 || e.ResponseStatus == 407) {
		select {
		case l.refused <- refusal{e.RequestID, e.ResponseStatus, e.ResponseHeaders}:
			return
		default: // the response of a frame, not of the page
		}
	}
	h.releaseLocked(nil)
}

func (p *Page) answerLogin(ctx context.Context, l *login) (err error) {
	if err := p.setLogin(ctx, l); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	defer func() {
		if e := p.setLogin(context.WithoutCancel(ctx), nil); e != nil && err == nil {
			err = fmt.Errorf("log in: %w", e)
		}
	}()
	// The challenge is reported while its document is still loading. Only after
	// that can the document be loaded again.
	if err := p.browser.await(ctx, func() (bool, error) {
		at := p.main.newestAttemptLocked()
		return at == nil || at.ended, p.main.goneLocked()
	}); err != nil {
		return err
	}
	_, err = p.Reload(ctx, NavigateOptions{WaitUntil: LifecycleCommit})
	return err
}

func (p *Page) setLogin(ctx context.Context, l *login) error {
	p.browser.mu.Lock()
	p.login = l
	p.browser.mu.Unlock()
	return p.browser.updateInterception(ctx, func(a *attachment) bool { return a.page == p })
}

// loginLocked returns the credentials of a running LogIn for a challenge, or nil.
func (p *Page) loginLocked(e authRequired) *Credentials {
	l := p.login
	if l == nil || l.proxy != (e.Challenge.Source == "Proxy") || !l.proxy && l.credentials.Origin != e.Challenge.Origin {
		return nil
	}
	return &l.credentials
}
