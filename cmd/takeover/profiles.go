package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"takeover/text"
)

type (
	profilesCommand struct {
		List      profilesList      `cmd:"" aliases:"ls" default:"withargs" help:"List profiles, most recently changed first."`
		Save      profilesSave      `cmd:"" help:"Keep what a session's browser has stored as a profile."`
		Import    profilesImport    `cmd:"" help:"Keep a storageState of Playwright as a profile, or replace that of a profile."`
		Export    profilesExport    `cmd:"" help:"Write a profile's storageState, decrypted."`
		Rename    profilesRename    `cmd:"" help:"Rename a profile."`
		Remove    profilesRemove    `cmd:"" aliases:"rm,delete" help:"Forget profiles."`
		Reencrypt profilesReencrypt `cmd:"" help:"Encrypt all profiles with the server's first secret key, so that the others are no longer needed."`
	}
	profilesList struct{}
	profilesSave struct {
		Name     string `arg:"" help:"The profile's name."`
		Session  string `arg:"" help:"The session's id."`
		UserData bool   `help:"Also keep the whole user data directory, when the session ends."`
	}
	profilesImport struct {
		Name string `arg:"" help:"The profile's name."`
		File string `arg:"" help:"The file; - is standard input."`
	}
	profilesExport struct {
		Profile string `arg:"" help:"The profile's name or id."`
		Output  string `short:"o" help:"Where to write it; only you can read the file. Default: standard output." placeholder:"FILE"`
	}
	profilesRename struct {
		Profile string `arg:"" help:"The profile's name or id."`
		Name    string `arg:"" help:"The new name."`
	}
	profilesRemove struct {
		Profiles []string `arg:"" name:"profile" help:"The profiles' names or ids."`
	}
	profilesReencrypt struct{}
)

// profileInfo is a profile in the API's responses.
type profileInfo struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	UpdatedAt time.Time `json:"updatedAt"`
	Cookies   int       `json:"cookies"`
	Origins   []string  `json:"origins"`
	Passkeys  int       `json:"passkeys"`
	Bytes     int64     `json:"bytes"`
	UserData  bool      `json:"userData"`
	Locked    bool      `json:"locked"`
	Damaged   bool      `json:"damaged"`
}

func (p profileInfo) String() string {
	return fmt.Sprintf("%s: %d cookies, storage of %d sites, %d passkeys", printable(p.Name), p.Cookies, len(p.Origins), p.Passkeys)
}

func profilePath(name string) string { return "/v1/profiles/" + url.PathEscape(name) }

// profiles lists all profiles.
func (c *client) profiles(ctx context.Context) ([]profileInfo, error) {
	all := []profileInfo{}
	for cursor := ""; ; {
		var page struct {
			Profiles []profileInfo `json:"profiles"`
			Next     *string       `json:"next"`
		}
		if err := c.call(ctx, "GET", "/v1/profiles?limit=1000&cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Profiles...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
}

// Run lists profiles.
func (p *profilesList) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	all, err := api.profiles(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(std.out, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(std.err, "No profiles. takeover profiles save NAME SESSION keeps what a session's browser has stored.")
		return nil
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tCHANGED\tCOOKIES\tSITES\tPASSKEYS\tSIZE\tID")
	for _, one := range all {
		name := printable(one.Name)
		switch {
		case one.Locked:
			name = "(locked: needs another secret key)"
		case one.Damaged:
			name = "(damaged: what is stored was changed)"
		}
		fmt.Fprintf(w, "%s\t%s ago\t%d\t%d\t%d\t%s\t%s\n", name, age(one.UpdatedAt), one.Cookies, len(one.Origins), one.Passkeys, text.Bytes(one.Bytes), one.ID)
	}
	return w.Flush()
}

// Run saves a session's state.
func (p *profilesSave) Run(ctx context.Context, c *cli, std streams) error {
	return c.makeProfile(ctx, std, map[string]any{"name": p.Name, "session": p.Session, "userData": p.UserData})
}

// makeProfile creates a profile and reports it.
func (c *cli) makeProfile(ctx context.Context, std streams, body any) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var made profileInfo
	if err := api.call(ctx, "POST", "/v1/profiles", body, &made); err != nil {
		return err
	}
	return c.told(std, made, "saved "+made.String())
}

// told reports what a command did.
func (c *cli) told(std streams, what any, text string) error {
	if c.JSON {
		return writeJSON(std.out, what)
	}
	fmt.Fprintln(std.out, text)
	return nil
}

// Run imports a storage state.
func (p *profilesImport) Run(ctx context.Context, c *cli, std streams) error {
	from := std.in
	if p.File != "-" {
		file, err := os.Open(p.File)
		if err != nil {
			return usage("%w", err)
		}
		defer file.Close()
		from = file
	}
	raw, err := io.ReadAll(from)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.File, err)
	}
	if !json.Valid(raw) {
		return usage("%s is not JSON", p.File)
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	var made profileInfo
	err = api.call(ctx, "PUT", profilePath(p.Name)+"/state", json.RawMessage(raw), &made)
	if missing, ok := errors.AsType[*problem](err); ok && missing.Status == http.StatusNotFound {
		return c.makeProfile(ctx, std, map[string]any{"name": p.Name, "storageState": json.RawMessage(raw)})
	}
	if err != nil {
		return err
	}
	return c.told(std, made, "replaced "+made.String())
}

// Run exports a storage state.
func (p *profilesExport) Run(ctx context.Context, c *cli, std streams) (err error) {
	api, err := c.client()
	if err != nil {
		return err
	}
	var state json.RawMessage
	if err := api.call(ctx, "GET", profilePath(p.Profile)+"/state", nil, &state); err != nil {
		return err
	}
	if p.Output == "" || p.Output == "-" {
		return writeJSON(std.out, state)
	}
	if err := writePrivate(p.Output, state); err != nil {
		return err
	}
	fmt.Fprintln(std.err, "The file holds cookies and passkeys that sign in. Keep it safe.")
	return nil
}

// writePrivate writes a file that only the user can read, also if it exists.
func writePrivate(path string, data []byte) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err := file.Stat(); err != nil || info.Mode().IsRegular() { // not a terminal or a pipe
		if err := errors.Join(err, file.Chmod(0o600)); err != nil {
			return err
		}
	}
	_, err = file.Write(data)
	return err
}

// Run renames a profile.
func (p *profilesRename) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var changed profileInfo
	if err := api.call(ctx, "PATCH", profilePath(p.Profile), map[string]string{"name": p.Name}, &changed); err != nil {
		return err
	}
	return c.told(std, changed, "renamed to "+printable(changed.Name))
}

// Run deletes profiles.
func (p *profilesRemove) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var errs []error
	removed := []string{}
	for _, name := range p.Profiles {
		if err := api.call(ctx, "DELETE", profilePath(name), nil, nil); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		removed = append(removed, name)
	}
	if len(removed) > 0 || c.JSON {
		errs = append(errs, c.told(std, map[string]any{"removed": removed}, "removed "+printable(strings.Join(removed, ", "))))
	}
	return errors.Join(errs...)
}

// Run encrypts profiles again.
func (p *profilesReencrypt) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var done struct {
		Changed int `json:"changed"`
	}
	if err := api.call(ctx, "POST", "/v1/profiles/reencrypt", nil, &done); err != nil {
		return err
	}
	return c.told(std, done, fmt.Sprintf("%d profiles were encrypted again", done.Changed))
}
