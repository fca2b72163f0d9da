package session

import (
	"cmp"
	"time"
)

// Notice is news about a session for receivers other than its viewers, such as
// webhooks.
type Notice struct {
	Type string // takeover.requested, takeover.claimed, takeover.ended, run.ended, session.ended
	Time time.Time
	Data any    // TakeoverInfo, RunInfo without logs and steps, or Info
	Text string // the same as a line of text for a person
	Link string // a link for that person
}

// notify calls Options.Notify.
func (s *Session) notify(kind, text, link string, data any) {
	s.services.settings.notify(Notice{
		Type: kind, Time: time.Now().UTC(), Data: data, Text: text,
		Link: cmp.Or(link, s.services.settings.publicURL()+"/sessions/"+s.id),
	})
}

// takeoverWords are the texts for the outcomes of a takeover.
var takeoverWords = map[TakeoverState]string{
	TakeoverDone:      "Done: ",
	TakeoverFailed:    "Nobody could help: ",
	TakeoverExpired:   "Nobody came in time: ",
	TakeoverCancelled: "No longer needed: ",
}

func (s *Session) notifyTakeover(kind string, info TakeoverInfo) {
	switch kind {
	case "takeover.requested":
		s.notify(kind, "Waiting for a person: "+info.Reason, info.URL, info)
	case "takeover.claimed":
		s.notify(kind, "A helper is working: "+info.Reason, "", info)
	default:
		s.notify(kind, takeoverWords[info.State]+info.Reason, "", info)
	}
}

func (s *Session) notifyRun(info RunInfo) {
	info.Logs, info.Steps = []RunLog{}, []RunStep{}
	text := cmp.Or(info.Filename, "A script") + ": " + string(info.Status)
	if info.Error != nil {
		text += ", " + info.Error.Message
	}
	s.notify("run.ended", text, "", info)
}
