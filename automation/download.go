package automation

import (
	"context"
	"errors"

	"takeover/browser"
	"takeover/files"
)

// download is how a download went, for all who ask.
type download struct {
	done    chan struct{} // closed when the rest is there
	name    string        // in the folder of files
	failure string        // empty when there is a file
}

// textRefused is Playwright's word about downloads of a context that refuses them.
const textRefused = "Pass { acceptDownloads: true } when you are creating your browser context."

// observeDownload keeps what pages download, whoever drives them. It runs on the
// model's goroutine.
func (a *Automation) observeDownload(ev browser.Event) {
	switch ev := ev.(type) {
	case browser.DownloadBegan:
		a.downloadOf(ev.Download)
	case browser.DownloadProgressed:
		if f := a.options.Files; f != nil && ev.Received > f.Room() {
			a.work.Go(func() { _ = ev.Download.Cancel(a.life) }) // it ends by itself, and is not kept then
		}
	case browser.DownloadEnded:
		d := a.downloadOf(ev.Download)
		a.work.Go(func() {
			defer close(d.done)
			a.keepDownload(ev, d)
		})
	}
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

func (a *Automation) keepDownload(ev browser.DownloadEnded, d *download) {
	folder := a.options.Files
	switch {
	case ev.Download.Refused():
		d.failure = textRefused
	case ev.Cancelled:
		d.failure = "canceled"
	case folder == nil:
		d.failure = "there are no files here"
	default:
		file, err := folder.Adopt(ev.Download.Path(), ev.Download.SuggestedName())
		d.name = file.Name
		if err != nil {
			a.log.Warn("keep download", "err", err)
			d.failure = err.Error()
			if errors.Is(err, files.ErrFull) {
				d.failure = files.ErrFull.Error()
			}
		}
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
	known := c.automation.downloadOf(d)
	select {
	case <-known.done:
		return known, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.automation.browser.Done():
		return nil, browser.ErrBrowserClosed
	}
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

// opDownloadDelete removes what was downloaded; a second time is no error.
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

// opDownloadSaveAs copies what was downloaded under another name.
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
