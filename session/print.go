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
	// printWindow is how long after a person's last press a page's print is
	// attributed to that person. Each press permits one print.
	printWindow = 10 * time.Second
)

// printed handles a page's window.print(), which would otherwise do nothing: if
// a person is in control and pressed something just before, it makes a PDF of
// the page for that person. It may run on the model's goroutine.
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

// print saves a PDF of a page in the session's folder, as soon as pictures of the
// page are permitted.
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
		s.log.Debug("print", "error", e) // the file is complete
	}
	return file, err
}
