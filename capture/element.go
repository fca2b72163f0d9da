package capture

import (
	"context"
	"strings"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"

	"takeover/cdp"
)

// maxElementLookups bounds the element lookups that run at the same time. Layout
// shifts beyond that are written without the names of their elements.
const maxElementLookups = 64

// elementPatience bounds how long Chromium may take to name the elements of a
// shift.
const elementPatience = 2 * time.Second

// withElements writes a layout shift once Chromium has named its elements,
// because the shift itself contains only node ids.
func (w *watched) withElements(e Event, data layoutShiftData, nodes []int64) {
	if len(nodes) == 0 || w.l.lookups >= maxElementLookups || w.l.ending {
		w.m.writeLocked(e, TypeLayoutShift, data)
		return
	}
	w.l.lookups++
	session := w.m.id
	w.l.taskLocked(func() {
		ctx, cancel := context.WithTimeout(w.l.ctx, elementPatience)
		defer cancel()
		for i, node := range nodes {
			if node == 0 {
				continue
			}
			res, err := cdp.Call(ctx, w.session, dom.DescribeNode, dom.DescribeNodeParams{BackendNodeID: proto.BackendNodeID(node)})
			if err == nil && res.Node != nil {
				data.Sources[i].Element = elementName(res.Node)
			}
		}
		w.m.mu.Lock()
		defer w.m.mu.Unlock()
		w.l.lookups--
		if w.m.running && w.m.id == session {
			w.m.writeLocked(e, TypeLayoutShift, data)
		}
	})
}

// elementName names an element in the form of a selector: div#id.class.class.
func elementName(n *proto.Node) string {
	if n.NodeName == "#text" {
		return "#text"
	}
	name := strings.ToLower(n.NodeName)
	for i := 0; i+1 < len(n.Attributes); i += 2 {
		switch value := strings.TrimSpace(n.Attributes[i+1]); {
		case value == "":
		case n.Attributes[i] == "id":
			name += "#" + value
		case n.Attributes[i] == "class":
			name += "." + strings.Join(strings.Fields(value), ".")
		}
	}
	name, _ = cut(name, 256)
	return name
}
