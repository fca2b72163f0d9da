package automation

import "slices"

const (
	// maxHandles is how many handles a client holds, Playwright's number; of more
	// the oldest are let go.
	maxHandles = 100_000

	// maxHandleBytes bounds, in bytes, the values and the texts of the handles that
	// a client holds.
	maxHandleBytes = 64 << 20
)

// size is about how many bytes a handle takes here.
func (h *handle) size() int {
	n := len(h.preview)
	if h.value != nil {
		n += len(h.value.Value)
	}
	return n
}

// handleQueue is a client's handles, the oldest first, and some that are disposed.
type handleQueue struct {
	list []*handle
	size int
}

// add adds a handle. When there are too many it takes the oldest from objects and
// gives them, to be released.
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
	n := 0 // a tenth more, so that the next ones find room
	for n < len(q.list)-1 && (len(q.list)-n > maxHandles/10*9 || q.size > maxHandleBytes/10*9) {
		q.size -= q.list[n].size()
		delete(objects, q.list[n].id)
		n++
	}
	old := slices.Clone(q.list[:n])
	q.list = slices.Delete(q.list, 0, n)
	return old
}
