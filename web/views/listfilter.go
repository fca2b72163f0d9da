package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Filter filters the session list. It is part of the list's address, and
// static/src/sessions/listfilter.ts applies the same rules.
type Filter struct {
	Text  string // words that must all be found; empty for all
	State string // waiting, live, ended, failed, or empty for all
}

var filterStates = []string{"waiting", "live", "ended", "failed"}

// filterState is a button of the filter: a state, its words, and how many sessions of
// the list are in it.
type filterState struct {
	name, words string
	count       int
}

func (p SessionsPage) states() []filterState {
	return []filterState{
		{"waiting", "Waiting", len(p.Waiting)}, {"live", "Live", len(p.Live)},
		{"ended", "Ended", p.EndedTotal}, {"failed", "Failed", p.FailedTotal},
	}
}

// NewFilter parses a filter from an address. It ignores a state that does not
// exist.
func NewFilter(text, state string) Filter {
	if !slices.Contains(filterStates, state) {
		state = ""
	}
	return Filter{Text: strings.TrimSpace(text), State: state}
}

// ShowsEnded reports whether the filter shows a session that has ended.
func (f Filter) ShowsEnded(s SessionInfo) bool { return f.shows(rowSearch(s), rowStates(s)) }

func (f Filter) active() bool { return f.Text != "" || f.State != "" }

// shows reports whether to show an entry with the given text and states.
func (f Filter) shows(search, states string) bool {
	if f.State != "" && !slices.Contains(strings.Fields(states), f.State) {
		return false
	}
	search = strings.ToLower(search)
	for _, word := range strings.Fields(strings.ToLower(f.Text)) {
		if !strings.Contains(search, word) {
			return false
		}
	}
	return true
}

// searched joins the texts that the filter searches.
func searched(words ...string) string { return strings.Join(words, " ") }

func waitingSearch(w Waiting) string { return searched(w.Reason, w.PageURL, w.SessionID) }

func rowSearch(s SessionInfo) string {
	if s.live() {
		return searched(s.Script, s.name(), s.URL, s.ID, s.partyWords())
	}
	return searched(s.Script, s.name(), s.URL, s.ID, s.outcome(), s.endWords())
}

// rowStates returns the states, as in Filter.State, of a session.
func rowStates(s SessionInfo) string {
	switch {
	case s.live():
		return "live"
	case s.Failed():
		return "ended failed"
	}
	return "ended"
}

func (p SessionsPage) showsWaiting(w Waiting) bool {
	return p.Filter.shows(waitingSearch(w), "waiting live")
}

func (p SessionsPage) showsRow(s SessionInfo) bool {
	return p.Filter.shows(rowSearch(s), rowStates(s))
}

// rows returns the live sessions that wait for nobody. The others are listed as waiting.
func (p SessionsPage) rows() []SessionInfo {
	return slices.DeleteFunc(slices.Clone(p.Live), p.waits)
}

func (p SessionsPage) waitingShown() int { return countIf(p.Waiting, p.showsWaiting) }

func (p SessionsPage) rowsShown() int { return countIf(p.rows(), p.showsRow) }

func countIf[T any](list []T, counts func(T) bool) int {
	n := 0
	for _, one := range list {
		if counts(one) {
			n++
		}
	}
	return n
}

// shownOf describes how many of a section's entries are shown.
func shownOf(shown, total int) string {
	if shown == total {
		return strconv.Itoa(total)
	}
	return fmt.Sprintf("%d of %d", shown, total)
}

// nothingShown reports whether the filter hides every entry.
func (p SessionsPage) nothingShown() bool {
	return p.Filter.active() && p.waitingShown()+p.rowsShown()+len(p.Ended) == 0
}
