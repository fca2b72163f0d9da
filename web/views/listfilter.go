package views

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// Filter filters a list by those fields that the list has. It is part of the list's
// address, and static/src/ui/listfilter.ts applies the same rules.
type Filter struct {
	Text   string // words that must all be found; empty for all
	State  string // one of the list's states, or empty for all
	Script string // name of a script; empty for all
	Since  string // hour, day, week, or empty for all: what was live in that time
}

// filterTime is a choice of the filter: how far back sessions may have ended.
type filterTime struct {
	name, words string
	within      time.Duration
}

var filterTimes = []filterTime{
	{"hour", "Last hour", time.Hour}, {"day", "Last day", 24 * time.Hour}, {"week", "Last week", 7 * 24 * time.Hour},
}

// filterState is a button of the filter: a state, its words, and how many entries of the
// list are in it that the rest of the filter finds.
type filterState struct {
	name, words string
	count       int
}

// countsOf returns the attributes by which a page's script learns the counts.
func countsOf(states []filterState) templ.Attributes {
	attributes := templ.Attributes{}
	for _, s := range states {
		attributes["data-found-"+s.name] = strconv.Itoa(s.count)
	}
	return attributes
}

// has reports whether a session was live in the time; ended is zero for one that is.
func (t filterTime) has(ended, now time.Time) bool {
	return ended.IsZero() || now.Sub(ended) <= t.within
}

// CountSince counts a session in each of the filter's times in which it was live.
func CountSince(counts map[string]int, s SessionInfo, now time.Time) {
	for _, t := range filterTimes {
		if t.has(s.EndedAt, now) {
			counts[t.name]++
		}
	}
}

func (p SessionsPage) states() []filterState {
	all := []filterState{
		{"waiting", "Waiting", len(p.unclaimed())}, {"claimed", "With a person", len(p.claimed())}, {"live", "Live", p.live()},
		{"ended", "Ended", p.EndedTotal}, {"failed", "Failed", p.FailedTotal},
	}
	if p.Filter.AnyState() != (Filter{}) {
		for i := range all {
			all[i].count = p.Found[all[i].name]
		}
	}
	return all
}

// CountFound counts what the page has in each state that the rest of the filter finds. all
// are the sessions, also those that the page does not show.
func (p *SessionsPage) CountFound(all []SessionInfo, now time.Time) {
	p.Found = map[string]int{}
	f := p.Filter.AnyState()
	if f == (Filter{}) {
		return // the page has these numbers
	}
	count := func(e filterEntry) {
		if !f.shows(e, now) {
			return
		}
		for _, state := range strings.Fields(e.states) {
			p.Found[state]++
		}
	}
	for _, w := range p.Waiting {
		count(waitingEntry(w))
	}
	for _, s := range all {
		if !p.Waits(s) { // the list has it among those that wait
			count(rowEntry(s))
		}
	}
}

// NewFilter parses the filter of a list without states from an address.
func NewFilter(query url.Values) Filter { return newFilter(query, nil) }

// NewTakeoverFilter parses the filter of the list of takeovers. It ignores a state that does
// not exist.
func NewTakeoverFilter(query url.Values) Filter { return newFilter(query, TakeoversPage{}.states()) }

func newFilter(query url.Values, states []filterState) Filter {
	f := Filter{Text: strings.TrimSpace(query.Get("q")), State: query.Get("state")}
	if !slices.ContainsFunc(states, func(s filterState) bool { return s.name == f.State }) {
		f.State = ""
	}
	return f
}

// NewSessionFilter parses the filter of the list of sessions from an address. It ignores a
// state and a time that do not exist.
func NewSessionFilter(query url.Values) Filter {
	f := newFilter(query, SessionsPage{}.states())
	f.Script, f.Since = query.Get("script"), query.Get("since")
	if !slices.ContainsFunc(filterTimes, func(t filterTime) bool { return t.name == f.Since }) {
		f.Since = ""
	}
	return f
}

// Shows reports whether the filter shows a session.
func (f Filter) Shows(s SessionInfo, now time.Time) bool { return f.shows(rowEntry(s), now) }

func (f Filter) active() bool { return f != Filter{} }

// AnyState returns the filter without its state.
func (f Filter) AnyState() Filter {
	f.State = ""
	return f
}

// noMatchWords says that a list of such entries has none that the filter finds, in the same
// words as static/src/ui/listfilter.ts.
func (f Filter) noMatchWords(entry string) string {
	switch text := "“" + f.Text + "”"; f {
	case Filter{Text: f.Text}:
		return "No " + entry + " matches " + text + "."
	case Filter{State: f.State, Script: f.Script, Since: f.Since}:
		return "No " + entry + " matches the chosen filters."
	default:
		return "No " + entry + " matches " + text + " and the chosen filters."
	}
}

// filterEntry is what the filter knows of an entry of the list.
type filterEntry struct {
	search, states, script string
	ended                  time.Time // zero while it is live
}

// shows reports whether to show an entry.
func (f Filter) shows(e filterEntry, now time.Time) bool {
	if f.State != "" && !slices.Contains(strings.Fields(e.states), f.State) {
		return false
	}
	if f.Script != "" && f.Script != e.script {
		return false
	}
	for _, t := range filterTimes {
		if t.name == f.Since && !t.has(e.ended, now) {
			return false
		}
	}
	return f.finds(e.search)
}

// finds reports whether a text has all words of the filter's text.
func (f Filter) finds(text string) bool {
	if f.Text == "" {
		return true
	}
	text = strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(f.Text)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// scripts returns the names of scripts that the filter offers: those of the list, and the
// chosen one.
func (p SessionsPage) scripts() []string {
	names := append(slices.Collect(maps.Keys(p.Scripts)), p.Filter.Script)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// counted writes a choice of the filter and how many sessions it has.
func counted(words string, n int) string { return fmt.Sprintf("%s (%d)", words, n) }

// searched joins the texts that the filter searches.
func searched(words ...string) string { return strings.Join(words, " ") }

func waitingSearch(w Waiting) string { return searched(w.Reason, w.PageURL, w.SessionID) }

func rowSearch(s SessionInfo) string {
	if s.live() {
		return searched(s.Script, s.Comment, s.name(), s.URL, s.ID, s.partyWords())
	}
	return searched(s.Script, s.Comment, s.name(), s.URL, s.ID, s.outcome(), s.endWords())
}

// rowStates returns the states, as in Filter.State, of a session.
func rowStates(s SessionInfo) (states string) {
	states = "ended"
	if s.live() {
		states = "live"
	}
	if s.Failed() {
		states += " failed"
	}
	return states
}

func rowEntry(s SessionInfo) filterEntry {
	return filterEntry{rowSearch(s), rowStates(s), s.Script, s.EndedAt}
}

func waitingEntry(w Waiting) filterEntry {
	return filterEntry{search: waitingSearch(w), states: waitingStates(w), script: w.Script}
}

// endedAt returns when a session ended, for the page's script, or "".
func endedAt(s SessionInfo) string {
	if s.live() {
		return ""
	}
	return iso(s.EndedAt)
}

func (p SessionsPage) showsWaiting(w Waiting) bool {
	return p.Filter.shows(waitingEntry(w), p.now())
}

func (p SessionsPage) showsRow(s SessionInfo) bool { return p.Filter.shows(rowEntry(s), p.now()) }

// rows returns the live sessions that wait for nobody. The others are listed as waiting.
func (p SessionsPage) rows() []SessionInfo {
	return slices.DeleteFunc(slices.Clone(p.Live), p.Waits)
}

// live returns how many sessions are live, with those that are not shown.
func (p SessionsPage) live() int { return max(p.LiveTotal, len(p.Live)) }

// rowsTotal returns how many of them wait for nobody.
func (p SessionsPage) rowsTotal() int { return max(p.live()-len(p.Waiting), len(p.rows())) }

// unclaimed returns the takeovers that wait for a person.
func (p SessionsPage) unclaimed() []Waiting {
	return slices.DeleteFunc(slices.Clone(p.Waiting), func(w Waiting) bool { return w.Claimed })
}

// claimed returns the takeovers on which a person works.
func (p SessionsPage) claimed() []Waiting {
	return slices.DeleteFunc(slices.Clone(p.Waiting), func(w Waiting) bool { return !w.Claimed })
}

// waitingStates returns the states, as in Filter.State, of a session with an open takeover.
func waitingStates(w Waiting) string {
	if w.Claimed {
		return "claimed live"
	}
	return "waiting live"
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
