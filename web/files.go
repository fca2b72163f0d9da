package web

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"takeover/door/steel"
	"takeover/files"
	"takeover/session"
)

const (
	// uploadPiece is how many bytes of an upload must come within
	// Config.RequestTime.
	uploadPiece = 16 << 10
	// uploadParts bounds the parts of a form with a file.
	uploadParts = 20
	// uploadField bounds the other fields of an upload form, in bytes.
	uploadField = 4 << 10
)

// uploadForm describes an uploaded file for /openapi.json.
type uploadForm struct{}

// listFiles handles GET /v1/sessions/:id/files.
func (s *Server) listFiles(c echo.Context) error {
	one, folder, err := s.filesOf(c)
	if err != nil {
		return err
	}
	all, err := folder.List()
	if err != nil {
		return err
	}
	if !caller(c).operator() {
		all = slices.DeleteFunc(all, func(f files.File) bool { return !one.FileShared(f) })
	}
	return list(c, "files", all, oldestFirst, func(f files.File) position { return position{f.ModifiedAt, f.Name} }, func(f files.File) fileView { return viewOfFile(c, f) })
}

// uploadFile handles POST /v1/sessions/:id/files: a form with a file, or the file
// itself with ?name=.
func (s *Server) uploadFile(c echo.Context) error {
	one, folder, err := s.filesOf(c)
	if err != nil {
		return err
	}
	add := false
	if raw := c.QueryParam("add"); raw != "" {
		if add, err = strconv.ParseBool(raw); err != nil {
			return badField("add", "must be true or false")
		}
	}
	s.steady(c.Response(), c.Request())
	name, content, err := upload(c)
	if err != nil {
		return err
	}
	if name = files.Name(name); name == "" {
		return badField("name", "is required")
	}
	var guest *guestReader
	if !caller(c).operator() {
		room, charge, err := one.AdmitGuestFile()
		if err != nil {
			return err
		}
		guest = &guestReader{Reader: content, room: room, may: func() error { return s.mayStill(c, one) }, charge: charge}
		add, content = true, guest
	}
	write := folder.Write
	if add {
		write = folder.Add
	}
	info, err := write(name, content)
	if err != nil {
		if guest != nil {
			_ = guest.charge(-guest.charged) // giving back never fails
		}
		return err
	}
	if add {
		one.ShareFile(info)
	}
	c.Response().Header().Set(echo.HeaderLocation, fmt.Sprintf("/v1/sessions/%s/files/%s", c.Param("id"), url.PathEscape(info.Name)))
	return c.JSON(http.StatusCreated, viewOfFile(c, info))
}

// SteelFile is a file in Steel's form. It has another name than files.File, which stands beside it.
type SteelFile = steel.File

// fileView is a file as the API returns it.
type fileView struct {
	files.File
	*SteelFile // for Steel's client
}

func viewOfFile(c echo.Context, f files.File) fileView {
	v := fileView{File: f}
	if forSteel(c) {
		v.SteelFile = new(steel.FileOf(f))
	}
	return v
}

// guestReader reads a guest's body. It returns files.ErrFull if the body is larger
// than room, the error from charge if all guests together may not add more, and the
// error from may once the guest has lost access.
type guestReader struct {
	io.Reader
	room    int64
	may     func() error
	charge  func(bytes int64) error
	charged int64
}

// Read implements io.Reader.
func (r *guestReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if lost := r.may(); lost != nil {
		return 0, lost
	}
	if r.room -= int64(n); r.room < 0 {
		return 0, files.ErrFull
	}
	if full := r.charge(int64(n)); full != nil {
		return 0, full
	}
	r.charged += int64(n)
	return n, err
}

// upload returns the file in the body.
func upload(c echo.Context) (name string, content io.Reader, err error) {
	name = c.QueryParam("name")
	req := c.Request()
	kind, _, _ := mime.ParseMediaType(req.Header.Get(echo.HeaderContentType)) // an invalid type is not the type of a form
	if kind != echo.MIMEMultipartForm {
		return name, wholeBody{req}, nil
	}
	form, err := req.MultipartReader()
	if err != nil {
		return "", nil, &failure{kind: kindBadInput, detail: "The form cannot be read.", err: err}
	}
	for range uploadParts {
		part, err := form.NextPart()
		if err != nil {
			break
		}
		if part.FileName() != "" {
			if name == "" {
				name = part.FileName()
			}
			return name, &formFile{part: part, form: form}, nil
		}
		if field := part.FormName(); field == "name" || field == "path" {
			value, err := io.ReadAll(io.LimitReader(part, uploadField))
			if err != nil {
				return "", nil, &failure{kind: kindBadInput, detail: "The form ended early.", err: err}
			}
			name = string(value)
		}
	}
	return "", nil, badField("file", "is required")
}

// formFile is the file in a form. It returns an error if another file follows, or the file's name.
type formFile struct {
	part *multipart.Part
	form *multipart.Reader
}

// Read implements io.Reader.
func (f *formFile) Read(p []byte) (int, error) {
	n, err := f.part.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	for range uploadParts {
		next, end := f.form.NextPart()
		if errors.Is(end, io.EOF) {
			return n, io.EOF
		}
		if end != nil {
			return n, &failure{kind: kindBadInput, detail: "The form ended early.", err: end}
		}
		if next.FileName() != "" {
			return n, badField("file", "must be one file: upload each with a call of its own")
		}
		if field := next.FormName(); field == "name" || field == "path" {
			return n, badField(field, "must come before the file")
		}
	}
	return n, &failure{kind: kindBadInput, detail: "The form has too many parts."}
}

// wholeBody returns an error if the body ends before its announced length.
type wholeBody struct{ req *http.Request }

// Read implements io.Reader.
func (b wholeBody) Read(p []byte) (int, error) {
	n, err := b.req.Body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &failure{kind: kindBadInput, detail: "The body ended early.", err: err}
	}
	return n, err
}

// getFile handles GET /v1/sessions/:id/files/:name. Files may come from anywhere,
// so browsers must save and never display them.
func (s *Server) getFile(c echo.Context) error {
	one, folder, err := s.filesOf(c)
	if err != nil {
		return err
	}
	name := c.Param("name")
	file, info, err := folder.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if !caller(c).operator() && !one.FileShared(info) {
		return files.ErrNotFound
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "application/octet-stream")
	h.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	return s.serveContent(c, info.ModifiedAt, file)
}

// deleteFile handles DELETE /v1/sessions/:id/files/:name.
func (s *Server) deleteFile(c echo.Context) error {
	_, folder, err := s.filesOf(c)
	if err != nil {
		return err
	}
	if err := folder.Remove(c.Param("name")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// filesOf returns the route's session and its folder of files. A guest with a
// takeover's link may access them while the takeover is open.
func (s *Server) filesOf(c echo.Context) (*session.Session, *files.Folder, error) {
	one, err := s.liveSession(c)
	if err != nil {
		return nil, nil, err
	}
	if !caller(c).operator() {
		if err := s.mayStill(c, one); err != nil {
			return nil, nil, err
		}
	}
	folder, err := one.Files()
	return one, folder, err
}

// mayStill returns an error once a guest may no longer access a session's files.
func (s *Server) mayStill(c echo.Context, one *session.Session) error {
	grant, _ := caller(c).grant(one.ID()) // guard has checked it
	if err := s.manager.CheckGrant(grant); err != nil {
		return err
	}
	if grant.Role != session.RoleTakeover {
		return nil
	}
	if open := one.Info().Takeover; open == nil || grant.Takeover != "" && grant.Takeover != open.ID {
		return session.ErrTakeoverState
	}
	return nil
}
