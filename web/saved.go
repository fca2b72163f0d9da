package web

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"takeover/limits"
	"takeover/savedscripts"
	"takeover/web/views"
)

// savedRequest is the body of saving or changing a script.
type savedRequest struct {
	Name *string         `json:"name,omitempty" doc:"At most 100 characters. Required for a new script."`
	Code *string         `json:"code,omitempty" doc:"At most 1048576 bytes. Required for a new script."`
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
	p := views.ScriptsPage{Page: s.page(c)}
	for _, one := range all {
		p.Scripts = append(p.Scripts, views.SavedScript{ID: one.ID, Name: one.Name, Code: one.Code, Args: string(one.Args), UpdatedAt: one.UpdatedAt})
	}
	return s.render(c, http.StatusOK, views.Scripts(p))
}
