package web

import (
	"strconv"

	"github.com/labstack/echo/v4"
)

const (
	// listDefault is a page of a list when the caller names no size.
	listDefault = 100
	// listMax is the largest page of a list.
	listMax = 1000
)

// pageQuery is the part of a list that a caller asks for.
type pageQuery struct {
	limit  int
	cursor string // id of the last item of the page before
}

func readPageQuery(c echo.Context) (pageQuery, error) {
	q := pageQuery{limit: listDefault, cursor: c.QueryParam("cursor")}
	if q.cursor == "" {
		q.cursor = c.QueryParam("cursorId") // as Steel's client pages
	}
	text := c.QueryParam("limit")
	if text == "" {
		return q, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > listMax {
		return q, badField("limit", "must be a whole number from 1 to %d", listMax)
	}
	q.limit = n
	return q, nil
}

// paginate cuts the page that q asks for out of items. next is the cursor of
// the page after it, nil at the end.
func paginate[T any](items []T, q pageQuery, id func(T) string) (page []T, next *string, err error) {
	start := 0
	if q.cursor != "" {
		for start < len(items) && id(items[start]) != q.cursor {
			start++
		}
		if start == len(items) {
			return nil, nil, badField("cursor", "is not one that this list gave")
		}
		start++
	}
	end := min(len(items), start+q.limit)
	page = items[start:end:end]
	if end < len(items) {
		next = new(id(items[end-1]))
	}
	if page == nil {
		page = []T{}
	}
	return page, next, nil
}

// list answers one page of items, each as view gives it, under name.
func list[T, V any](c echo.Context, name string, items []T, id func(T) string, view func(T) V) error {
	q, err := readPageQuery(c)
	if err != nil {
		return err
	}
	page, next, err := paginate(items, q, id)
	if err != nil {
		return err
	}
	out := make([]V, len(page))
	for i, item := range page {
		out[i] = view(item)
	}
	return c.JSON(200, map[string]any{name: out, "next": next})
}
