package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"takeover/capture"
	"takeover/session"
)

const (
	// maxListing bounds a list of console lines, requests or events, in tokens.
	maxListing = 2000
	// maxEventWait bounds how long the tool events waits, in seconds.
	maxEventWait = 60
)

type consoleArgs struct {
	where
	Level    string `json:"level,omitempty" jsonschema:"the least that is shown: error, warning, info or debug (default)"`
	All      bool   `json:"all,omitempty" jsonschema:"also lines of earlier documents, and without the bound on the answer"`
	Filename string `json:"filename,omitempty" jsonschema:"write the lines to this file of the session"`
}

type requestsArgs struct {
	where
	URL    string `json:"url,omitempty" jsonschema:"only requests whose address contains this"`
	Filter string `json:"filter,omitempty" jsonschema:"only requests whose address matches this regular expression"`
	Failed bool   `json:"failed,omitempty" jsonschema:"only requests that failed or got 400 and above"`
	Static bool   `json:"static,omitempty" jsonschema:"include pictures, fonts, styles and scripts that arrived"`
	Detail string `json:"detail,omitempty" jsonschema:"number of a request in the list: shows its headers and its body"`
	keeping
}

type eventsArgs struct {
	where
	Since      uint64   `json:"since,omitempty" jsonschema:"only events with a greater seq"`
	Types      []string `json:"types,omitempty" jsonschema:"such as navigation, network_response, console_error, takeover_done"`
	Categories []string `json:"categories,omitempty" jsonschema:"console, network, page, target, interaction, computed, screenshot, control, monitor, custom"`
	Wait       float64  `json:"wait,omitempty" jsonschema:"seconds to wait for the first event, at most 60"`
	All        bool     `json:"all,omitempty" jsonschema:"lift the bound on the answer"`
}

// observationTools show what happens besides the page's content.
var observationTools = []tool{
	row("browser_console_messages", setNetwork, "Read the console", reads,
		"Read what the page wrote to the console, and its uncaught errors.", `{"level": "error"}`, (*call).console),
	row("browser_network_requests", setNetwork, "List requests", reads,
		"List the requests of the page since it was opened.", `{"failed": true} or {"url": "/api/", "detail": "3"}`, (*call).requests),
	row("events", setNetwork, "Read events", reads,
		"Read the session's recorded events: navigations, requests, console, takeovers, who was in control. Pass the last seq as since to go on.",
		`{"types": ["navigation"], "since": 120}`, (*call).events),
}

// consoleLine is a console message or an uncaught error of a page.
type consoleLine struct {
	Type, Text, Name, Message string
	Timestamp                 float64
	Location                  struct {
		URL  string
		Line int64
	}
}

func (c *call) console(in consoleArgs) (*answer, error) {
	least := slices.Index(consoleLevels, cmp.Or(in.Level, "debug"))
	if in.Level == "all" {
		least = 0
	}
	if least < 0 {
		return nil, errors.New("level: must be error, warning, info or debug")
	}
	_, t, err := c.shownAt(in.where)
	if err != nil {
		return nil, err
	}
	filter := "since-navigation"
	if in.All {
		filter = "all"
	}
	var messages struct{ Messages []consoleLine }
	var uncaught struct{ Errors []consoleLine }
	with := params{"page": t.names.Page, "filter": filter}
	if err := errors.Join(t.run(c.ctx, "page.consoleMessages", with, &messages), t.run(c.ctx, "page.pageErrors", with, &uncaught)); err != nil {
		return nil, err
	}
	var lines []string
	for _, e := range uncaught.Errors {
		lines = append(lines, fmt.Sprintf("- uncaught %s: %s%s", e.Name, oneLine(e.Message), e.place()))
	}
	for _, m := range messages.Messages {
		if m.level() < least {
			continue
		}
		lines = append(lines, fmt.Sprintf("- %s: %s%s", m.Type, oneLine(m.Text), m.place()))
	}
	if len(lines) == 0 {
		return say("The console is empty."), nil
	}
	return c.listing("console", lines, keeping{in.All, in.Filename})
}

// consoleLevels are the levels of console lines, the least first.
var consoleLevels = []string{"debug", "info", "warning", "error"}

// level returns a line's place in consoleLevels.
func (l consoleLine) level() int {
	switch l.Type {
	case "error", "assert":
		return slices.Index(consoleLevels, "error")
	case "debug", "warning":
		return slices.Index(consoleLevels, l.Type)
	}
	return slices.Index(consoleLevels, "info")
}

// place says where a line comes from.
func (l consoleLine) place() string {
	if l.Location.URL == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", shortURL(l.Location.URL), l.Location.Line+1)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// listing answers with lines. Of too many, the newest stay, and all are in a file.
func (c *call) listing(name string, lines []string, k keeping) (*answer, error) {
	redact := c.conversation.session.Monitor().Redactor().Text
	whole := redact(strings.Join(lines, "\n"))
	if fits := k.All || tokens(whole) <= maxListing; fits && k.Filename == "" {
		return say("%s", whole), nil
	} else if fits {
		file, err := c.conversation.save(k.Filename, []byte(whole))
		if err != nil {
			return nil, err
		}
		return say("%s", whole).add("All are in the session's file %s.", file), nil
	}
	kept, left := len(lines), maxListing
	for kept > 0 {
		if left -= tokens(lines[kept-1]) + 1; left < 0 {
			break
		}
		kept--
	}
	file, err := c.conversation.save(cmp.Or(k.Filename, name+".txt"), []byte(whole))
	if err != nil {
		return nil, err
	}
	a := say("… %d earlier ones; all are in the session's file %s.", kept, file)
	return a.add("%s", redact(strings.Join(lines[kept:], "\n"))), nil
}

// request is a request of a page.
type request struct {
	ID           string    `json:"id"`
	URL          string    `json:"url"`
	Method       string    `json:"method"`
	ResourceType string    `json:"resourceType"`
	Headers      []header  `json:"headers"`
	PostData     []byte    `json:"postData"`
	Failure      string    `json:"failure"`
	Response     *response `json:"response"`
}

type response struct {
	Status     int      `json:"status"`
	StatusText string   `json:"statusText"`
	Headers    []header `json:"headers"`
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// static reports whether a request is for a part of the page that rarely matters.
func (r *request) static() bool {
	return slices.Contains([]string{"image", "font", "stylesheet", "script", "media"}, strings.ToLower(r.ResourceType)) && !r.bad()
}

// bad reports whether a request failed.
func (r *request) bad() bool {
	return r.Failure != "" || r.Response != nil && r.Response.Status >= 400
}

func (r *request) line(n int) string {
	outcome := "pending"
	switch {
	case r.Failure != "":
		outcome = r.Failure
	case r.Response != nil:
		outcome = fmt.Sprint(r.Response.Status)
	}
	return fmt.Sprintf("%d. %s %s %s (%s)", n, r.Method, shortURL(r.URL), outcome, strings.ToLower(r.ResourceType))
}

func (c *call) requests(in requestsArgs) (*answer, error) {
	_, t, err := c.shownAt(in.where)
	if err != nil {
		return nil, err
	}
	filter, err := regexp.Compile(in.Filter)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	var got struct{ Requests []request }
	if err := t.runRaw(c.ctx, "page.requests", params{"page": t.names.Page}, &got); err != nil {
		return nil, err
	}
	var lines []string
	for i := range got.Requests {
		r := &got.Requests[i]
		if in.Detail == fmt.Sprint(i+1) {
			return c.requestDetail(t, r, in.keeping)
		}
		if in.Failed && !r.bad() || !in.Static && in.URL == "" && in.Filter == "" && r.static() || !strings.Contains(r.URL, in.URL) || !filter.MatchString(r.URL) {
			continue
		}
		lines = append(lines, r.line(i+1))
	}
	switch {
	case in.Detail != "":
		return nil, fmt.Errorf("detail: there is no request %.20q; the list has the numbers", in.Detail)
	case len(lines) == 0:
		return say("No such request among the page's %d.", len(got.Requests)), nil
	}
	return c.listing("requests", lines, in.keeping)
}

// requestDetail answers with a request's headers and bodies. Secrets are removed from
// them as in events.
func (c *call) requestDetail(t tab, r *request, k keeping) (*answer, error) {
	var b strings.Builder
	write := func(what string, headers []header) {
		fmt.Fprintf(&b, "\n%s:", what)
		for _, h := range headers {
			fmt.Fprintf(&b, "\n  %s: %s", h.Name, h.Value)
		}
	}
	write("request headers", r.Headers)
	if len(r.PostData) > 0 {
		fmt.Fprintf(&b, "\nrequest body:\n%s", r.PostData)
	}
	if r.Response != nil {
		write(fmt.Sprintf("response %d %s", r.Response.Status, r.Response.StatusText), r.Response.Headers)
		var body struct{ Data []byte }
		if err := t.runRaw(c.ctx, "response.body", params{"request": r.ID}, &body); err == nil {
			fmt.Fprintf(&b, "\nresponse body:\n%s", body.Data)
		} else {
			fmt.Fprintf(&b, "\nresponse body: %s", firstLine(err.Error()))
		}
	}
	redact := c.conversation.session.Monitor().Redactor().Text
	text, err := c.long("request", ".txt", redact(r.Method+" "+r.URL+b.String()), k)
	if err != nil {
		return nil, err
	}
	return say("%s", text), nil
}

func (c *call) events(in eventsArgs) (*answer, error) {
	for _, name := range in.Types {
		if capture.CategoryOf(name) == "" {
			return nil, fmt.Errorf("types: %.64q is no type of event", name)
		}
	}
	for _, name := range in.Categories {
		if !capture.IsCategory(name) {
			return nil, fmt.Errorf("categories: %.64q is no category of events", name)
		}
	}
	s, err := c.session(in.where) // also of a session that has ended
	if err != nil {
		return nil, err
	}
	if !s.Status().Ended() {
		if _, err := c.at(in.where); err != nil {
			return nil, err
		}
	}
	started := recording(c.ctx, s, in.Categories)
	filter := capture.Filter{Types: in.Types, Categories: in.Categories}
	journal := s.Journal()
	if in.Wait > 0 {
		ctx, cancel := context.WithTimeout(c.ctx, time.Duration(min(in.Wait, maxEventWait)*float64(time.Second)))
		defer cancel()
		reader := journal.Read(in.Since, filter)
		for {
			ev, err := reader.Next(ctx)
			if errors.Is(err, io.EOF) || err != nil || filter.Match(&ev) {
				break // the page below has it, or there is none
			}
		}
	}
	const most = 1000
	page, err := journal.Events(c.ctx, in.Since, most, filter)
	if err != nil {
		return nil, err
	}
	a, left, last := &answer{}, maxListing, in.Since
	for i := range page.Events {
		ev := &page.Events[i]
		line := eventLine(ev)
		if left -= tokens(line); left < 0 && !in.All {
			a.add("… more: pass since %d.", last)
			return a, nil
		}
		last = ev.Seq
		a.add("%s", line)
	}
	if len(page.Events) == 0 {
		a.add("No such event after seq %d.", in.Since)
	}
	if started != "" {
		a.add("%s", started)
	}
	return a, nil
}

// recording makes sure that a session records the events that a caller reads. It returns
// what the caller must know about that.
func recording(ctx context.Context, s *session.Session, categories []string) string {
	switch state, _, _ := s.Monitor().State(); {
	case state == capture.StateRunning || s.Status().Ended():
		return ""
	case s.CaptureDeclined():
		return "This session records no events: its creator does not want it."
	}
	config := capture.DefaultConfig()
	config.Targets = slices.Contains(categories, capture.CategoryTarget)
	config.Interactions = slices.Contains(categories, capture.CategoryInteraction)
	config.ComputedEvents = slices.Contains(categories, capture.CategoryComputed)
	if _, err := s.StartCapture(ctx, config); err != nil { // the events so far can be read
		return "This session records no events now: " + err.Error() + "."
	}
	return "Recording has begun now: call again to see what happens from here on."
}

// maxEventLine bounds an event in an answer, in tokens.
const maxEventLine = 200

// eventLine writes an event for a model.
func eventLine(ev *capture.Event) string {
	data := string(ev.Data)
	if ev.Type == capture.TypeScreenshot {
		data = "{}"
	}
	data, cut := clip(data, maxEventLine)
	if cut {
		data += "…"
	}
	line := fmt.Sprintf("%d %s %s %s", ev.Seq, time.UnixMilli(ev.TS).UTC().Format("15:04:05.000"), ev.Type, data)
	if ev.URL != "" {
		line += " " + shortURL(ev.URL)
	}
	return line
}
