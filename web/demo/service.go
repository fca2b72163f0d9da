package demo

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"takeover/text"

	"github.com/labstack/echo/v4"
)

const (
	maxTodos    = 50 // of one visitor
	maxTodoText = 200
	maxName     = 60
	// statTime is how long the slowest part of the dashboard takes.
	statTime = 400 * time.Millisecond
)

// todo is an entry of a visitor's list.
type todo struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

// registerService adds the pages that fetch data from the server.
func (s *site) registerService(g *echo.Group) {
	for _, p := range []struct{ path, title string }{
		{"lamp", "Lamp"}, {"wizard", "Booking"}, {"weather", "Weather"}, {"dashboard", "Dashboard"}, {"todos", "To do"}, {"notes", "Notebook"},
	} {
		g.GET("/"+p.path, s.plain(p.path, p.title, nil))
	}
	g.GET("/account", s.plain("account", "Account", nil))
	g.GET("/account/consent", s.plain("consent", "Example ID", nil))
	g.GET("/checkout", framing(s.plain("checkout", "Checkout", nil)))
	g.GET("/checkout/card", framing(s.plain("card", "Card", nil)))
	g.GET("/nearby", locating(s.plain("nearby", "Nearby", nil)))
	g.GET("/members", s.members)
	g.POST("/members", s.join)
	g.GET("/api/weather", func(c echo.Context) error {
		return c.JSON(http.StatusOK, map[string]any{"city": "Bergen", "sky": "rain", "degrees": 9})
	})
	g.GET("/api/stats/:name", showStat)
	g.GET("/api/todos", s.todos)
	g.POST("/api/todos", s.addTodo)
	g.DELETE("/api/todos/:id", s.dropTodo)
}

// policy is the Content-Security-Policy of pages that frame pages of this site,
// or are framed by one.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"

// framing lets a page frame pages of this site and be framed by one.
func framing(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", policy)
		c.Response().Header().Set("X-Frame-Options", "SAMEORIGIN")
		return next(c)
	}
}

// locating lets a page ask for the visitor's position.
func locating(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("Permissions-Policy", "geolocation=(self)")
		return next(c)
	}
}

func (s *site) members(c echo.Context) error {
	v := s.visit(c)
	v.mu.Lock()
	name := v.name
	v.mu.Unlock()
	return s.render(c, http.StatusOK, view{Page: "members", Title: "Members", Name: name})
}

func (s *site) join(c echo.Context) error {
	limitBody(c)
	v := s.visit(c)
	v.mu.Lock()
	v.name = clip(c.FormValue("name"), maxName)
	v.mu.Unlock()
	return c.Redirect(http.StatusSeeOther, prefix+"members")
}

// showStat responds after a delay that depends on the figure.
func showStat(c echo.Context) error {
	values := map[string]int{"visitors": 1280, "orders": 42, "returns": 3}
	name := c.Param("name")
	value, ok := values[name]
	if !ok {
		return echo.ErrNotFound
	}
	timer := time.NewTimer(statTime / time.Duration(len(name)-len("orders")+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return c.JSON(http.StatusOK, map[string]any{"name": name, "value": value})
	case <-c.Request().Context().Done():
		return c.Request().Context().Err()
	}
}

func (s *site) todos(c echo.Context) error {
	v := s.visit(c)
	v.mu.Lock()
	defer v.mu.Unlock()
	return c.JSON(http.StatusOK, append([]todo{}, v.todos...))
}

func (s *site) addTodo(c echo.Context) error {
	limitBody(c)
	v := s.visit(c)
	var t todo
	if err := c.Bind(&t); err != nil || strings.TrimSpace(t.Text) == "" {
		return c.JSON(http.StatusBadRequest, map[string]string{"error": "text is missing"})
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.todos) >= maxTodos {
		return c.JSON(http.StatusConflict, map[string]string{"error": "the list is full"})
	}
	v.lastTodo++
	t = todo{ID: v.lastTodo, Text: clip(t.Text, maxTodoText)}
	v.todos = append(v.todos, t)
	return c.JSON(http.StatusCreated, t)
}

func (s *site) dropTodo(c echo.Context) error {
	v := s.visit(c)
	id, _ := strconv.Atoi(c.Param("id"))
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.IndexFunc(v.todos, func(t todo) bool { return t.ID == id })
	if i < 0 {
		return echo.ErrNotFound
	}
	v.todos = slices.Delete(v.todos, i, i+1)
	return c.NoContent(http.StatusNoContent)
}

// clip trims spaces and cuts a text after a number of characters.
func clip(s string, most int) string { return text.ClipRunes(strings.TrimSpace(s), most) }
