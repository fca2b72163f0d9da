package capture

import (
	"context"
	"strings"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"

	"takeover/cdp"
)

// maxElementLookups bounds how many elements are asked for at a time. Beyond
// it, shifts are written without their elements' names.
const maxElementLookups = 64

// elementPatience is how long Chromium may take to name a shift's elements.
const elementPatience = 2 * time.Second

// withElements writes a layout shift when Chromium has named its elements:
// the entries carry node ids only.
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

// elementName writes an element as a selector would: div#id.class.class.
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
