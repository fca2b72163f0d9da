package session

import (
	"context"
	"errors"

	"takeover/browser"
	"takeover/files"
	"takeover/id"
	"takeover/invalid"
	"takeover/limits"
	"takeover/text"
)

// DownloadState is the state of a download.
type DownloadState string

// The states of a download: the last three are final.
const (
	DownloadRunning   DownloadState = "running"
	DownloadDone      DownloadState = "done"
	DownloadFailed    DownloadState = "failed"
	DownloadCancelled DownloadState = "cancelled"
)

// slot returns the outbox slot of a download, so that a newer message replaces an
// older one.
func (m DownloadMessage) slot() string { return "download " + m.ID }

// downloadBegan adds a download of a person or a script. It runs on the model's
// goroutine, like downloadProgressed and downloadEnded.
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

// addDownload remembers a download and tells the viewers.
func (s *Session) addDownload(k *knownDownload) {
	message, forgot := s.transfers.add(k)
	if forgot {
		s.hit(limits.Downloads)
	}
	s.tellActors(message.slot(), message)
}

func (s *Session) downloadProgressed(ev browser.DownloadProgressed) {
	s.changeDownload(ev.Download, func(m *DownloadMessage) { m.Received, m.Total = ev.Received, ev.Total })
}

func (s *Session) downloadEnded(eng *engine, ev browser.DownloadEnded) {
	s.life.spawn(func() {
		name, failure, err := eng.auto.Downloaded(s.ctx, ev.Download)
		if err != nil { // the browser died
			name, failure = "", "the browser is gone"
		}
		s.finishDownload(ev, name, failure)
	})
}

// finishDownload sets the result of a download: a file of the session, or an
// error.
func (s *Session) finishDownload(ev browser.DownloadEnded, name, failure string) {
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

// changeDownload changes a download's message and sends it to the viewers.
func (s *Session) changeDownload(d *browser.Download, change func(*DownloadMessage)) {
	if k := s.transfers.find(func(k *knownDownload) bool { return k.download == d }); k != nil {
		s.changeKnown(k, change)
	}
}

func (s *Session) changeKnown(k *knownDownload, change func(*DownloadMessage)) {
	message := s.transfers.change(k, change)
	if message.State == DownloadDone {
		s.shareDownload(message.Name)
	}
	s.tellActors(message.slot(), message)
}

// shareDownload lets guests fetch a downloaded file.
func (s *Session) shareDownload(name string) {
	folder := s.transfers.files()
	if folder == nil {
		return
	}
	if f, err := folder.Stat(name); err == nil {
		s.ShareFile(f)
	}
}

// loseDownloads ends the running downloads of a dead browser.
func (s *Session) loseDownloads() {
	for _, d := range s.transfers.underWay() {
		s.changeDownload(d, func(m *DownloadMessage) { m.State, m.Error = DownloadFailed, "the browser crashed" })
	}
}

// Download cancels a download. The viewer in control may do that. While nobody is
// in control, any viewer whose role permits acting may.
func (v *Viewer) Download(ctx context.Context, id, action string) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	if action != "cancel" {
		return invalid.Field("action", "must be cancel")
	}
	s := v.session
	k := s.transfers.find(func(k *knownDownload) bool { return k.message.ID == id })
	if k == nil {
		return invalid.Field("id", "there is no such download")
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	if err := k.cancel(ctx); err != nil {
		if errors.Is(err, browser.ErrBrowserClosed) {
			return ErrNotReady
		}
		return err
	}
	return nil
}
