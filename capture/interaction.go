package capture

import (
	"embed"
	"math"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
	"takeover/limits"
)

//go:embed all:dist
var dist embed.FS

// interactionScript reports interactions through a binding. Both live in an
// isolated world. A program that was built without the page sides starts no session.
var interactionScript = func() string {
	script, _ := dist.ReadFile("dist/interaction.js")
	return string(script)
}()

const (
	interactionWorld   = "__takeover_capture"
	interactionBinding = "__takeoverCapture" // as in interaction.ts

	// interactionsPerSecond bounds the recorded interactions of each type, per
	// target.
	interactionsPerSecond = 20
)

func init() {
	handlers[runtime.BindingCalled.Method] = (*watched).bindingCalled
}

type clickData struct {
	X        float64 `json:"x"` // CSS pixels in the frame's viewport
	Y        float64 `json:"y"`
	Selector string  `json:"selector"`
	Tag      string  `json:"tag"`
	Text     string  `json:"text"`
}

type keyData struct {
	Key      string `json:"key"`
	Selector string `json:"selector"`
	Tag      string `json:"tag"`
}

type scrollData struct {
	FromX          float64 `json:"from_x"`
	FromY          float64 `json:"from_y"`
	ToX            float64 `json:"to_x"`
	ToY            float64 `json:"to_y"`
	TargetSelector string  `json:"target_selector"`
}

// configureInteractions installs or removes the page's observer.
func (w *watched) configureInteractions(had, want bool) {
	switch {
	case want && !had:
		w.send(runtime.AddBinding.Method, runtime.AddBindingParams{Name: interactionBinding, ExecutionContextName: interactionWorld})
		if w.observed {
			return
		}
		// The script stays until the target closes. Removing it needs an
		// identifier, and the monitor cannot wait for that while the target waits
		// for the monitor. Without the binding, the script does nothing.
		w.observed = true
		w.send(page.AddScriptToEvaluateOnNewDocument.Method, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: interactionScript, WorldName: interactionWorld, RunImmediately: new(true),
		})
	case had && !want:
		w.send(runtime.RemoveBinding.Method, runtime.RemoveBindingParams{Name: interactionBinding})
	}
}

func (w *watched) bindingCalled(ev cdp.Event) {
	if !w.m.config.Interactions {
		return
	}
	var call struct {
		Name    string `json:"name"`
		Payload string `json:"payload"`
		Context int64  `json:"executionContextId"`
	}
	if decode(ev.Params, &call) != nil || call.Name != interactionBinding || len(call.Payload) > 64<<10 {
		return
	}
	var p struct {
		Kind     string  `json:"kind"`
		T        float64 `json:"t"` // Unix ms
		X        float64 `json:"x"`
		Y        float64 `json:"y"`
		Key      string  `json:"key"`
		Selector string  `json:"selector"`
		Tag      string  `json:"tag"`
		Text     string  `json:"text"`
		FromX    float64 `json:"fromX"`
		FromY    float64 `json:"fromY"`
		ToX      float64 `json:"toX"`
		ToY      float64 `json:"toY"`
	}
	if decode([]byte(call.Payload), &p) != nil {
		return
	}
	now := time.Now()
	frameID := w.contexts[call.Context].frame
	p.Selector, _ = cut(p.Selector, 1024)
	p.Tag, _ = cut(p.Tag, 64)
	p.Text, _ = cut(p.Text, 400)
	p.Key, _ = cut(p.Key, 32)
	e := w.event(frameID)
	e.TS = int64(p.T)
	switch p.Kind {
	case "click":
		if w.mayReport(TypeInteractionClick, now) {
			w.m.writeLocked(e, TypeInteractionClick, clickData{p.X, p.Y, p.Selector, p.Tag, p.Text})
		}
	case "key":
		// Keys of a person are never recorded.
		if !w.m.typedByPerson(int64(p.T)) && w.mayReport(TypeInteractionKey, now) {
			w.m.writeLocked(e, TypeInteractionKey, keyData{p.Key, p.Selector, p.Tag})
		}
	case "scroll":
		if math.Abs(p.ToX-p.FromX) <= scrollThreshold && math.Abs(p.ToY-p.FromY) <= scrollThreshold {
			return
		}
		if page := w.page(); page != nil {
			page.settle.scrolledIn(frameID)
		}
		if w.mayReport(TypeInteractionScroll, now) {
			w.m.writeLocked(e, TypeInteractionScroll, scrollData{p.FromX, p.FromY, p.ToX, p.ToY, p.Selector})
		}
	}
}

// burst counts the interactions of one type within a second.
type burst struct {
	start time.Time
	count int
}

// mayReport applies the limit of interactions.
func (w *watched) mayReport(eventType string, now time.Time) bool {
	b := w.bursts[eventType]
	if b == nil {
		b = &burst{}
		w.bursts[eventType] = b
	}
	if now.Sub(b.start) >= time.Second {
		*b = burst{start: now}
	}
	b.count++
	if b.count > interactionsPerSecond {
		w.m.limits.Add(limits.CaptureInteraction, 1)
		return false
	}
	return true
}
