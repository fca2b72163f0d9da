package clipboard

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	protobrowser "github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/cdp"
)

const (
	// MaxTextBytes bounds copied text; longer text is reported without its
	// content.
	MaxTextBytes = 512 << 10

	// MaxCopiedImageBytes bounds a copied image, as a PNG; a larger one is reported
	// without its content. It is small, because pictures wait behind it on the line
	// to a viewer.
	MaxCopiedImageBytes = 1 << 20

	// MaxImageBytes bounds an image that is put on the clipboard.
	MaxImageBytes = 16 << 20

	// address is the address of the page. It is https because navigator.clipboard
	// needs a secure page. The package answers the request itself, so the name is
	// never resolved.
	address = "https://clipboard.invalid/"

	// heard is the name of the binding that the page calls.
	heard = "heard"
)

// script is the source of the page's script.
//
//go:embed page.js
var script string

// ErrTooLong is passed to the callback for text longer than MaxTextBytes.
var ErrTooLong = fmt.Errorf("the copied text is longer than %d bytes", MaxTextBytes)

// ErrTooLarge is passed to the callback for an image larger than
// MaxCopiedImageBytes.
var ErrTooLarge = fmt.Errorf("the copied image is larger than %d bytes", MaxCopiedImageBytes)

// Copy is what a page copied: a text, or an image as a PNG.
type Copy struct {
	Text  string `json:"text"`
	Image []byte `json:"image"`
}

// ErrRefused is returned for content that the browser refuses, such as an image
// that cannot be decoded.
var ErrRefused = errors.New("the browser refused the content")

// Clipboard is the clipboard of a Chromium. Its methods may be called from any
// goroutine.
type Clipboard struct {
	session *cdp.Session
	context proto.BrowserContextID
	copied  func(Copy, error)

	news    chan heardCopy // the newest copied content
	there   chan struct{}  // closed when the page's document has loaded
	arrived sync.Once      // closes there
	done    chan struct{}  // closed by Close
	end     sync.Once      // closes done
	work    sync.WaitGroup
}

// heardCopy is a message from the page.
type heardCopy struct {
	Copy
	TooLong  bool `json:"tooLong"`
	TooLarge bool `json:"tooLarge"`
}

// Open creates the hidden page. It calls attached with the page's session
// before the first event of that session arrives; pass those events to
// HandleEvent. It calls copied, on a goroutine of the Clipboard, with the text or
// image that is already on the clipboard, and then whenever a page of this Chromium
// puts one there. SetText and SetImage do not cause a call. When copies arrive in
// quick succession, only the newest is reported.
func Open(ctx context.Context, client *cdp.Client, attached func(*Clipboard), copied func(Copy, error)) (*Clipboard, error) {
	c := &Clipboard{copied: copied, news: make(chan heardCopy, 1), there: make(chan struct{}), done: make(chan struct{})}
	if err := c.open(ctx, client, attached); err != nil {
		c.dispose(client)
		return nil, fmt.Errorf("open clipboard: %w", err)
	}
	c.work.Go(c.tell)
	return c, nil
}

func (c *Clipboard) open(ctx context.Context, client *cdp.Client, attached func(*Clipboard)) error {
	browser := client.Browser()
	own, err := cdp.Call(ctx, browser, target.CreateBrowserContext, target.CreateBrowserContextParams{DisposeOnDetach: new(true)})
	if err != nil {
		return err
	}
	c.context = own.BrowserContextID
	// A hidden target does not appear as a page in scripts, tabs or captures.
	made, err := cdp.Call(ctx, browser, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: c.context, Hidden: new(true)})
	if err != nil {
		return err
	}
	if c.session, err = client.Attach(ctx, made.TargetID); err != nil {
		return err
	}
	attached(c)
	err = errors.Join(
		c.grant(browser, "clipboard-read"),
		c.grant(browser, "clipboard-write"),
		cdp.Send(c.session, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		cdp.Send(c.session, fetch.Enable, fetch.EnableParams{}),
	)
	if err != nil {
		return err
	}
	if err := c.navigate(ctx); err != nil {
		return err
	}
	// The navigation has put the document into another renderer, which would
	// not know a binding that was added earlier.
	if _, err := cdp.Call(ctx, c.session, runtime.AddBinding, runtime.AddBindingParams{Name: heard}); err != nil {
		return err
	}
	return c.evaluate(ctx, fmt.Sprintf("(%s)({ text: %d, image: %d })", script, MaxTextBytes, MaxCopiedImageBytes))
}

// navigate returns when the page's document has loaded. Page.navigate itself
// returns earlier.
func (c *Clipboard) navigate(ctx context.Context) error {
	if _, err := cdp.Call(ctx, c.session, page.Enable, page.EnableParams{}); err != nil {
		return err
	}
	res, err := cdp.Call(ctx, c.session, page.Navigate, page.NavigateParams{URL: address})
	if err != nil {
		return err
	}
	if res.ErrorText != "" {
		return errors.New(res.ErrorText)
	}
	select {
	case <-c.there:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Clipboard) grant(browser *cdp.Session, permission string) error {
	return cdp.Send(browser, protobrowser.SetPermission, protobrowser.SetPermissionParams{
		Permission: &protobrowser.PermissionDescriptor{Name: permission}, Setting: protobrowser.PermissionSettingGranted, BrowserContextID: c.context,
	})
}

// Session returns the id of the session whose events HandleEvent expects.
func (c *Clipboard) Session() cdp.SessionID { return c.session.ID() }

// HandleEvent handles an event of the page. It does not block.
func (c *Clipboard) HandleEvent(ev cdp.Event) {
	defer ev.Release()
	switch ev.Method {
	case fetch.RequestPaused.Method:
		if e, err := cdp.Decode(ev, fetch.RequestPaused); err == nil {
			c.answer(e.RequestID)
		}
	case page.FrameNavigated.Method:
		if e, err := cdp.Decode(ev, page.FrameNavigated); err == nil && e.Frame.URL == address {
			c.arrived.Do(func() { close(c.there) })
		}
	case runtime.BindingCalled.Method:
		var said heardCopy
		if e, err := cdp.Decode(ev, runtime.BindingCalled); err != nil || e.Name != heard || json.Unmarshal([]byte(e.Payload), &said) != nil {
			return
		}
		select {
		case <-c.news:
		default:
		}
		c.news <- said // only this goroutine sends, so this does not block
	}
}

// answer answers a request of the page, which is for its document, with an
// empty document.
func (c *Clipboard) answer(id fetch.RequestID) {
	// An error means that the page is gone, which Open and write will notice.
	_ = cdp.Send(c.session, fetch.FulfillRequest, fetch.FulfillRequestParams{
		RequestID: id, ResponseCode: 200, ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/html"}},
		Body: []byte("<!doctype html>"),
	})
}

func (c *Clipboard) tell() {
	for {
		select {
		case said := <-c.news:
			switch {
			case said.TooLong:
				c.copied(Copy{}, ErrTooLong)
			case said.TooLarge:
				c.copied(Copy{}, ErrTooLarge)
			case said.Text != "" || len(said.Image) > 0:
				c.copied(said.Copy, nil)
			}
		case <-c.done:
			return
		}
	}
}

// SetText puts text on the clipboard.
func (c *Clipboard) SetText(ctx context.Context, text string) error {
	return c.write(ctx, "writeText", text)
}

// SetImage puts an image on the clipboard, in any format that Chromium can show.
// Pages read it as image/png.
func (c *Clipboard) SetImage(ctx context.Context, image []byte) error {
	if len(image) > MaxImageBytes {
		return fmt.Errorf("an image may have at most %d bytes", MaxImageBytes)
	}
	return c.write(ctx, "writeImage", base64.StdEncoding.EncodeToString(image))
}

// write calls a function of the page's script.
func (c *Clipboard) write(ctx context.Context, function, argument string) error {
	literal, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	if err := c.evaluate(ctx, function+"("+string(literal)+")"); err != nil {
		return fmt.Errorf("write clipboard: %w", err)
	}
	return nil
}

// evaluate runs an expression with user activation, which listeners of clipboard
// events need.
func (c *Clipboard) evaluate(ctx context.Context, expression string) error {
	res, err := cdp.Call(ctx, c.session, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, AwaitPromise: new(true), UserGesture: new(true)})
	if err != nil {
		return err
	}
	if res.ExceptionDetails != nil { // without the text of the exception, which may contain the written content
		return ErrRefused
	}
	return nil
}

// Close waits for a running callback, which therefore must not call Close, and
// closes the page. After Close, the callback is not called again. Close may be
// called again.
func (c *Clipboard) Close() {
	c.end.Do(func() { close(c.done) })
	c.work.Wait()
	c.dispose(c.session.Client())
}

// dispose closes the page's context. The end of the client would close it, too.
func (c *Clipboard) dispose(client *cdp.Client) {
	if c.context != "" {
		_ = cdp.Send(client.Browser(), target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: c.context})
	}
}
