package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"takeover/capture"
	"takeover/session"
)

// answerPatience is how long an outcome waits for the answers to its requests.
const answerPatience = 2 * time.Second

// maxLogs and maxRequests bound what one action's outcome tells.
const (
	maxLogs     = 500
	maxRequests = 1000
	maxMessage  = 4 << 10 // bytes of a log's message, and of its stack
	eventBatch  = 1000    // events read at once
)

// watched are the events that an outcome is made from.
var watched = capture.Filter{Types: []string{
	capture.TypeConsoleLog, capture.TypeConsoleError, capture.TypePageCrashed,
	capture.TypeNetworkRequest, capture.TypeNetworkResponse, capture.TypeNetworkLoadingFailed, capture.TypeEgressBlocked,
}}

// capturing makes sure that the session captures what outcomes are made from, unless
// its creator wants no capture.
func capturing(ctx context.Context, s *session.Session) error {
	if isCapturing(s) || s.CaptureDeclined() {
		return nil
	}
	need := capture.DefaultConfig()
	if state, config, _ := s.Monitor().State(); state == capture.StateRunning {
		need = config.With(need)
	}
	_, err := s.StartCapture(ctx, need)
	return err
}

// isCapturing reports whether the session captures what outcomes are made from.
func isCapturing(s *session.Session) bool {
	state, config, _ := s.Monitor().State()
	return state == capture.StateRunning && config.Console && config.Network && config.Navigation
}

// answered waits until the requests that began since an event have their answers,
// so that these belong to the outcome of the action which began them. It gives up
// after answerPatience, because a page may keep a request open.
func answered(ctx context.Context, s *session.Session, since uint64) {
	s.Monitor().Heard(ctx) // the requests so far are among the events then
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	until, open := s.Monitor().Ring().Last(), map[string]bool{}
	events := s.Journal().Read(since, capture.Filter{}) // all, to know when until is reached
	for seq := since; seq < until || len(open) > 0; {
		ev, err := events.Next(ctx)
		if err != nil {
			return // the outcome has what is known
		}
		seq = ev.Seq
		var e eventData
		switch ev.Type {
		case capture.TypeNetworkRequest:
			_ = json.Unmarshal(ev.Data, &e)                      // the monitor has made it
			if e.ResourceType != "eventsource" && seq <= until { // a stream has no end
				open[e.RequestID] = true
			}
		case capture.TypeNetworkResponse, capture.TypeNetworkLoadingFailed:
			_ = json.Unmarshal(ev.Data, &e)
			delete(open, e.RequestID)
		}
	}
}

// observe adds to an outcome what happened in the session's pages since an event.
func observe(ctx context.Context, s *session.Session, since uint64, d *Data) error {
	s.Monitor().Heard(ctx)
	d.FromSeq, d.ToSeq = since, s.Monitor().Ring().Last()
	requests := map[string]int{} // indexes of requests that have no response yet, by their ids
	for since < d.ToSeq {
		page, err := s.Journal().Events(ctx, since, eventBatch, watched)
		if err != nil {
			return err
		}
		for i := range page.Events {
			if ev := &page.Events[i]; ev.Seq <= d.ToSeq {
				d.add(ev, requests)
			}
		}
		if page.Next <= since || !page.More {
			return nil
		}
		since = page.Next
	}
	return nil
}

// eventData has the fields of the events that outcomes need.
type eventData struct {
	Level, Text, Source string
	Line, Column        int64
	URL                 string
	Reason              string
	Method              string
	Status              int
	Host                string
	Port                int
	Canceled            bool
	RequestID           string `json:"request_id"`
	ResourceType        string `json:"resource_type"`
	ErrorText           string `json:"error_text"`
	Blocked             string `json:"blocked_reason"`
	RedirectedFrom      string `json:"redirected_from"`
	TransferSize        int64  `json:"transfer_size"`
	StackTrace          []struct {
		Function, URL string
		Line, Column  int64
	} `json:"stack_trace"`
	RedirectResponse *struct{ Status int } `json:"redirect_response"`
}

// add adds one event.
func (d *Data) add(ev *capture.Event, requests map[string]int) {
	var e eventData
	_ = json.Unmarshal(ev.Data, &e) // the monitor has made it
	switch ev.Type {
	case capture.TypeConsoleLog, capture.TypeConsoleError, capture.TypePageCrashed:
		d.log(ev, &e)
	default:
		d.request(ev, &e, requests)
	}
}

func (d *Data) log(ev *capture.Event, e *eventData) {
	if len(d.Logs) >= maxLogs {
		d.Truncated = true
		return
	}
	l := Log{Type: "info", Message: clip(e.Text), Timestamp: ev.TS, Seq: ev.Seq}
	switch {
	case ev.Type == capture.TypePageCrashed:
		l.Type, l.Source, l.Message = "error", "crash", strings.TrimSpace("the page crashed "+e.Reason)
	case ev.Type == capture.TypeConsoleError:
		l.Type, l.Source = "error", e.Source
	case e.Level == "warn":
		l.Type = "warning"
	}
	var stack strings.Builder
	for _, f := range e.StackTrace {
		fmt.Fprintf(&stack, "at %s (%s:%d:%d)\n", f.Function, f.URL, f.Line, f.Column)
	}
	l.Stack = clip(strings.TrimSuffix(stack.String(), "\n"))
	switch {
	case e.URL != "" && e.Line > 0:
		l.Location = fmt.Sprintf("%s:%d:%d", e.URL, e.Line, e.Column)
	case len(e.StackTrace) > 0:
		l.Location = fmt.Sprintf("%s:%d:%d", e.StackTrace[0].URL, e.StackTrace[0].Line, e.StackTrace[0].Column)
	default:
		l.Location = ev.URL
	}
	d.Logs = append(d.Logs, l)
}

func (d *Data) request(ev *capture.Event, e *eventData, requests map[string]int) {
	at, known := requests[e.RequestID]
	if ev.Type == capture.TypeNetworkRequest && known && e.RedirectResponse != nil {
		d.NetworkEvents[at].Type, d.NetworkEvents[at].Status, d.NetworkEvents[at].RedirectedTo = "response", e.RedirectResponse.Status, e.URL
		known = false
	}
	if !known {
		if len(d.NetworkEvents) >= maxRequests {
			d.Truncated = true
			return
		}
		at = len(d.NetworkEvents)
		d.NetworkEvents = append(d.NetworkEvents, NetworkEvent{Type: "request", URL: e.URL, Method: e.Method, ResourceType: e.ResourceType, Timestamp: ev.TS, Seq: ev.Seq, Document: ev.URL})
		if e.RequestID != "" {
			requests[e.RequestID] = at
		}
	}
	r := &d.NetworkEvents[at]
	switch ev.Type {
	case capture.TypeNetworkResponse:
		r.Type, r.Status, r.Size = "response", e.Status, e.TransferSize
	case capture.TypeNetworkLoadingFailed:
		if e.Canceled && e.Blocked == "" && r.Type != "response" {
			r.Type, r.Error = "request", "canceled" // by the page itself
			return
		}
		if r.Type == "response" && r.Status < 400 && e.Canceled {
			return
		}
		r.Type, r.Error, r.Blocked, r.Seq = "failed", e.ErrorText, e.Blocked, ev.Seq
	case capture.TypeEgressBlocked:
		r.Type, r.Error = "blocked", "the session may not reach it: "+e.Reason
		if r.URL == "" {
			r.URL = fmt.Sprintf("%s:%d", e.Host, e.Port)
		}
	}
}

// clip shortens a text.
func clip(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}
