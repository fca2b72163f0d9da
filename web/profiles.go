package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"takeover/invalid"
	"takeover/limits"
	"takeover/profiles"
	"takeover/session"
	"takeover/storagestate"
	"takeover/web/views"
)

// profileBodyLimit bounds the body that creates a profile or replaces its state, in
// bytes.
const profileBodyLimit = profiles.MaxStateBytes + 64<<10

// profileRequest is the body of creating a profile: from a session, or from a
// storage state.
type profileRequest struct {
	Name         string          `json:"name" doc:"A name that no other profile has. At most 100 characters." required:"true"`
	Session      string          `json:"session,omitempty" doc:"The id of a live session whose state is saved. Either session or storageState is required."`
	UserData     bool            `json:"userData,omitempty" doc:"With session: also saves the whole user data directory, when the session ends."`
	StorageState json.RawMessage `json:"storageState,omitempty" doc:"Cookies and storage in Playwright's form."`
}

// renameProfileRequest is the body of renaming a profile.
type renameProfileRequest struct {
	Name string `json:"name" doc:"At most 100 characters." required:"true"`
}

// listProfiles handles GET /v1/profiles.
func (s *Server) listProfiles(c echo.Context) error {
	all, err := s.profiles.List(c.Request().Context())
	if err != nil {
		return err
	}
	return list(c, "profiles", all, newestFirst,
		func(one profiles.Profile) position { return position{one.UpdatedAt, one.ID} },
		func(one profiles.Profile) profiles.Profile { return one })
}

// pageProfiles handles GET /profiles.
func (s *Server) pageProfiles(c echo.Context) error {
	p := views.ProfilesPage{Page: s.page(c), Filter: views.NewFilter(c.QueryParams())}
	all, err := s.profiles.List(c.Request().Context())
	switch {
	case errors.Is(err, profiles.ErrNoKey):
		p.Unable = "Give the server a key to encrypt them with: TAKEOVER_SECRET_KEY."
	case errors.Is(err, profiles.ErrNoStore):
		p.Unable = "This server has no store for them."
	case err != nil:
		return err
	}
	used := map[string]int{}
	for _, one := range s.manager.List() {
		if !one.Info().Status.Ended() {
			used[session.ProfileOf(one)]++
		}
	}
	for _, one := range all {
		saved := views.SavedProfile{
			ID: one.ID, Name: one.Name, Sites: one.Origins, Cookies: one.Cookies, Passkeys: one.Passkeys, UserData: one.UserData, Bytes: int64(one.Bytes), UpdatedAt: one.UpdatedAt, Used: used[one.ID],
		}
		switch {
		case one.Locked:
			saved.Why = "No key of this server opens it"
		case one.Damaged:
			saved.Why = "What is stored of it was changed"
		}
		p.Profiles = append(p.Profiles, saved)
	}
	slices.SortStableFunc(p.Profiles, func(a, b views.SavedProfile) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return s.render(c, http.StatusOK, views.Profiles(p))
}

// createProfile handles POST /v1/profiles.
func (s *Server) createProfile(c echo.Context) error {
	var req profileRequest
	if uploadsUserData(c) {
		return errUserDataUpload
	}
	if err := readJSON(c, profileBodyLimit, &req); err != nil {
		return err
	}
	saved, err := s.newProfile(c, &req)
	if errors.Is(err, profiles.ErrTooMany) {
		s.limitHit(limits.Profiles)
	}
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/v1/profiles/"+saved.ID)
	return c.JSON(http.StatusCreated, saved)
}

func (s *Server) newProfile(c echo.Context, req *profileRequest) (profiles.Profile, error) {
	ctx := c.Request().Context()
	switch {
	case (req.Session == "") == (req.StorageState == nil):
		return profiles.Profile{}, badField("session", "give either session or storageState")
	case req.StorageState != nil && req.UserData:
		return profiles.Profile{}, badField("userData", "needs a session")
	case req.StorageState != nil:
		state, err := storagestate.Parse(req.StorageState)
		if err != nil {
			return profiles.Profile{}, inField(err, "storageState")
		}
		content, err := session.ProfileState(state)
		if err != nil {
			return profiles.Profile{}, err
		}
		return s.profiles.Create(ctx, req.Name, content)
	}
	one, err := s.manager.Get(req.Session)
	if err != nil {
		return profiles.Profile{}, badField("session", "no session has this id")
	}
	return s.manager.SaveProfile(ctx, one, req.Name, req.UserData)
}

// inField puts the name of a field before those in an *invalid.Error.
func inField(err error, field string) error {
	wrong, ok := errors.AsType[*invalid.Error](err)
	if !ok {
		return err
	}
	for i := range wrong.Fields {
		name := field
		if inner := wrong.Fields[i].Field; inner != "" {
			name += "." + inner
		}
		wrong.Fields[i].Field = name
	}
	return wrong
}

// getProfile handles GET /v1/profiles/:profile.
func (s *Server) getProfile(c echo.Context) error {
	one, err := s.profiles.Find(c.Request().Context(), c.Param("profile"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, one)
}

// renameProfile handles PATCH /v1/profiles/:profile.
func (s *Server) renameProfile(c echo.Context) error {
	var req renameProfileRequest
	if uploadsUserData(c) {
		return errUserDataUpload
	}
	if err := readJSON(c, bodyLimit, &req); err != nil {
		return err
	}
	one, err := s.profiles.Rename(c.Request().Context(), c.Param("profile"), req.Name)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, one)
}

// deleteProfile handles DELETE /v1/profiles/:profile.
func (s *Server) deleteProfile(c echo.Context) error {
	if err := s.profiles.Delete(c.Request().Context(), c.Param("profile")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// exportProfile handles GET /v1/profiles/:profile/state.
func (s *Server) exportProfile(c echo.Context) error {
	state, err := s.profiles.State(c.Request().Context(), c.Param("profile"))
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.JSONBlob(http.StatusOK, state)
}

// importProfile handles PUT /v1/profiles/:profile/state.
func (s *Server) importProfile(c echo.Context) error {
	raw, err := readBody(c, profileBodyLimit)
	if err != nil {
		return err
	}
	state, err := storagestate.Parse(raw)
	if err != nil {
		return err
	}
	content, err := session.ProfileState(state)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	one, err := s.profiles.Find(ctx, c.Param("profile"))
	if err != nil {
		return err
	}
	if one, err = s.profiles.SetState(ctx, one.ID, content); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, one)
}

// reencryptedView is the answer to encrypting profiles again.
type reencryptedView struct {
	Changed int `json:"changed" doc:"How many profiles were encrypted again."`
}

// reencryptProfiles handles POST /v1/profiles/reencrypt.
func (s *Server) reencryptProfiles(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	n, err := s.profiles.Reencrypt(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, reencryptedView{Changed: n})
}
