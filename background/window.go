package background

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// shownWhole is how many events of a section are shown without leaving any
	// out; of more, the first keptFirst and the last shownLast are.
	shownWhole = 10
	shownLast  = 8

	// maxSections is how many realms of one run are kept.
	maxSections = 16
	// Unnamed is how a page is called of which nothing is known.
	Unnamed = "page"

	// maxResult is how many bytes of a run's result are shown.
	maxResult = 16 << 10
)

// ruler ends a section.
var ruler = "\n" + strings.Repeat("-", 70) + "\n"

// Window is what happened while a run went on. All methods may be called from
// any goroutine.
type Window struct {
	log   *Log
	start time.Time

	// Guarded by the log's lock.
	ended bool
	name  string // of the page, once it has ended
	parts []part // the same
}

// part is one realm's share of a run.
type part struct {
	target string
	name   string
	kept   []*kept
	cut    int
}

// Section is what one realm said during a run.
type Section struct {
	Name   string `json:"name"`   // the realm's, as Markdown may have it
	Blocks string `json:"blocks"` // Markdown; empty if it said nothing
}

// Head is what a run's log says of the run itself.
type Head struct {
	Target   string // whose section the result is in
	At       time.Time
	Duration time.Duration // so far
	Running  bool
	Result   string // JSON
	Error    string // with its stack; instead of a result
}

// partsLocked are the realms that said something, the run's own first.
func (w *Window) partsLocked() []part {
	if w.ended {
		return w.parts
	}
	var list []part
	for _, r := range w.log.realms {
		if len(r.run) > 0 {
			list = append(list, part{r.target, r.nameLocked(), slices.Clone(r.run), r.cut})
		}
	}
	return list
}

// End ends the window, and writes the run's section of the log.
func (w *Window) End(h Head) {
	l := w.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.ended {
		return
	}
	w.parts = w.partsLocked()
	if len(w.parts) > maxSections {
		w.parts = w.parts[:maxSections]
	}
	for _, r := range slices.Clone(l.realms) {
		r.run, r.cut, r.excess = nil, 0, nil
		if r.closed {
			l.forgetLocked(r)
		}
	}
	w.name = w.nameLocked(h)
	w.ended = true
	l.window = nil
	l.writeLocked(h.At, Markdown(h, w.sectionsLocked(h)))
}

// Cancel ends the window of a run that did not begin: what happened meanwhile
// happened outside of runs.
func (w *Window) Cancel() {
	l := w.log
	l.mu.Lock()
	defer l.mu.Unlock()
	w.name = w.nameLocked(Head{})
	w.ended, l.window = true, nil
	for _, r := range slices.Clone(l.realms) {
		r.loose = append(r.loose, r.run...)
		r.run, r.cut, r.excess = nil, 0, nil
		if r.closed {
			r.flushLocked(l.options.Now())
			l.forgetLocked(r)
		}
	}
}

// Events are what happened so far, at most MaxKept, the oldest first.
func (w *Window) Events() []Event {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	var all []*kept
	for _, p := range w.partsLocked() {
		all = append(all, p.kept...)
	}
	slices.SortStableFunc(all, func(a, b *kept) int { return cmp.Compare(a.order, b.order) })
	if over := len(all) - MaxKept; over > 0 {
		all = slices.Delete(all, keptFirst, keptFirst+over)
	}
	list := make([]Event, len(all))
	for i, k := range all {
		list[i] = k.value()
	}
	return list
}

// Markdown is the run's log: of a run that goes on, as far as it is.
func (w *Window) Markdown(h Head) string {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return Markdown(h, w.sectionsLocked(h))
}

// Sections are what the log has beside its head: that of the run's own page first,
// then those of the other realms that said something.
func (w *Window) Sections(h Head) []Section {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return w.sectionsLocked(h)
}

func (w *Window) sectionsLocked(h Head) []Section {
	list := []Section{{Name: w.nameLocked(h)}}
	for _, p := range w.partsLocked() {
		one := Section{p.name, blocks(p.kept, p.cut)}
		if p.target == h.Target {
			list[0] = one
		} else {
			list = append(list, one)
		}
	}
	return list
}

// nameLocked is how the page is called that the run was about.
func (w *Window) nameLocked(h Head) string {
	if w.ended {
		return w.name
	}
	for _, r := range w.log.realms {
		if r.target == h.Target {
			return r.nameLocked()
		}
	}
	return Unnamed
}

// Markdown writes a run's log of its sections, the first of which gets the result.
func Markdown(h Head, sections []Section) string {
	var b strings.Builder
	for i, section := range sections {
		b.WriteString("> **" + section.Name + "** to agent at " + h.At.UTC().Format(clock))
		if !h.Running {
			b.WriteString(" (" + duration(h.Duration) + ")")
		}
		b.WriteString("\n")
		if i == 0 {
			b.WriteString(h.result())
		}
		b.WriteString(section.Blocks)
		if h.Running {
			fmt.Fprintf(&b, "executing (%ds)\n", int(h.Duration/time.Second))
		} else {
			b.WriteString(ruler)
		}
	}
	return b.String()
}

// result is what a run came to, as a block.
func (h *Head) result() string {
	cut := func(s string) string {
		if len(s) > maxResult {
			return strings.ToValidUTF8(s[:maxResult], "") + "…"
		}
		return s
	}
	switch {
	case h.Running:
		return ""
	case h.Error != "":
		return fenced("Error", cut(h.Error))
	}
	return fenced("JSON", cut(cmp.Or(h.Result, "null")))
}

// duration is how long a run took, in words that are short.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
}

// blocks are events one below the other; cut is how many were forgotten behind
// the first ones.
func blocks(list []*kept, cut int) string {
	var b strings.Builder
	total := len(list) + cut
	for i, k := range list {
		if total > shownWhole && i >= keptFirst && i < len(list)-shownLast {
			continue
		}
		b.WriteString(k.block())
		if total > shownWhole && i == keptFirst-1 {
			fmt.Fprintf(&b, "... (%d more background events omitted) ...\n", total-keptFirst-shownLast)
		}
	}
	return b.String()
}
