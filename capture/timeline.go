package capture

import (
	"time"

	"takeover/cdp"
)

type rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

type shiftSource struct {
	Element      string `json:"element"`
	PreviousRect rect   `json:"previous_rect"`
	CurrentRect  rect   `json:"current_rect"`
}

type layoutShiftData struct {
	Score          float64       `json:"score"`
	HadRecentInput bool          `json:"had_recent_input"`
	Sources        []shiftSource `json:"sources"`
}

type lcpData struct {
	Time    int64   `json:"time"` // Unix ms
	Size    float64 `json:"size"` // number of painted pixels
	Element string  `json:"element,omitempty"`
	URL     string  `json:"url,omitempty"` // URL of the image, if the element is one
}

// maxBufferedShifts is how many of a document's layout shifts Chromium keeps for
// observers that start later. It keeps the first ones.
const maxBufferedShifts = 150

// shifted records a layout shift. A buffered shift, which Chromium had kept,
// counts as of its own time, in seconds since the epoch. Others count as of now.
// So does the last one that Chromium keeps, because later ones may be missing.
func (w *watched) shifted(seconds float64, buffered bool) {
	at := time.Now()
	if buffered {
		if w.bufferedShifts++; w.bufferedShifts < maxBufferedShifts {
			at = time.UnixMicro(int64(seconds * 1e6))
		}
	}
	w.shiftedAt = latest(w.shiftedAt, at)
	if page := w.page(); page != nil {
		page.settle.shifted(at)
	}
}

// timelineEvent maps Chromium's performance entries.
func (w *watched) timelineEvent(ev cdp.Event) {
	var p struct {
		Event struct {
			FrameID string  `json:"frameId"`
			Type    string  `json:"type"`
			Time    float64 `json:"time"` // seconds since the epoch
			Shift   *struct {
				Value   float64 `json:"value"`
				Input   bool    `json:"hadRecentInput"`
				Sources []struct {
					Previous rect  `json:"previousRect"`
					Current  rect  `json:"currentRect"`
					Node     int64 `json:"nodeId"`
				} `json:"sources"`
			} `json:"layoutShiftDetails"`
			LCP *struct {
				Size    float64 `json:"size"`
				Element string  `json:"elementId"`
				URL     string  `json:"url"`
			} `json:"lcpDetails"`
		} `json:"event"`
	}
	if !w.m.active.LayoutShifts && !w.m.active.Navigation || decode(ev.Params, &p) != nil {
		return
	}
	e := w.event(p.Event.FrameID)
	e.TS = int64(p.Event.Time * 1000)
	switch {
	case p.Event.Shift != nil:
		buffered := p.Event.Time*1000 < w.m.shiftsSince
		w.shifted(p.Event.Time, buffered)
		if w.m.config.LayoutShifts && !buffered {
			data := layoutShiftData{Score: p.Event.Shift.Value, HadRecentInput: p.Event.Shift.Input, Sources: []shiftSource{}}
			nodes := []int64{}
			for i, s := range p.Event.Shift.Sources {
				if i == maxShiftSources {
					e.Truncated = true
					break
				}
				data.Sources = append(data.Sources, shiftSource{PreviousRect: s.Previous, CurrentRect: s.Current})
				nodes = append(nodes, s.Node)
			}
			w.withElements(e, data, nodes)
		}
	case p.Event.LCP != nil && w.m.config.Navigation && p.Event.Time*1000 >= w.m.paintsSince:
		data := lcpData{Time: e.TS, Size: p.Event.LCP.Size}
		data.Element, _ = cut(p.Event.LCP.Element, 256)
		data.URL, _ = cutURL(p.Event.LCP.URL)
		w.m.writeLocked(e, TypePageLCP, data)
	}
}
