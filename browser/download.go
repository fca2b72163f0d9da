package browser

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	protobrowser "github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"

	"takeover/cdp"
)

// Download is a file that Chromium downloads to Options.Downloads. All methods
// may be called from any goroutine.
type Download struct {
	browser *Browser
	page    *Page
	guid    string
	url     string
	name    string
	refused bool
}

// DownloadBegan reports a download.
type DownloadBegan struct{ Download *Download }

// DownloadProgressed reports the number of received bytes.
type DownloadProgressed struct {
	Download *Download
	Received int64
	Total    int64 // 0 when the server does not say
}

// DownloadEnded reports that the whole file was received, or that the download
// was cancelled.
type DownloadEnded struct {
	Download  *Download
	Cancelled bool // by a caller, by the network, or because the context refuses downloads
}

func (DownloadBegan) event()      {}
func (DownloadProgressed) event() {}
func (DownloadEnded) event()      {}

// Page returns the page that started the download. If that is a popup that shows
// nothing else, Page is the page that opened the popup.
func (d *Download) Page() *Page { return d.page }

// GUID returns Chromium's name of the download.
func (d *Download) GUID() string { return d.guid }

// URL returns the address of the download.
func (d *Download) URL() string { return d.url }

// SuggestedName returns the name that the server or the page suggests. It is
// hostile.
func (d *Download) SuggestedName() string { return d.name }

// Refused reports whether the context refuses downloads.
func (d *Download) Refused() bool { return d.refused }

// Path returns the path of the file when the download has ended.
func (d *Download) Path() string {
	return filepath.Join(d.browser.options.Downloads, filepath.Base(d.guid))
}

// Cancel ends the download. It does nothing if the download has ended.
func (d *Download) Cancel(ctx context.Context) error {
	params := protobrowser.CancelDownloadParams{GUID: d.guid, BrowserContextID: d.page.context.id}
	_, err := Call(ctx, d.browser, d.browser.client.Browser(), protobrowser.CancelDownload, params)
	if _, refused := errors.AsType[*cdp.Error](err); err == nil || refused { // the download has ended
		return nil
	}
	return fmt.Errorf("cancel download: %w", err)
}

// AllowDownloads sets how Chromium handles a context's downloads, after another
// client of the browser has changed it. An empty id means the default context.
func (b *Browser) AllowDownloads(id proto.BrowserContextID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	refuse := false
	for _, c := range b.contexts {
		refuse = refuse || c.id == id && c.refusesDownloads
	}
	return b.allowDownloads(id, refuse)
}

// allowDownloads sets how Chromium handles a context's downloads. An empty id
// means the default context.
func (b *Browser) allowDownloads(id proto.BrowserContextID, refuse bool) error {
	if b.options.Downloads == "" {
		return nil
	}
	params := protobrowser.SetDownloadBehaviorParams{
		Behavior: protobrowser.SetDownloadBehaviorBehaviorAllowAndName, BrowserContextID: id,
		DownloadPath: b.options.Downloads, EventsEnabled: new(true),
	}
	if refuse {
		params.Behavior = protobrowser.SetDownloadBehaviorBehaviorDeny
	}
	return cdp.Send(b.client.Browser(), protobrowser.SetDownloadBehavior, params)
}

func (b *Browser) downloadBeganLocked(e protobrowser.EventDownloadWillBegin) {
	var from *Page
	for _, p := range b.pages {
		if p.frames[e.FrameID] != nil {
			from = p
		}
	}
	if from == nil {
		return // the download belongs to a page that is not in the model
	}
	if from.main.commits == 0 && from.opener != nil { // Chromium closes such a popup
		from = from.opener
	}
	d := &Download{browser: b, page: from, guid: e.GUID, url: e.URL, name: e.SuggestedFilename, refused: from.context.refusesDownloads}
	b.downloads[e.GUID] = d
	from.tellLaterLocked(DownloadBegan{Download: d})
}

func (b *Browser) downloadProgressLocked(e protobrowser.EventDownloadProgress) {
	d := b.downloads[e.GUID]
	switch {
	case d == nil:
	case e.State == protobrowser.DownloadProgressStateInProgress:
		d.page.tellLaterLocked(DownloadProgressed{Download: d, Received: int64(e.ReceivedBytes), Total: int64(e.TotalBytes)})
	default:
		delete(b.downloads, e.GUID)
		d.page.tellLaterLocked(DownloadEnded{Download: d, Cancelled: e.State == protobrowser.DownloadProgressStateCanceled})
	}
}
