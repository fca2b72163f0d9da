package views

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

func (p Page) now() time.Time {
	if p.Now.IsZero() {
		return time.Now()
	}
	return p.Now
}

func (p Page) asset(name string) string {
	if p.Asset == nil {
		return ""
	}
	return p.Asset(name)
}

func (p Page) imports(name string) []string {
	if p.Imports == nil {
		return nil
	}
	return p.Imports(name)
}

func (p Page) built() bool { return p.asset("takeover.css") != "" }

// blank is the address of a page that has not opened anything yet.
const blank = "about:blank"

// host returns a short form of a page's address for people: the host, and the
// path if there is one. Addresses that are not web addresses are returned
// unchanged.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		if address == "" || address == blank {
			return "Empty page"
		}
		return address
	}
	return strings.TrimPrefix(u.Host, "www.") + strings.TrimSuffix(u.Path, "/")
}

// name returns a name for the session's page. If the page has no title, Chromium
// uses its address as the title, and name returns the host instead.
func (s SessionInfo) name() string {
	if t := strings.TrimSpace(s.Title); t != "" && t != s.URL && t != blank {
		return t
	}
	return host(s.URL)
}

// label is what a list calls the session: its script, what the script's first comment
// says, or its page.
func (s SessionInfo) label() string { return cmp.Or(s.scriptName(), s.name()) }

// scriptName is the name of the script that the session ran last, or what its first comment
// says; "" for neither.
func (s SessionInfo) scriptName() string { return cmp.Or(s.Script, s.Comment) }

// listed is what a list of other things calls the session, of which only the id may be known.
func (s SessionInfo) listed() string {
	if s.CreatedAt.IsZero() {
		return "Session " + short(s.ID)
	}
	return s.label()
}

func (s SessionInfo) live() bool { return s.EndedAt.IsZero() }

// full reports whether every browser of the server is in use.
func (p SessionsPage) full() bool { return p.Most > 0 && p.Taken >= p.Most && len(p.Nodes) == 0 }

// liveWords is the heading of the live sessions that wait for nobody.
func (p SessionsPage) liveWords() string {
	if len(p.Waiting) > 0 {
		return "Also live"
	}
	return "Live"
}

// oldestIdle returns the live session that nobody has used for longest, or nil.
func (p SessionsPage) oldestIdle() *SessionInfo {
	var oldest *SessionInfo
	for _, s := range p.rows() {
		if !s.IdleSince.IsZero() && (oldest == nil || s.IdleSince.Before(oldest.IdleSince)) {
			oldest = &s
		}
	}
	return oldest
}

// place returns the address of the session's page, to show below its name.
func (s SessionInfo) place() string {
	if s.URL == "" {
		return blank
	}
	where := host(s.URL)
	switch {
	case where != s.label():
		return where
	case strings.HasPrefix(s.URL, "http"):
		return "" // the label says it
	}
	return s.URL
}

// pageMinutes is the shortest default life of a session that is started on the
// page. A person who writes a script beside it needs more time than a program.
const pageMinutes = 30

// sessionMinutes returns the life that the page selects.
func (p SessionsPage) sessionMinutes() int { return max(pageMinutes, int(p.SessionTimeout.Minutes())) }

// sessionChoices returns the lives of a session that the page offers, in minutes.
func (p SessionsPage) sessionChoices() []int {
	all := []int{5, pageMinutes, 120, p.sessionMinutes()}
	slices.Sort(all)
	return slices.Compact(all)
}

// inWords formats a duration for a sentence: "5 minutes", "2 hours", "7 days".
func inWords(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > day && d%day == 0:
		return count(int(d/day), "day", "days")
	case d >= time.Hour && d%time.Hour == 0:
		return count(int(d/time.Hour), "hour", "hours")
	case d >= time.Minute && d%time.Minute == 0:
		return count(int(d/time.Minute), "minute", "minutes")
	default:
		return count(int(d/time.Second), "second", "seconds")
	}
}

// party returns who controls a session, in one of the four words that the pages'
// styles use: person, script, nobody, or wrong after a crash or failure.
func (s SessionInfo) party() string {
	switch {
	case s.Status == "crashed", s.Status == "failed", s.TabCrashed:
		return "wrong"
	case s.Controller == "":
		return "nobody"
	case strings.HasPrefix(s.Controller, "viewer:"):
		return "person"
	default:
		return "script"
	}
}

func (s SessionInfo) partyWords() string {
	switch {
	case s.Status == "starting":
		return "Starting"
	case s.Status == "crashed":
		return "Crashed, restarting"
	case s.Hibernates:
		return "Hibernates"
	case s.TabCrashed:
		return "Page crashed"
	case s.held():
		return "Programs are held"
	case s.lastFailed():
		return "Last run " + runWords(s.LastRun)
	case s.Controller == "":
		return "Idle"
	case strings.HasPrefix(s.Controller, "viewer:"):
		return "Person in control"
	case strings.HasPrefix(s.Controller, "client:"):
		return "Agent in control"
	default:
		return "Script running"
	}
}

// lastFailed reports whether nobody is in control of a live session whose last run failed.
func (s SessionInfo) lastFailed() bool {
	return s.live() && !s.Held && s.Status == "live" && !s.Hibernates && !s.TabCrashed && s.Controller == "" && (s.LastRun == "failed" || s.LastRun == "timeout")
}

// held reports whether somebody holds programs, and no person is in control.
func (s SessionInfo) held() bool { return s.Held && s.party() != "person" && s.party() != "wrong" }

// liveShape is the symbol of a live session's state.
func (s SessionInfo) liveShape() string {
	if s.held() {
		return "pause script"
	}
	if s.lastFailed() {
		return "cross wrong"
	}
	return shapeOf(s.party())
}

// Waits reports whether a session has an open takeover.
func (p SessionsPage) Waits(s SessionInfo) bool {
	return slices.ContainsFunc(p.Waiting, func(w Waiting) bool { return w.SessionID == s.ID })
}

// endedByPerson is the reason of the end of a session that a person ended on a page.
const endedByPerson = "ended by a person"

func (s SessionInfo) endWords() string {
	switch s.EndReason {
	case "":
		return s.Status
	case "timeout":
		return "Time limit reached"
	case "released":
		return "Ended by a program"
	case endedByPerson:
		return "Ended by a person"
	case "idle timeout":
		return "Nobody used it for a while"
	case "drained":
		return "Its server was stopped"
	}
	return capital(s.EndReason)
}

// capital returns a text with a large first letter.
func capital(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// runWords returns a run's status in the words of the pages.
func runWords(status string) string {
	switch status {
	case "cancelled":
		return "stopped"
	case "timeout":
		return "timed out"
	}
	return status
}

// Failed reports whether a live session's last run failed, or an ended session or one of its
// runs.
func (s SessionInfo) Failed() bool {
	if s.live() {
		return s.lastFailed()
	}
	return s.Status == "failed" || s.RunsFailed > 0
}

// outcomeWords describes how a session ended.
func (s SessionInfo) outcomeWords() string {
	switch {
	case s.RunsFailed > 0 && s.Runs > 1:
		return fmt.Sprintf("%d of %d runs failed", s.RunsFailed, s.Runs)
	case s.Failed():
		return "Failed"
	case s.LastRun == "":
		return "No script ran"
	case s.LastRun == "cancelled":
		return "Stopped"
	}
	return "Succeeded"
}

func (s SessionInfo) outcomeShape() string {
	switch {
	case s.Failed():
		return "cross wrong"
	case s.LastRun == "succeeded":
		return "tick good"
	}
	return "ring nobody"
}

// outcomeDetail returns why a session failed, or why it ended if nobody ended it.
func (s SessionInfo) outcomeDetail() string {
	if s.Failure != "" {
		return s.Failure
	}
	if s.EndReason == "released" || s.EndReason == endedByPerson || s.LastRun == "succeeded" {
		return ""
	}
	return s.endWords()
}

// outcome returns all that is known of a session's end, for a title and the
// filter.
func (s SessionInfo) outcome() string {
	if detail := s.outcomeDetail(); detail != "" {
		return s.outcomeWords() + ": " + detail
	}
	return s.outcomeWords()
}

func (p SessionPage) width() int  { return orElse(p.Width, 1280) }
func (p SessionPage) height() int { return orElse(p.Height, 720) }

func (p TakeoverPage) width() int  { return orElse(p.Width, 1280) }
func (p TakeoverPage) height() int { return orElse(p.Height, 720) }

func orElse(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// short returns the beginning of an id, enough to distinguish a few ids.
func short(id string) string {
	const shown = 8
	if len(id) <= shown+2 {
		return id
	}
	return id[:shown] + "…"
}

func iso(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// ago and the functions below return the same texts as static/src/ui/times.ts, so
// that nothing jumps when the page's script takes over.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	if d < 5*time.Second {
		return "just now"
	}
	return span(d) + " ago"
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d d", int(d.Hours()/24))
	}
}

// took returns how long something took, in at most two units: "48 ms", "1.2 s",
// "2 min 5 s", "1 h 2 min". The page's scripts write it likewise.
func took(d time.Duration) string {
	switch {
	case d.Round(time.Millisecond) < time.Second:
		return fmt.Sprintf("%d ms", max(0, d.Round(time.Millisecond).Milliseconds()))
	case d < time.Minute-50*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour-500*time.Millisecond:
		return units(int(d.Round(time.Second)/time.Second), "min", "s")
	}
	return units(int(d.Round(time.Minute)/time.Minute), "h", "min")
}

// units returns a number of small units, 60 of which are a big one, in both.
func units(small int, big, unit string) string {
	if small%60 == 0 {
		return fmt.Sprintf("%d %s", small/60, big)
	}
	return fmt.Sprintf("%d %s %d %s", small/60, big, small%60, unit)
}

func clock(d time.Duration) string {
	total := max(0, int((d+time.Second-1)/time.Second))
	if hours := total / 3600; hours > 0 {
		return fmt.Sprintf("%d:%02d:%02d", hours, total/60%60, total%60)
	}
	return fmt.Sprintf("%d:%02d", total/60, total%60)
}

// timeLeft returns the time left until a deadline: as a clock, or in days if there are any.
func timeLeft(d time.Duration) string {
	if d < 24*time.Hour {
		return clock(d)
	}
	return span(d)
}

// leftWords returns how much time a session has left, in the same words as
// static/src/workbench/timeleft.ts.
func leftWords(left time.Duration) string {
	if left <= 0 {
		return "time is up"
	}
	return span(left) + " left"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func askedBy(who string) string {
	switch who {
	case "":
		return "requested"
	case "script":
		return "requested by a script"
	case "api":
		return "requested by a program"
	default:
		return "requested by " + who
	}
}

func escapePath(s string) string { return url.PathEscape(s) }

func escapeQuery(s string) string { return url.QueryEscape(s) }

// scriptBeginning is how many lines of a script are shown to recognize it by.
const scriptBeginning = 4

func (s SavedScript) lines() int {
	return strings.Count(strings.TrimRight(s.Code, "\n"), "\n") + 1
}

func (s SavedScript) hasArgs() bool { return s.Args != "" && s.Args != "null" }

// begin returns the script's first lines that are not empty.
func (s SavedScript) begin() string {
	var first []string
	for line := range strings.Lines(s.Code) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if first = append(first, strings.TrimRight(line, "\n")); len(first) == scriptBeginning {
			break
		}
	}
	return strings.Join(first, "\n")
}

// webhookWords describes the state of a webhook's address.
func webhookWords(w Webhook) string {
	switch {
	case w.Dead > 0:
		return fmt.Sprintf("%d failed, %d waiting", w.Dead, w.Pending)
	case w.LastError != "":
		return "Retrying: " + w.LastError
	case w.Pending > 0:
		return fmt.Sprintf("%d waiting", w.Pending)
	}
	return "Working"
}
