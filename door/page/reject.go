package page

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"sync"

	"takeover/control"
	"takeover/session"
)

// Rejects says which requests of pages fail. One that matches either list does.
type Rejects struct {
	Types    []string         // types of resources, as Playwright names them
	Patterns []*regexp.Regexp // matched anywhere in addresses
}

// Reject lets requests of the session's pages fail from now on, also those to which a
// redirect leads. WebSockets are not requests in this sense. end, which must be called,
// ends it. A program of its own holds the requests, and it ends with the session's present
// Chromium.
func (p Page) Reject(ctx context.Context, r Rejects) (end func(), err error) {
	name := p.Program.Name()
	one := &rejecter{Rejects: r}
	program, err := session.OpenProgram(p.Program.Session(), control.Client(name.ID+"-rejects"), session.ProgramOptions{Emit: one.heard})
	if err != nil {
		return nil, err
	}
	end = func() {
		program.Close() // ends the answers under way
		one.finish()
	}
	client, err := program.Client(ctx)
	if err == nil {
		_, err = client.Do(ctx, session.Operation{Name: "context.setRoutes", Params: json.RawMessage(`{"patterns":[null]}`)})
	}
	if err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// rejecter answers the requests of a session's pages.
type rejecter struct {
	Rejects
	work sync.WaitGroup // one per request that is being answered

	mu    sync.Mutex // guards ended
	ended bool
}

// heard gets the events of the pages. It must not block.
func (r *rejecter) heard(client *session.Client, event string, raw json.RawMessage) {
	if event != "route" {
		return
	}
	var route struct {
		Request struct{ ID, URL, ResourceType string }
	}
	if json.Unmarshal(raw, &route) != nil {
		return // it is written by this server
	}
	operation, params := "route.continue", map[string]any{"request": route.Request.ID, "askAgain": true}
	if r.match(route.Request.URL, route.Request.ResourceType) {
		operation, params = "route.abort", map[string]any{"request": route.Request.ID}
	}
	with, err := json.Marshal(params)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return // Chromium has let the request go
	}
	r.work.Go(func() {
		_, _ = client.Do(context.Background(), session.Operation{Name: operation, Params: with}) // fails only if the page or the program has left
	})
}

func (r *rejecter) match(url, kind string) bool {
	return slices.Contains(r.Types, kind) || slices.ContainsFunc(r.Patterns, func(p *regexp.Regexp) bool { return p.MatchString(url) })
}

// finish waits for the answers under way. No further ones begin.
func (r *rejecter) finish() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.work.Wait()
}
