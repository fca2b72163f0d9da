package web

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/door/steel"
)

const (
	// listDefault is the page size of a list if the caller gives none.
	listDefault = 100
	// listMax is the largest page of a list.
	listMax = 1000
)

// position is the position of an item in a list. It stays the same when other
// items are added or removed. A cursor names the position, not the item.
type position struct {
	at time.Time
	id string
}

// cursor encodes a position for a caller.
func (p position) cursor() string { return strconv.FormatInt(p.at.UnixNano(), 10) + "." + p.id }

// readCursor decodes a cursor.
func readCursor(text string) (position, error) {
	nanos, id, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil || id == "" {
		return position{}, badField("cursor", "is not one that this list gave")
	}
	return position{at: time.Unix(0, n), id: id}, nil
}

// compare orders by time, and by id if the times are equal.
func (p position) compare(other position) int {
	return cmp.Or(p.at.Compare(other.at), strings.Compare(p.id, other.id))
}

// order is the direction of a list.
type order int

const (
	oldestFirst order = 1
	newestFirst order = -1
)

// pageQuery is the requested part of a list.
type pageQuery struct {
	limit int
	after *position // the last item of the previous page
}

func readPageQuery(c echo.Context) (pageQuery, error) {
	q := pageQuery{limit: listDefault}
	cursor := c.QueryParam("cursor")
	if cursor == "" {
		cursor = c.QueryParam("cursorId") // the name in Steel's client
	}
	if cursor != "" {
		after, err := readCursor(cursor)
		if c.QueryParam("cursor") == "" && err != nil {
			after, err = position{id: cursor}, nil // Steel's client gives the id of the last session that it has
		}
		if err != nil {
			return q, err
		}
		q.after = &after
	}
	text := c.QueryParam("limit")
	if text == "" {
		return q, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > listMax {
		return q, badField("limit", "must be an integer from 1 to %d", listMax)
	}
	q.limit = n
	return q, nil
}

// placed is an item with its position.
type placed[T any] struct {
	item T
	position
}

// paginate sorts items and returns the page that q requests. next is the cursor
// of the following page, or nil at the end.
func paginate[T any](items []T, q pageQuery, direction order, place func(T) position) (page []T, next *string) {
	all := make([]placed[T], len(items))
	for i, item := range items {
		all[i] = placed[T]{item, place(item)}
	}
	slices.SortFunc(all, func(a, b placed[T]) int { return int(direction) * a.compare(b.position) })
	if q.after != nil {
		all = slices.DeleteFunc(all, func(p placed[T]) bool { return int(direction)*p.compare(*q.after) <= 0 })
	}
	if len(all) > q.limit {
		all = all[:q.limit]
		next = new(all[q.limit-1].cursor())
	}
	page = make([]T, len(all))
	for i, p := range all {
		page[i] = p.item
	}
	return page, next
}

// list sends one page of items under name, each converted by view.
func list[T, V any](c echo.Context, name string, items []T, direction order, place func(T) position, view func(T) V) error {
	_, out, next, err := pageOf(c, items, direction, place, view)
	if err != nil {
		return err
	}
	return sendList(c, name, out, next, len(items), nil)
}

// listOfNodes does the same as list, with the items of all nodes of a cluster. Each has an id
// and createdAt, which are its position.
func listOfNodes[T, V any](s *Server, c echo.Context, name string, items []T, direction order, place func(T) position, view func(T) V) error {
	q, out, next, err := pageOf(c, items, direction, place, view)
	if err != nil {
		return err
	}
	merged, next, others, missing, err := mergeLists(s, c, name, q, direction, out, next)
	if err != nil {
		return err
	}
	return sendList(c, name, merged, next, len(items)+others, missing)
}

// pageOf returns the page of a list that a request asks for.
func pageOf[T, V any](c echo.Context, items []T, direction order, place func(T) position, view func(T) V) (q pageQuery, out []V, next *string, err error) {
	if q, err = readPageQuery(c); err != nil {
		return q, nil, nil, err
	}
	if q.after != nil && q.after.at.IsZero() {
		at := slices.IndexFunc(items, func(one T) bool { return place(one).id == q.after.id })
		if at < 0 {
			return q, nil, nil, badField("cursorId", "is not in this list")
		}
		q.after = new(place(items[at]))
	}
	page, next := paginate(items, q, direction, place)
	out = make([]V, len(page))
	for i, item := range page {
		out[i] = view(item)
	}
	return q, out, next, nil
}

// sendList sends a page of a list that has so many items. missing are nodes whose items it
// lacks.
func sendList(c echo.Context, name string, page any, next *string, total int, missing []string) error {
	answer := map[string]any{name: page, "next": next}
	if len(missing) > 0 {
		answer["missing"] = missing
	}
	if forSteel(c) {
		steel.AddList(answer, name, next, total)
	}
	return c.JSON(200, answer)
}
