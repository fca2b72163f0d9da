package session

import (
	"context"
	"errors"
	"slices"

	"takeover/browser"
	"takeover/files"
	"takeover/id"
	"takeover/invalid"
	"takeover/text"
)

// maxDownloads is how many downloads of a session viewers are told of who come late.
const maxDownloads = 100

// DownloadState is how a download stands.
type DownloadState string

// The states of a download: the last three are final.
const (
	DownloadRunning   DownloadState = "running"
	DownloadDone      DownloadState = "done"
	DownloadFailed    DownloadState = "failed"
	DownloadCancelled DownloadState = "cancelled"
)

// downloads are the newest of a session, the oldest first. Guarded by Session.mu.
type downloads struct{ list []*knownDownload }

type knownDownload struct {
	download *browser.Download // nil for a page that was printed
	cancel   func(context.Context) error
	message  DownloadMessage
}

// slot makes what is told of one download replace what was told before.
func (m DownloadMessage) slot() string { return "download " + m.ID }

// byDownload is nil for one that was forgotten.
func (d *downloads) byDownload(of *browser.Download) *knownDownload {
	for _, k := range d.list {
		if k.download == of {
			return k
		}
	}
	return nil
}

// downloadBegan takes in a download, of a person or a script. It runs on the
// model's goroutine, as the two below.
func (s *Session) downloadBegan(d *browser.Download) {
	if d.Refused() {
		return
	}
	name := files.Name(d.SuggestedName())
	if name == "" {
		name = "download"
	}
	k := &knownDownload{download: d, cancel: d.Cancel, message: DownloadMessage{
		Type: "download", ID: id.New("dl"), State: DownloadRunning, Name: name, URL: text.Clip(d.URL(), maxTitle),
	}}
	s.addDownload(k)
}

// addDownload adds one to those that viewers are told of.
func (s *Session) addDownload(k *knownDownload) {
	s.mu.Lock()
	if s.downloads.list = append(s.downloads.list, k); len(s.downloads.list) > maxDownloads {
		s.downloads.list = slices.Delete(s.downloads.list, 0, 1)
	}
	message := k.message
	s.mu.Unlock()
	s.tellActors(message.slot(), message)
}

func (s *Session) downloadProgressed(ev browser.DownloadProgressed) {
	s.changeDownload(ev.Download, func(m *DownloadMessage) { m.Received, m.Total = ev.Received, ev.Total })
}

func (s *Session) downloadEnded(eng *engine, ev browser.DownloadEnded) {
	s.spawn(func() {
		name, failure, err := eng.auto.Downloaded(s.ctx, ev.Download)
		if err != nil { // the browser died
			name, failure = "", "the browser is gone"
		}
		s.settleDownload(ev, name, failure)
	})
}

// settleDownload says how a download ended: with a file of the session, or why not.
func (s *Session) settleDownload(ev browser.DownloadEnded, name, failure string) {
	s.changeDownload(ev.Download, func(m *DownloadMessage) {
		switch {
		case name != "" && failure == "":
			m.State, m.Name = DownloadDone, name
		case ev.Cancelled:
			m.State = DownloadCancelled
		default:
			m.State, m.Error = DownloadFailed, text.Clip(failure, maxTitle)
		}
	})
}

// changeDownload changes what is known of a download, and tells.
func (s *Session) changeDownload(d *browser.Download, change func(*DownloadMessage)) {
	s.mu.Lock()
	k := s.downloads.byDownload(d)
	s.mu.Unlock()
	if k != nil {
		s.changeKnown(k, change)
	}
}

func (s *Session) changeKnown(k *knownDownload, change func(*DownloadMessage)) {
	s.mu.Lock()
	change(&k.message)
	message := k.message
	s.mu.Unlock()
	if message.State == DownloadDone {
		s.ShareFile(message.Name)
	}
	s.tellActors(message.slot(), message)
}

func (s *Session) knownDownloads() []DownloadMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]DownloadMessage, len(s.downloads.list))
	for i, k := range s.downloads.list {
		list[i] = k.message
	}
	return list
}

// loseDownloads ends what a browser that died had under way.
func (s *Session) loseDownloads() {
	s.mu.Lock()
	var lost []*browser.Download
	for _, k := range s.downloads.list {
		if k.download != nil && k.message.State == DownloadRunning {
			lost = append(lost, k.download)
		}
	}
	s.mu.Unlock()
	for _, d := range lost {
		s.changeDownload(d, func(m *DownloadMessage) { m.State, m.Error = DownloadFailed, "the browser crashed" })
	}
}

// Download cancels a download. Whoever is in control may; when nobody is, any
// viewer whose role allows to act.
func (v *Viewer) Download(ctx context.Context, id, action string) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	if action != "cancel" {
		return invalid.Field("action", "must be cancel")
	}
	s := v.session
	s.mu.Lock()
	at := slices.IndexFunc(s.downloads.list, func(k *knownDownload) bool { return k.message.ID == id })
	var end func(context.Context) error
	if at >= 0 {
		end = s.downloads.list[at].cancel
	}
	s.mu.Unlock()
	if end == nil {
		return invalid.Field("id", "there is no such download")
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	if err := end(ctx); err != nil {
		if errors.Is(err, browser.ErrBrowserClosed) {
			return ErrNotReady
		}
		return err
	}
	return nil
}
