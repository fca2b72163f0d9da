package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"takeover/urlglob"
)

const (
	// maxRoutes bounds the routes of a caller in one session, and maxPattern their
	// patterns, in bytes.
	maxRoutes  = 100
	maxPattern = 2 << 10

	// maxRouted bounds the addresses (bytes) that are matched. Requests to longer ones go
	// to their servers.
	maxRouted = 8 << 10
)

type routeArgs struct {
	where
	Pattern     string   `json:"pattern" jsonschema:"glob of addresses, such as **/api/prices*"`
	Status      int      `json:"status,omitempty" jsonschema:"of the answer; default 200"`
	Body        string   `json:"body,omitempty"`
	ContentType string   `json:"contentType,omitempty" jsonschema:"default: application/json"`
	Headers     []string `json:"headers,omitempty" jsonschema:"further headers of the answer, as Name: value"`
	Abort       bool     `json:"abort,omitempty" jsonschema:"let the requests fail instead"`
}

type unrouteArgs struct {
	where
	Pattern string `json:"pattern,omitempty" jsonschema:"default: all"`
}

type routeListArgs struct{ where }

// routeTools answer requests of pages in place of servers.
var routeTools = []tool{
	row("browser_route", setRoutes, "Answer requests", repeats,
		"Answer the pages' requests to some addresses yourself, from now on.", `{"pattern": "**/api/prices", "body": "[]"} or {"pattern": "**/*.png", "abort": true}`, (*call).addRoute),
	row("browser_unroute", setRoutes, "Stop answering requests", repeats,
		"Let requests go to their servers again.", `{"pattern": "**/api/prices"}`, (*call).removeRoute),
	row("browser_route_list", setRoutes, "List answered requests", reads,
		"List what browser_route answers.", `{}`, (*call).listRoutes),
}

// route answers requests.
type route struct {
	pattern *urlglob.Pattern
	routeArgs
	headers []header
}

func (c *call) addRoute(in routeArgs) (*answer, error) {
	if in.Pattern == "" {
		return nil, errors.New("pattern: is required")
	}
	if len(in.Pattern) > maxPattern {
		return nil, fmt.Errorf("pattern: must have at most %d bytes", maxPattern)
	}
	one := &route{routeArgs: in}
	var err error
	if one.pattern, err = urlglob.Compile(in.Pattern, ""); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	if one.Status == 0 {
		one.Status = 200
	}
	if one.Status < 200 || one.Status > 599 {
		return nil, errors.New("status: must be between 200 and 599")
	}
	if one.headers, err = parseHeaders(in.Headers); err != nil {
		return nil, err
	}
	if in.ContentType == "" {
		in.ContentType = "application/json"
	}
	one.headers = append(one.headers, header{"Content-Type", in.ContentType})
	return c.changeRoutes(in.where, func(list []*route) ([]*route, error) {
		list = slices.DeleteFunc(list, func(r *route) bool { return r.Pattern == in.Pattern })
		if len(list) == maxRoutes {
			return nil, fmt.Errorf("there are %d routes already: browser_unroute removes some", maxRoutes)
		}
		return append(list, one), nil
	})
}

// parseHeaders reads headers in the form Name: value.
func parseHeaders(lines []string) (list []header, err error) {
	for i, line := range lines {
		name, value, found := strings.Cut(line, ":")
		h := header{strings.TrimSpace(name), strings.TrimSpace(value)}
		if !found || !httpguts.ValidHeaderFieldName(h.Name) || !httpguts.ValidHeaderFieldValue(h.Value) {
			return nil, fmt.Errorf("headers[%d]: must be a header, as Name: value", i)
		}
		list = append(list, h)
	}
	return list, nil
}

func (c *call) removeRoute(in unrouteArgs) (*answer, error) {
	return c.changeRoutes(in.where, func(list []*route) ([]*route, error) {
		left := slices.DeleteFunc(list, func(r *route) bool { return in.Pattern == "" || r.Pattern == in.Pattern })
		if in.Pattern != "" && len(left) == len(list) {
			return nil, fmt.Errorf("pattern: there is no route %.100q", in.Pattern)
		}
		return left, nil
	})
}

// changeRoutes replaces the caller's routes.
func (c *call) changeRoutes(w where, change func([]*route) ([]*route, error)) (*answer, error) {
	return c.act(w, view{}, func(ctx context.Context, t tab) error {
		s := c.conversation
		s.mu.Lock()
		list, err := change(slices.Clone(s.routes))
		if err == nil {
			s.routes = list
		}
		s.mu.Unlock()
		if err != nil {
			return err
		}
		return t.setRoutes(ctx, list)
	})
}

// setRoutes makes requests of pages wait for routes.
func (t tab) setRoutes(ctx context.Context, list []*route) error {
	patterns := []string{}
	for _, r := range list {
		patterns = append(patterns, r.pattern.Expression())
	}
	return t.run(ctx, "context.setRoutes", params{"patterns": patterns}, nil)
}

func (c *call) listRoutes(in routeListArgs) (*answer, error) {
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &answer{}
	for _, r := range s.routes {
		does := fmt.Sprintf("%d, %d bytes", r.Status, len(r.Body))
		if r.Abort {
			does = "fails"
		}
		a.add("- %s: %s", r.Pattern, does)
	}
	if len(s.routes) == 0 {
		a.add("No requests are answered.")
	}
	return a, nil
}

// routeOf returns the newest route that matches an address, or nil. It is nil for
// addresses that are too long to be matched.
func routeOf(routes []*route, address string) *route {
	if len(address) > maxRouted {
		return nil
	}
	for _, r := range slices.Backward(routes) {
		if r.pattern.Match(address) {
			return r
		}
	}
	return nil
}

// requested answers a request for which the caller has a route; the newest one counts. A
// request for which it has none any more goes to its server.
func (s *conversation) requested(raw json.RawMessage) {
	var r struct{ Request struct{ ID, URL string } }
	if json.Unmarshal(raw, &r) != nil {
		return // it is written by this server
	}
	s.mu.Lock()
	client, routes := s.client, s.routes // changeRoutes replaces the list
	s.mu.Unlock()
	if client == nil {
		return
	}
	s.start(func() { // because matching may need much of a processor
		found := routeOf(routes, r.Request.URL)
		t := tab{client: client}
		with := params{"request": r.Request.ID}
		operation := "route.continue"
		switch {
		case found != nil && found.Abort:
			operation = "route.abort"
		case found != nil:
			operation = "route.fulfill"
			with["status"], with["headers"], with["body"] = found.Status, found.headers, []byte(found.Body)
		}
		// The page may have left; the program's end ends it.
		if err := t.run(context.Background(), operation, with, nil); err != nil && operation == "route.fulfill" { // such as for a redirect to a file
			_ = t.run(context.Background(), "route.abort", params{"request": r.Request.ID}, nil)
		}
	})
}
