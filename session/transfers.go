package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"takeover/browser"
	"takeover/files"
)

const (
	// maxDownloads bounds the downloads that a session remembers for viewers that
	// join later.
	maxDownloads = 100
	// maxShared bounds, per session, the names of files that guests may fetch.
	maxShared = 2 * files.DefaultCount
	// maxGuestFiles bounds the number of files that guests add to a session.
	maxGuestFiles = 200
	// guestShare limits guests to a part of a session's folder: one file to
	// 1/guestShare of the free space, and all their files to 1/guestShare of
	// the folder's size.
	guestShare = 2
)

// transfers holds the files that enter and leave a session: its folder, the files
// that guests may fetch, and the downloads.
type transfers struct {
	mu         sync.Mutex            // guards what follows
	folder     *files.Folder         // nil before the first browser and after the last
	shared     map[string]files.File // the files that guests may fetch, by name, as they were shared
	guestBytes int64                 // size of the files that guests added
	guestFiles int                   // number of files that guests added
	downloads  []*knownDownload      // the newest downloads, oldest first
	began      chan struct{}         // closed when the next download is added; nil until somebody waits
}

// knownDownload is a download, or a printed page.
type knownDownload struct {
	download *browser.Download // nil for a printed page, and after the session's end
	cancel   func(context.Context) error
	message  DownloadMessage // guarded by transfers.mu
}

// files returns the folder, or nil when there is none.
func (t *transfers) files() *files.Folder {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.folder
}

// setFiles replaces the folder and returns the former one.
func (t *transfers) setFiles(folder *files.Folder) *files.Folder {
	t.mu.Lock()
	defer t.mu.Unlock()
	former := t.folder
	t.folder = folder
	return former
}

// share lets guests fetch a file.
func (t *transfers) share(f files.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared == nil {
		t.shared = map[string]files.File{}
	}
	if _, known := t.shared[f.Name]; known || len(t.shared) < maxShared {
		t.shared[f.Name] = f
	}
}

// isShared reports whether guests may fetch a file. Another file that has taken
// the name of a shared one is not shared.
func (t *transfers) isShared(f files.File) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	shared, ok := t.shared[f.Name]
	return ok && shared.Size == f.Size && shared.ModifiedAt.Equal(f.ModifiedAt)
}

// admitGuestFile counts a file that a guest will add, or returns an ErrTooMany.
func (t *transfers) admitGuestFile() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.guestFiles >= maxGuestFiles {
		return fmt.Errorf("%w files: people with a link may add %d", ErrTooMany, maxGuestFiles)
	}
	t.guestFiles++
	return nil
}

// chargeGuest counts bytes that a guest adds. A negative number gives bytes
// back. It returns false if guests would exceed their share of a folder.
func (t *transfers) chargeGuest(bytes, capacity int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bytes > 0 && t.guestBytes+bytes > capacity/guestShare {
		return false
	}
	t.guestBytes += bytes
	return true
}

// add remembers a download, and forgets the oldest when there are too many. It
// returns the download's message, and whether it forgot one.
func (t *transfers) add(k *knownDownload) (message DownloadMessage, forgot bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.downloads = append(t.downloads, k); len(t.downloads) > maxDownloads {
		t.downloads, forgot = slices.Delete(t.downloads, 0, 1), true
	}
	if t.began != nil {
		close(t.began)
		t.began = nil
	}
	return k.message, forgot
}

// change changes a download's message and returns it.
func (t *transfers) change(k *knownDownload, change func(*DownloadMessage)) DownloadMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&k.message)
	return k.message
}

// forget forgets the browser's part of the downloads of a session that has ended. Their
// messages remain.
func (t *transfers) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, k := range t.downloads {
		t.downloads[i] = &knownDownload{message: k.message, cancel: func(context.Context) error { return ErrNotReady }}
	}
}

// find returns the first download that match accepts, or nil.
func (t *transfers) find(match func(*knownDownload) bool) *knownDownload {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.IndexFunc(t.downloads, match); at >= 0 {
		return t.downloads[at]
	}
	return nil
}

// await waits for a download that match accepts, and returns it.
func (t *transfers) await(ctx context.Context, match func(*knownDownload) bool) (*knownDownload, error) {
	for {
		t.mu.Lock()
		if at := slices.IndexFunc(t.downloads, match); at >= 0 {
			defer t.mu.Unlock()
			return t.downloads[at], nil
		}
		if t.began == nil {
			t.began = make(chan struct{})
		}
		began := t.began
		t.mu.Unlock()
		select {
		case <-began:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// messages returns the message of each download, oldest first.
func (t *transfers) messages() []DownloadMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]DownloadMessage, len(t.downloads))
	for i, k := range t.downloads {
		list[i] = k.message
	}
	return list
}

// underWay returns the browser's running downloads.
func (t *transfers) underWay() []*browser.Download {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []*browser.Download
	for _, k := range t.downloads {
		if k.download != nil && k.message.State == DownloadRunning {
			list = append(list, k.download)
		}
	}
	return list
}
