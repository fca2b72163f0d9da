package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"takeover/text"
)

type (
	filesCommand struct {
		List   filesList   `cmd:"" aliases:"ls" help:"List a session's files: those that pages downloaded, scripts wrote and people added."`
		Get    filesGet    `cmd:"" help:"Fetch a file of a session."`
		Put    filesPut    `cmd:"" help:"Add files to a session, for scripts that upload them."`
		Remove filesRemove `cmd:"" aliases:"rm" help:"Remove files of a session."`
	}
	filesList struct {
		Session string `arg:"" help:"The session's id."`
	}
	filesGet struct {
		Session string `arg:"" help:"The session's id."`
		Name    string `arg:"" help:"The file's name, as listed by takeover files list."`
		Output  string `short:"o" help:"Where to write it; - is standard output. Default: its name, in this folder." placeholder:"FILE"`
	}
	filesPut struct {
		Session string   `arg:"" help:"The session's id."`
		Files   []string `arg:"" help:"The files; a file of the same name is replaced."`
	}
	filesRemove struct {
		Session string   `arg:"" help:"The session's id."`
		Names   []string `arg:"" help:"The files' names."`
	}
)

// fileInfo is a file of a session.
type fileInfo struct {
	Name       string    `json:"name"`
	Size       int64     `json:"size"` // bytes
	ModifiedAt time.Time `json:"modifiedAt"`
}

func (f fileInfo) String() string {
	return fmt.Sprintf("%s (%s)", printable(f.Name), text.Bytes(f.Size))
}

func filesPath(session string, name ...string) string {
	path := "/v1/sessions/" + url.PathEscape(session) + "/files"
	for _, n := range name {
		path += "/" + url.PathEscape(n)
	}
	return path
}

// files lists a session's files, oldest first.
func (c *client) files(ctx context.Context, session string) ([]fileInfo, error) {
	all := []fileInfo{}
	for cursor := ""; ; {
		var page struct {
			Files []fileInfo `json:"files"`
			Next  *string    `json:"next"`
		}
		if err := c.call(ctx, "GET", filesPath(session)+"?limit=1000&cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Files...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
}

// fetch writes a session's file to a writer.
func (c *client) fetch(ctx context.Context, session, name string, where io.Writer) error {
	resp, err := c.do(ctx, http.MethodGet, filesPath(session, name), nil)
	if err != nil {
		return fmt.Errorf("%s: %w", printable(name), err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(where, resp.Body); err != nil {
		return fmt.Errorf("%s: %w", printable(name), err)
	}
	return nil
}

// fetchInto saves a session's file under its name in a folder. The name cannot
// lead out of the folder.
func (c *client) fetchInto(ctx context.Context, session, name string, dir *os.Root, flag int) (err error) {
	file, err := dir.OpenFile(filepath.Base(name), os.O_WRONLY|os.O_CREATE|flag, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return c.fetch(ctx, session, name, file)
}

// Run lists files.
func (f *filesList) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	all, err := api.files(ctx, f.Session)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(std.out, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(std.err, "No files: the session's pages downloaded none, and no script wrote one. takeover files put adds some.")
		return nil
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSIZE\tAGE")
	for _, one := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", printable(one.Name), text.Bytes(one.Size), age(one.ModifiedAt))
	}
	return w.Flush()
}

// Run fetches a file.
func (f *filesGet) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if f.Output == "-" {
		return api.fetch(ctx, f.Session, f.Name, std.out)
	}
	// If the name was chosen by the session, do not replace existing files.
	path, flag := f.Output, os.O_TRUNC
	if path == "" {
		path, flag = filepath.Base(f.Name), os.O_EXCL
	}
	resp, err := api.do(ctx, http.MethodGet, filesPath(f.Session, f.Name), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o644) //nolint:gosec // where the person wants it
	if errors.Is(err, os.ErrExist) {
		return usage("%s is there already: say where to write with --output", path)
	} else if err != nil {
		return err
	}
	n, err := io.Copy(file, resp.Body)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(std.out, map[string]any{"path": path, "size": n})
	}
	fmt.Fprintf(std.out, "%s (%s)\n", printable(path), text.Bytes(n))
	return nil
}

// Run adds files.
func (f *filesPut) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	added := []fileInfo{}
	for _, path := range f.Files {
		one, err := api.put(ctx, f.Session, path)
		if err != nil {
			return err
		}
		added = append(added, one)
		if !c.JSON {
			fmt.Fprintln(std.out, one)
		}
	}
	if c.JSON {
		return writeJSON(std.out, added)
	}
	return nil
}

// put adds a file to a session.
func (c *client) put(ctx context.Context, session, path string) (added fileInfo, err error) {
	file, err := os.Open(path)
	if err != nil {
		return added, usage("%w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return added, err
	}
	if !info.Mode().IsRegular() {
		return added, usage("%s is no file", path)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+filesPath(session)+"?name="+url.QueryEscape(filepath.Base(path)), file)
	if err != nil {
		return added, err
	}
	req.ContentLength = info.Size()
	kind := mime.TypeByExtension(filepath.Ext(path))
	if kind == "" {
		kind = "application/octet-stream"
	}
	req.Header.Set("Content-Type", kind)
	resp, err := c.send(req)
	if err != nil {
		return added, err
	}
	defer resp.Body.Close()
	return added, decode(resp.Body, &added)
}

// Run removes files.
func (f *filesRemove) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	for _, name := range f.Names {
		if err := api.call(ctx, "DELETE", filesPath(f.Session, name), nil, nil); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !c.JSON {
			fmt.Fprintln(std.out, "removed", printable(name))
		}
	}
	if c.JSON {
		return writeJSON(std.out, map[string]any{"removed": f.Names})
	}
	return nil
}
