package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/limits"
	"takeover/savedscripts"
	"takeover/session"
	"takeover/web/views"
)

// savedRequest is the body of saving or changing a script.
type savedRequest struct {
	Name *string         `json:"name,omitempty" doc:"At most 100 characters. Required for a new script."`
	Code *string         `json:"code,omitempty" doc:"At most 1 MiB. Required for a new script."`
	Args json.RawMessage `json:"args,omitempty" doc:"Default args of the script's runs: any JSON value."`
}

func readSaved(c echo.Context) (savedscripts.Change, error) {
	var req savedRequest
	if err := readJSON(c, scriptBodyLimit, &req); err != nil {
		return savedscripts.Change{}, err
	}
	return savedscripts.Change{Name: req.Name, Code: req.Code, Args: req.Args}, nil
}

// listSaved handles GET /v1/saved-scripts.
func (s *Server) listSaved(c echo.Context) error {
	all, err := s.scripts.List(c.Request().Context())
	if err != nil {
		return err
	}
	return list(c, "scripts", all, newestFirst,
		func(one savedscripts.Script) position { return position{one.UpdatedAt, one.ID} },
		func(one savedscripts.Script) savedscripts.Script { return one })
}

// saveScript handles POST /v1/saved-scripts.
func (s *Server) saveScript(c echo.Context) error {
	change, err := readSaved(c)
	if err != nil {
		return err
	}
	saved, err := s.scripts.Save(c.Request().Context(), change)
	if errors.Is(err, savedscripts.ErrTooMany) {
		s.limitHit(limits.SavedScripts)
	}
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/v1/saved-scripts/"+saved.ID)
	return c.JSON(http.StatusCreated, saved)
}

// getSaved handles GET /v1/saved-scripts/:script.
func (s *Server) getSaved(c echo.Context) error {
	saved, err := s.scripts.Get(c.Request().Context(), c.Param("script"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, saved)
}

// changeSaved handles PATCH /v1/saved-scripts/:script.
func (s *Server) changeSaved(c echo.Context) error {
	change, err := readSaved(c)
	if err != nil {
		return err
	}
	saved, err := s.scripts.Change(c.Request().Context(), c.Param("script"), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, saved)
}

// deleteSaved handles DELETE /v1/saved-scripts/:script.
func (s *Server) deleteSaved(c echo.Context) error {
	if err := s.scripts.Delete(c.Request().Context(), c.Param("script")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// pageScripts handles GET /scripts.
func (s *Server) pageScripts(c echo.Context) error {
	all, err := s.scripts.List(c.Request().Context())
	if err != nil {
		return err
	}
	p := views.ScriptsPage{Page: s.page(c), Filter: views.NewFilter(c.QueryParams())}
	last := s.lastRuns()
	for _, one := range all {
		p.Scripts = append(p.Scripts, views.SavedScript{ID: one.ID, Name: one.Name, Code: one.Code, Args: string(one.Args), UpdatedAt: one.UpdatedAt, Last: last[one.Filename()]})
	}
	if len(all) == 0 {
		p.Samples = s.samples(cmp.Or(s.localURL(), s.baseURL(c.Request())))
	}
	return s.render(c, http.StatusOK, views.Scripts(p))
}

// lastRuns returns the newest run of each script that the kept sessions ran, by the
// script's file name. Scripts without a name of their own are left out.
func (s *Server) lastRuns() map[string]views.LastRun {
	last := make(map[string]views.LastRun)
	begun := make(map[string]time.Time)
	for _, one := range s.manager.List() {
		for _, r := range one.Runs() {
			run := r.Brief()
			if run.Filename == session.DefaultFilename || run.CreatedAt.Before(begun[run.Filename]) {
				continue
			}
			at := run.CreatedAt
			if run.EndedAt != nil {
				at = *run.EndedAt
			}
			begun[run.Filename] = run.CreatedAt
			last[run.Filename] = views.LastRun{ID: run.ID, SessionID: one.ID(), Status: string(run.Status), At: at}
		}
	}
	return last
}

// Samples for servers without the demo site.
const (
	tableElsewhere = `// Returns the table of a page: a list for each row.
await page.goto('https://www.iana.org/domains/root/db');
const rows = page.locator('table tbody tr');
return (await rows.evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)))).slice(0, 20);
`
	tableHere = `// Returns the table of a page: a list for each row.
await page.goto('%s/demo/orders');
const rows = page.locator('table tbody tr');
return await rows.evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
`
	picture = `// Takes a picture of a whole page. It is then in the session's files.
await page.goto('%s');
await page.screenshot({ path: 'page.png', fullPage: true });
return await page.title();
`
)

// samples returns the scripts that the page of scripts offers: the editor's first script,
// and others, for the demo site if there is one.
func (s *Server) samples(base string) []views.SampleScript {
	title, table, place := "Ask a person to look at a page", tableElsewhere, "https://example.com/"
	if s.cfg.Demo {
		title, table, place = "Sign in with a person’s help", fmt.Sprintf(tableHere, base), base+"/demo/catalog"
	}
	return []views.SampleScript{
		{Title: title, Code: s.sample(base)},
		{Title: "Read a table from a page", Code: table},
		{Title: "Take a picture of a page", Code: fmt.Sprintf(picture, place)},
	}
}
