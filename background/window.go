package background

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"takeover/limits"
	"takeover/text"
)

const (
	// shownWhole is the largest number of events that a section shows in full. A
	// larger section shows its first keptFirst and last shownLast events.
	shownWhole = 10
	shownLast  = 8

	// maxSections bounds the realms whose output is kept after a run.
	maxSections = 16
	// Unnamed is the name of a page that has neither title nor URL.
	Unnamed = "page"

	// maxResult bounds the shown result of a run, in bytes.
	maxResult = 16 << 10
)

// ruler ends a section.
var ruler = "\n" + strings.Repeat("-", 70) + "\n"

// Window holds the events of one run. All methods may be called from any
// goroutine.
type Window struct {
	log   *Log
	start time.Time

	// Guarded by the log's lock.
	ended bool
	name  string // name of the page; set when the run has ended
	parts []part // set when the run has ended
}

// part is the output of one realm in a run.
type part struct {
	target string
	name   string
	kept   []*kept
	cut    int
}

// Section is the output of one realm during a run.
type Section struct {
	Name   string `json:"name"`   // the realm's name, safe for Markdown
	Blocks string `json:"blocks"` // Markdown; empty without output
}

// Head describes the run in its log.
type Head struct {
	Target   string // the target whose section shows the result
	At       time.Time
	Duration time.Duration // so far, while the run goes on
	Running  bool
	Result   string // JSON
	Error    string // with its stack; shown instead of the result
}

// partsLocked returns the output of each realm that has any, in order of the
// realms' start.
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
		l.options.Limits.Add(limits.ConsoleKept, uint64(len(w.parts)-maxSections))
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

// Cancel closes the window of a run that did not start. Its events become events
// outside runs.
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

// Events returns the events so far, at most MaxKept, oldest first.
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

// Markdown returns the log of the run, up to now if it still runs.
func (w *Window) Markdown(h Head) string {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return Markdown(h, w.sectionsLocked(h))
}

// Sections returns the parts of the log below its head: first the output of the
// run's own page, then the output of other realms.
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

// nameLocked returns the name of the run's page.
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

// Markdown writes the log of a run from its sections. The first section gets the
// result.
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

// result returns the result of a run as a block.
func (h *Head) result() string {
	cut := func(s string) string {
		if len(s) > maxResult {
			return text.Clip(s, maxResult) + "…"
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

// duration writes a run's duration in a short form.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
}

// blocks joins events; cut is the number of events that were dropped after the
// first ones.
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
