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

// maxMatched bounds the part of an address in which patterns are looked for, in bytes.
const maxMatched = 8 << 10

// Rejects says which requests of pages fail. One that matches either list does.
type Rejects struct {
	Types    []string         // types of resources, as Playwright names them
	Patterns []*regexp.Regexp // matched anywhere in the first maxMatched bytes of addresses
}

// Reject lets requests of the session's pages fail from now on, also those to which a
// redirect leads. WebSockets are not requests in this sense. end, which must be called,
// ends it. A program of its own holds the requests, and it ends with the session's present
// Chromium.
func (p Page) Reject(ctx context.Context, r Rejects) (end func(), err error) {
	name := p.Program.Name()
	one := &rejecter{Rejects: r, matching: make(chan struct{}, 1)}
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
	work     sync.WaitGroup // one per request that is being answered
	matching chan struct{}  // held while an address is matched, which may need much of a processor

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
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return // Chromium has let the request go
	}
	r.work.Go(func() { r.answer(client, route.Request.ID, route.Request.URL, route.Request.ResourceType) })
}

// answer lets a request go on or fail.
func (r *rejecter) answer(client *session.Client, request, url, kind string) {
	r.matching <- struct{}{}
	rejected := r.match(url, kind)
	<-r.matching
	operation, params := "route.continue", map[string]any{"request": request, "askAgain": true}
	if rejected {
		operation, params = "route.abort", map[string]any{"request": request}
	}
	with, err := json.Marshal(params)
	if err != nil {
		return // never happens
	}
	_, _ = client.Do(context.Background(), session.Operation{Name: operation, Params: with}) // fails only if the page or the program has left
}

func (r *rejecter) match(url, kind string) bool {
	url = url[:min(len(url), maxMatched)]
	return slices.Contains(r.Types, kind) || slices.ContainsFunc(r.Patterns, func(p *regexp.Regexp) bool { return p.MatchString(url) })
}

// finish waits for the answers under way. No further ones begin.
func (r *rejecter) finish() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.work.Wait()
}
