package automation

import (
	"context"
	"errors"

	"takeover/browser"
	"takeover/files"
)

// downloadOperations are the operations of this file.
var downloadOperations = table{
	"download.wait":   op(false, opDownloadWait),   // {download} → {name,failure} once it has ended
	"download.cancel": op(false, opDownloadCancel), // {download}
	"download.delete": op(false, opDownloadDelete), // {download}
	"download.saveAs": op(false, opDownloadSaveAs), // {download,to}
}

// maxDownloads bounds the remembered downloads that have ended.
const maxDownloads = 1000

// download is the state of a download, for all callers.
type download struct {
	done     chan struct{} // closed when the other fields are set
	name     string        // in the folder of files
	failure  string        // empty after success
	received int64         // bytes received so far, not yet in the folder; guarded by the automation's lock
}

// textRefused is Playwright's text for downloads in a context that does not
// accept them.
const textRefused = "Pass { acceptDownloads: true } when you are creating your browser context."

// observeDownload keeps track of downloads, no matter who drives the page. It
// runs on the model's goroutine.
func (a *Automation) observeDownload(ev browser.Event) {
	switch ev := ev.(type) {
	case browser.DownloadBegan:
		a.downloadOf(ev.Download)
	case browser.DownloadProgressed:
		if f := a.options.Files; f != nil && a.downloadProgressed(ev) > f.Room() {
			a.work.Go(func() { _ = ev.Download.Cancel(a.life) }) // it may end by itself, and is not kept either way
		}
	case browser.DownloadEnded:
		d := a.downloadOf(ev.Download)
		a.work.Go(func() {
			defer close(d.done)
			a.keepDownload(ev, d)
			a.downloadEnded(ev.Download, d)
		})
	}
}

// knownDownload returns a remembered download, or nil.
func (a *Automation) knownDownload(d *browser.Download) *download {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.downloads[d]
}

func (a *Automation) downloadOf(d *browser.Download) *download {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.downloads[d]
	if known == nil {
		known = &download{done: make(chan struct{})}
		a.downloads[d] = known
	}
	return known
}

// downloadProgressed records how much of a download was received, and returns the
// total bytes of all running downloads.
func (a *Automation) downloadProgressed(ev browser.DownloadProgressed) int64 {
	a.downloadOf(ev.Download)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.downloads[ev.Download].received = ev.Received
	var all int64
	for _, d := range a.downloads {
		all += d.received
	}
	return all
}

// downloadEnded records the end of a download, and forgets the oldest one that has
// ended when there are too many.
func (a *Automation) downloadEnded(of *browser.Download, d *download) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d.received = 0
	if a.ended = append(a.ended, of); len(a.ended) > maxDownloads {
		delete(a.downloads, a.ended[0])
		a.ended = a.ended[1:]
	}
}

func (a *Automation) keepDownload(ev browser.DownloadEnded, d *download) {
	folder := a.options.Files
	switch {
	case ev.Download.Refused():
		d.failure = textRefused
	case ev.Cancelled:
		d.failure = "canceled"
	case folder == nil:
		d.failure = "this session has no folder of files"
	default:
		file, err := folder.Adopt(ev.Download.Path(), ev.Download.SuggestedName())
		d.name = file.Name
		if err != nil {
			a.log.Warn("keep download", "error", err)
			d.failure = err.Error()
			if errors.Is(err, files.ErrFull) {
				d.failure = files.ErrFull.Error()
			}
		}
	}
}

// Downloaded waits until a download has ended, and returns the file's name in the
// folder. If the download failed, failure says why and the name is empty. The
// error is the cause of ctx, or says that the browser is gone or the download was
// forgotten.
func (a *Automation) Downloaded(ctx context.Context, d *browser.Download) (name, failure string, err error) {
	known := a.knownDownload(d)
	if known == nil {
		return "", "", errorf(textCollected)
	}
	select {
	case <-known.done:
		return known.name, known.failure, nil
	case <-ctx.Done():
		return "", "", context.Cause(ctx)
	case <-a.browser.Done():
		return "", "", browser.ErrBrowserClosed
	}
}

type downloadParams struct {
	Download string `json:"download"`
	To       string `json:"to"`
}

// downloaded waits for a download's end.
func (c *Client) downloaded(ctx context.Context, id string) (*download, error) {
	d, err := lookup[*browser.Download](c, "download", id)
	if err != nil {
		return nil, err
	}
	known := c.automation.knownDownload(d)
	if _, _, err := c.automation.Downloaded(ctx, d); err != nil {
		return nil, err
	}
	return known, nil
}

// opDownloadWait waits for the end of a download.
func opDownloadWait(ctx context.Context, c *Client, p *downloadParams) (any, error) {
	d, err := c.downloaded(ctx, p.Download)
	if err != nil {
		return nil, err
	}
	return map[string]any{"name": d.name, "failure": d.failure}, nil
}

func opDownloadCancel(ctx context.Context, c *Client, p *downloadParams) (any, error) {
	d, err := lookup[*browser.Download](c, "download", p.Download)
	if err != nil {
		return nil, err
	}
	if err := d.Cancel(ctx); err != nil {
		return nil, err
	}
	_, err = c.downloaded(ctx, p.Download)
	return emptyJSON, err
}

// opDownloadDelete deletes a downloaded file. Deleting it again is not an error.
func opDownloadDelete(ctx context.Context, c *Client, p *downloadParams) (any, error) {
	d, err := c.downloaded(ctx, p.Download)
	if err != nil || d.name == "" {
		return emptyJSON, err
	}
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	if err := folder.Remove(d.name); err != nil && !errors.Is(err, files.ErrNotFound) {
		return nil, err
	}
	return emptyJSON, nil
}

// opDownloadSaveAs copies a downloaded file to another name.
func opDownloadSaveAs(ctx context.Context, c *Client, p *downloadParams) (any, error) {
	d, err := c.downloaded(ctx, p.Download)
	if err != nil {
		return nil, err
	}
	if d.failure != "" {
		return nil, errorf("%s", d.failure)
	}
	return opFilesCopy(ctx, c, &fileParams{Name: d.name, To: p.To})
}
