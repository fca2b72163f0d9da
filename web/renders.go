package web

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/limits"
)

const (
	// maxRenderBytes bounds the kept pictures and documents.
	maxRenderBytes = 64 << 20
	// renderTime is how long they are kept.
	renderTime = 10 * time.Minute
)

// render is a picture or a document that a call made.
type render struct {
	name    string
	mime    string
	content []byte
	until   time.Time
}

// renders keeps pictures and documents for a short time under addresses that nobody
// can guess. All methods may be called from any goroutine.
type renders struct {
	hits *limits.Hits

	mu    sync.Mutex // guards what follows
	kept  []render   // oldest first
	bytes int
}

// keep keeps content, and returns the secret name under which get finds it. When
// there is no room, the oldest is forgotten. ok is false for content that never fits.
func (r *renders) keep(content []byte, mime string) (name string, ok bool) {
	if len(content) > maxRenderBytes {
		r.hits.Add(limits.Renders, 1)
		return "", false
	}
	one := render{name: rand.Text(), mime: mime, content: content, until: time.Now().Add(renderTime)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropOldLocked()
	for len(r.kept) > 0 && r.bytes+len(content) > maxRenderBytes {
		r.hits.Add(limits.Renders, 1)
		r.bytes -= len(r.kept[0].content)
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	r.kept, r.bytes = append(r.kept, one), r.bytes+len(content)
	return one.name, true
}

// get returns what is kept under a name.
func (r *renders) get(name string) (render, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropOldLocked()
	at := slices.IndexFunc(r.kept, func(one render) bool { return one.name == name })
	if at < 0 {
		return render{}, false
	}
	return r.kept[at], true
}

func (r *renders) dropOldLocked() {
	now := time.Now()
	r.kept = slices.DeleteFunc(r.kept, func(one render) bool {
		if one.until.After(now) {
			return false
		}
		r.bytes -= len(one.content)
		return true
	})
}

// getRender handles GET /v1/renders. The name is in the query, which no log has. Whoever knows
// it may read what it names, at any node.
func (s *Server) getRender(c echo.Context) error {
	name, node, err := s.nodeOfSecret(c.Request(), c.QueryParam("name"))
	if err != nil {
		return err
	}
	if node != nil {
		return s.forward(c, node, nil)
	}
	one, ok := s.renders.get(name)
	if !ok {
		return &failure{kind: kindNotFound, detail: "There is no such picture or document; they are kept for ten minutes."}
	}
	return sendAnswer(c, one.mime, one.content)
}
