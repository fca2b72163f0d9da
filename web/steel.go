package web

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/door/page"
	"takeover/door/steel"
	"takeover/files"
	"takeover/session"
	"takeover/text"
)

// This file mounts the calls of Steel's API, package door/steel. Most of them are
// routes of our own; a caller with Steel's header gets Steel's fields, too.

// pageTime bounds the life of a session that a call opens to read one page. It is
// longer than the times that a call may ask for, one after the other.
const pageTime = 5 * time.Minute

// forSteel reports whether the caller uses Steel's client.
func forSteel(c echo.Context) bool { return c.Request().Header.Get(keyHeader) != "" }

// onPage runs work with a page in a session of its own, which is created as req says
// and ends with the work.
func (s *Server) onPage(c echo.Context, req *createRequest, work func(context.Context, page.Page) error) error {
	if req.Timeout == nil {
		req.Timeout = new(pageTime.Milliseconds())
	}
	return s.onOwnSession(c, req, "call", "its page was read", func(ctx context.Context, program *session.Program) error {
		return work(ctx, page.Page{Program: program})
	})
}

// errUserDataUpload refuses what Steel's client sends to make a profile.
var errUserDataUpload = &failure{kind: kindNotAvailable, detail: "This server takes no user data directory from outside. Give persistProfile or persist to a session, or POST a storageState as JSON."}

// uploadsUserData reports whether a request carries a profile as Steel's client sends
// it.
func uploadsUserData(c echo.Context) bool {
	return strings.HasPrefix(c.Request().Header.Get(echo.HeaderContentType), echo.MIMEMultipartForm)
}

// liveDetails handles GET …/live-details.
func (s *Server) liveDetails(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	pages, err := session.ListPages(c.Request().Context(), one)
	if err != nil {
		return err
	}
	viewer := s.baseURL(c.Request()) + "/sessions/" + one.ID()
	details := steel.LiveDetails{Pages: []steel.LivePage{}, Viewer: viewer, Fullscreen: viewer, Socket: s.cdpURL(c.Request(), one.ID())}
	for _, p := range slices.Backward(pages) {
		details.Pages = append(details.Pages, steel.LivePage{ID: p.ID, URL: p.URL, Title: p.Title, Viewer: viewer, Fullscreen: viewer})
	}
	return c.JSON(http.StatusOK, details)
}

// host keeps a picture or a document for the caller.
func (s *Server) host(c echo.Context) steel.Host {
	return func(content []byte, mime string) (string, error) {
		name, ok := s.renders.keep(content, mime)
		if !ok {
			return "", fmt.Errorf("%w: its picture or document has %d bytes, and at most %d are kept", steel.ErrTooLarge, len(content), maxRenderBytes)
		}
		return s.baseURL(c.Request()) + "/v1/renders?name=" + url.QueryEscape(s.withNode(name)), nil
	}
}

// steelScrape handles POST /v1/scrape.
func (s *Server) steelScrape(c echo.Context) error {
	var req steel.ScrapeRequest
	if err := readJSON(c, bodyLimit, &req); err != nil {
		return err
	}
	if err := req.Check(); err != nil {
		return err
	}
	var out *steel.Scraped
	err := s.onPage(c, &createRequest{}, func(ctx context.Context, p page.Page) (err error) {
		out, err = req.Scrape(ctx, p, s.host(c))
		return err
	})
	if err != nil {
		return pageFailure(err)
	}
	return c.JSON(http.StatusOK, out)
}

// steelScreenshot handles POST /v1/screenshot.
func (s *Server) steelScreenshot(c echo.Context) error {
	var req steel.ScreenshotRequest
	if err := readJSON(c, bodyLimit, &req); err != nil {
		return err
	}
	if err := req.Check(); err != nil {
		return err
	}
	return s.hosted(c, func(ctx context.Context, p page.Page) (*steel.Hosted, error) {
		return req.Screenshot(ctx, p, s.host(c))
	})
}

// steelPDF handles POST /v1/pdf.
func (s *Server) steelPDF(c echo.Context) error {
	var req steel.PDFRequest
	if err := readJSON(c, bodyLimit, &req); err != nil {
		return err
	}
	if err := req.Check(); err != nil {
		return err
	}
	return s.hosted(c, func(ctx context.Context, p page.Page) (*steel.Hosted, error) { return req.Print(ctx, p, s.host(c)) })
}

// hosted answers with the address of what work makes.
func (s *Server) hosted(c echo.Context, work func(context.Context, page.Page) (*steel.Hosted, error)) error {
	var out *steel.Hosted
	err := s.onPage(c, &createRequest{}, func(ctx context.Context, p page.Page) (err error) {
		out, err = work(ctx, p)
		return err
	})
	if err != nil {
		return pageFailure(err)
	}
	return c.JSON(http.StatusOK, out)
}

// pageFailure reports why a call could not read a page. Errors of the page's
// operations are the caller's: the address does not answer, or is refused.
func pageFailure(err error) error {
	if session.FromOperation(err) {
		return &failure{kind: kindPage, detail: text.Sentence(err.Error()), err: err}
	}
	if errors.Is(err, steel.ErrTooLarge) {
		return &failure{kind: kindPage, detail: text.Sentence(err.Error()), err: err}
	}
	return err
}

// deleteFiles handles DELETE /v1/sessions/:id/files.
func (s *Server) deleteFiles(c echo.Context) error {
	_, folder, err := s.filesOf(c)
	if err != nil {
		return err
	}
	all, err := folder.List()
	if err != nil {
		return err
	}
	for _, f := range all {
		if err := folder.Remove(f.Name); err != nil && !errors.Is(err, files.ErrNotFound) {
			return err
		}
	}
	return c.NoContent(http.StatusNoContent)
}

// downloadFiles handles GET /v1/sessions/:id/files.zip.
func (s *Server) downloadFiles(c echo.Context) error {
	_, folder, err := s.filesOf(c)
	if err != nil {
		return err
	}
	all, err := folder.List()
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "application/zip")
	h.Set(echo.HeaderContentDisposition, `attachment; filename="files.zip"`)
	out := zip.NewWriter(&stallingWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.StallLimit})
	for _, f := range all {
		if err := addToZip(out, folder, f); err != nil {
			return err
		}
	}
	return out.Close()
}

// addToZip adds a file, unless it was removed meanwhile.
func addToZip(out *zip.Writer, folder *files.Folder, f files.File) error {
	file, info, err := folder.Open(f.Name)
	if errors.Is(err, files.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	part, err := out.CreateHeader(&zip.FileHeader{Name: info.Name, Modified: info.ModifiedAt, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = io.Copy(part, file)
	return err
}
