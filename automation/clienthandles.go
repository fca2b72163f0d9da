package automation

import (
	"fmt"
	"slices"
	"sync"

	"takeover/browser"
)

const (
	// maxHandles bounds the handles of a client, as in Playwright; the oldest are
	// released first.
	maxHandles = 100_000

	// maxHandleBytes bounds the values and texts of a client's handles, in bytes.
	maxHandleBytes = 64 << 20
)

// size returns roughly how many bytes of memory a handle takes.
func (h *handle) size() int {
	n := len(h.preview)
	if h.value != nil {
		n += len(h.value.Value)
	}
	return n
}

// clientHandles are a client's names for objects of the model and for handles of
// values in pages.
type clientHandles struct {
	mu       sync.Mutex // guards what follows
	last     int
	ids      map[any]string // *browser.Page, Frame, Context, Dialog, …; nil when the client is closed
	objects  map[string]any // by name: the objects in ids, those from add, and handles
	queue    handleQueue
	closedIn map[string]bool // names of frames that closed with their page
}

func newClientHandles() clientHandles {
	return clientHandles{ids: map[any]string{}, objects: map[string]any{}, closedIn: map[string]bool{}}
}

// idOf returns the name of an object, and makes one if necessary.
func (n *clientHandles) idOf(kind string, object any) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.ids[object]; ok {
		return id
	}
	id := n.addLocked(kind, object)
	if n.ids != nil {
		n.ids[object] = id
	}
	return id
}

// add names an object that can only be looked up by its name.
func (n *clientHandles) add(kind string, object any) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addLocked(kind, object)
}

func (n *clientHandles) addLocked(kind string, object any) string {
	n.last++
	id := fmt.Sprintf("%s@%d", kind, n.last)
	if n.objects != nil {
		n.objects[id] = object
	}
	return id
}

// keep names a handle. When there are too many, it returns the oldest handles,
// which the caller releases. ok is false when the client is closed.
func (n *clientHandles) keep(h *handle) (old []*handle, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.objects == nil {
		return nil, false
	}
	h.id = n.addLocked("handle", h)
	return n.queue.add(h, n.objects), true
}

// known returns the name of an object, if it has one.
func (n *clientHandles) known(object any) (id string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok = n.ids[object]
	return id, ok
}

// find returns the object with a name, or nil. closed means that it was a frame
// that closed with its page.
func (n *clientHandles) find(id string) (object any, closed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.objects[id], n.closedIn[id]
}

// take drops a name and returns its object, or nil.
func (n *clientHandles) take(id string) any {
	n.mu.Lock()
	defer n.mu.Unlock()
	object := n.objects[id]
	delete(n.objects, id)
	delete(n.ids, object)
	return object
}

// forget drops the name of an object.
func (n *clientHandles) forget(object any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.ids[object]; ok {
		delete(n.ids, object)
		delete(n.objects, id)
	}
}

// dropPage drops the names of a closed page, its frames and the handles in it.
func (n *clientHandles) dropPage(p *browser.Page) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for object, id := range n.ids {
		f, isFrame := object.(*browser.Frame)
		if object == any(p) || (isFrame && f.Page() == p) {
			delete(n.ids, object)
			delete(n.objects, id)
			if isFrame {
				n.closedIn[id] = true
			}
		}
	}
	for id, object := range n.objects {
		if h, ok := object.(*handle); ok && h.world.Page() == p {
			delete(n.objects, id)
		}
	}
}

// close drops all names and returns their objects. New names are refused from
// then on.
func (n *clientHandles) close() map[string]any {
	n.mu.Lock()
	defer n.mu.Unlock()
	objects := n.objects
	n.objects, n.ids = nil, nil
	return objects
}

// handleQueue holds a client's handles, oldest first, including some that were
// disposed.
type handleQueue struct {
	list []*handle
	size int
}

// add adds a handle. When there are too many, it removes the oldest from objects
// and returns them, to be released.
func (q *handleQueue) add(h *handle, objects map[string]any) []*handle {
	q.list = append(q.list, h)
	q.size += h.size()
	if len(q.list) <= maxHandles && q.size <= maxHandleBytes {
		return nil
	}
	q.size = 0
	q.list = slices.DeleteFunc(q.list, func(h *handle) bool {
		disposed := objects[h.id] != any(h)
		if !disposed {
			q.size += h.size()
		}
		return disposed
	})
	n := 0 // removes a tenth more, to make room for the next ones
	for n < len(q.list)-1 && (len(q.list)-n > maxHandles/10*9 || q.size > maxHandleBytes/10*9) {
		q.size -= q.list[n].size()
		delete(objects, q.list[n].id)
		n++
	}
	old := slices.Clone(q.list[:n])
	q.list = slices.Delete(q.list, 0, n)
	return old
}
