package browser

import (
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
)

// reservedNames begin the names of our isolated worlds, and of the functions in
// them that report to us.
var reservedNames = []string{"takeover-", "__takeover", "takeoverReport"}

// ReservedName reports whether a world or a binding of this name is ours.
func ReservedName(name string) bool {
	for _, prefix := range reservedNames {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Reserved reports whether an execution context of a page's or a frame's target
// is one of our isolated worlds, in which no script may run. The context is given
// by its id or by its unique id; the other one is zero. Reserved may be called on
// a connection's read loop.
func (b *Browser) Reserved(target string, id runtime.ExecutionContextID, uniqueID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.attachments {
		if uniqueID != "" {
			if _, ours := a.reserved[uniqueID]; ours {
				return true
			}
			continue
		}
		if a.root != proto.FrameID(target) {
			continue
		}
		for _, ours := range a.reserved {
			if ours == id {
				return true
			}
		}
	}
	return false
}
