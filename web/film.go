package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/session"
)

// filmView is the body of the list of a film strip's pictures.
type filmView struct {
	Pictures []int64 `json:"pictures" doc:"When each was taken, oldest first, in milliseconds since 1970; each is the last part of its picture's address."`
	Hidden   []int64 `json:"hidden" doc:"From when nothing was kept, because a secret could be seen, until the next picture."`
}

// getFilm handles GET /v1/sessions/:id/film.
func (s *Server) getFilm(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	pictures, hidden, err := session.Film(one)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, filmView{Pictures: milliseconds(pictures), Hidden: milliseconds(hidden)})
}

// milliseconds returns times in milliseconds since 1970.
func milliseconds(times []time.Time) []int64 {
	list := make([]int64, len(times))
	for i, at := range times {
		list[i] = at.UnixMilli()
	}
	return list
}

// getFilmPicture handles GET /v1/sessions/:id/film/:at.
func (s *Server) getFilmPicture(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	ms, err := strconv.ParseInt(c.Param("at"), 10, 64)
	if err != nil {
		return badField("at", "must be a time in milliseconds since 1970")
	}
	image, err := session.FilmPicture(one, time.UnixMilli(ms))
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "image/jpeg", image)
}
