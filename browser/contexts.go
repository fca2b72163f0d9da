package browser

import (
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp/policy"
)

// executionContext is an execution context of a page's or a frame's target.
type executionContext struct {
	id   runtime.ExecutionContextID
	name string
	ours bool // an isolated world of the server's, also of its other CDP clients
}

// World finds an execution context of a page's or a frame's target by its id or, if
// that is 0, by its unique id. It may be called on a connection's read loop.
func (b *Browser) World(target string, id int64, unique string) (w policy.World, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.attachments {
		if id == 0 {
			if c, ok := a.contexts[unique]; ok {
				return policy.World{Unique: unique, Name: c.name, Ours: c.ours}, true
			}
			continue
		}
		if a.root != proto.FrameID(target) {
			continue
		}
		for unique, c := range a.contexts {
			if c.id == runtime.ExecutionContextID(id) {
				return policy.World{Unique: unique, Name: c.name, Ours: c.ours}, true
			}
		}
	}
	return policy.World{}, false
}
