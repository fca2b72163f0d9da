package session

import (
	"context"
	"errors"
	"time"

	"takeover/browser"
	"takeover/files"
	"takeover/id"
	"takeover/text"
)

const (
	// printTimeout bounds making a PDF of a page.
	printTimeout = time.Minute
	// printWindow is how long after a person's last press a page that prints is
	// taken to do it for them; each press is good for one.
	printWindow = 10 * time.Second
)

// printed makes a PDF of a page that has called window.print(), which has nowhere
// to go to otherwise, for the person who pressed something before that. It may run
// on the model's goroutine.
func (s *Session) printed(p *browser.Page) {
	holder := s.control.Holder()
	if p.Printing() || !holder.IsPerson() || !s.gestures.print(printWindow) {
		return
	}
	name := files.Name(text.Clip(p.Title(), maxTitle))
	if name == "" {
		name = "page"
	}
	ctx, cancel := context.WithTimeout(s.ctx, printTimeout)
	k := &knownDownload{cancel: func(context.Context) error { cancel(); return nil }, message: DownloadMessage{
		Type: "download", ID: id.New("dl"), State: DownloadRunning, Name: name + ".pdf", URL: text.Clip(p.URL(), maxTitle),
	}}
	s.addDownload(k)
	s.life.spawn(func() {
		defer cancel()
		file, err := s.print(ctx, p, k.message.Name)
		s.changeKnown(k, func(m *DownloadMessage) {
			switch {
			case err == nil:
				m.State, m.Name, m.Received = DownloadDone, file.Name, file.Size
			case errors.Is(err, context.Canceled):
				m.State = DownloadCancelled
			default:
				m.State, m.Error = DownloadFailed, "the page could not be printed"
			}
		})
		if err != nil {
			s.log.Debug("print", "error", err)
		}
	})
}

// print puts a PDF of a page into the session's folder, once it may be pictured.
func (s *Session) print(ctx context.Context, p *browser.Page, name string) (files.File, error) {
	folder, err := s.Files()
	if err != nil {
		return files.File{}, err
	}
	if err := s.unveiled(ctx, p); err != nil {
		return files.File{}, err
	}
	pdf, err := p.PDF(ctx)
	if err != nil {
		return files.File{}, err
	}
	file, err := folder.Add(name, pdf)
	if e := pdf.Close(); e != nil && err == nil {
		s.log.Debug("print", "error", e) // the file is whole
	}
	return file, err
}
