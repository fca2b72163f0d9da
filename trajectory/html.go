package trajectory

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"time"
)

// MaxLine bounds a line of events.jsonl, of which summaries are the largest part, and of
// session.jsonl.
const MaxLine = 2 << 20

// reportHead, reportEvent and reportFoot are the parts of a report in one file. Everything
// that a page or a program chose is escaped.
var (
	reportHead = template.Must(template.New("head").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.ID}}</title>
<style>
:root { color-scheme: light dark; --line: light-dark(#d8dde5, #333b47); --wrong: light-dark(#b92b26, #ff8f86); --muted: light-dark(#555e6e, #9ba5b5); }
body { max-width: 1100px; margin: 0 auto; padding: 24px 16px 64px; font: 14px/1.5 system-ui, sans-serif; }
dl { display: flex; flex-wrap: wrap; gap: 8px 32px; } dt { color: var(--muted); } dd { margin: 0; font-weight: 600; }
article { padding: 12px 0; border-top: 1px solid var(--line); } h2 { margin: 0; font-size: 14px; } h2 small { color: var(--muted); font-weight: 400; }
.wrong { color: var(--wrong); } pre { margin: 4px 0 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.4 ui-monospace, monospace; }
img { display: block; max-width: min(640px, 100%); margin-top: 8px; border: 1px solid var(--line); }
</style></head><body>
<h1>{{.ID}}</h1>
<dl>
<div><dt>Session</dt><dd>{{.SessionID}}</dd></div>
<div><dt>Began</dt><dd>{{.Report.StartedAt.Format "2006-01-02 15:04:05"}} UTC</dd></div>
<div><dt>Ended</dt><dd>{{.Report.EndedAt.Format "15:04:05"}} UTC</dd></div>
<div><dt>Calls</dt><dd>{{.Report.ToolCalls}}</dd></div>
<div><dt>Failures</dt><dd{{if .Report.Failures}} class="wrong"{{end}}>{{.Report.Failures}}</dd></div>
<div><dt>Contracts</dt><dd>{{.Report.Contracts.Pass}} passed, {{.Report.Contracts.Fail}} failed, {{.Report.Contracts.Inconclusive}} inconclusive</dd></div>
<div><dt>Searched for secrets</dt><dd>{{if eq .Report.LeakScan.State "clean"}}none found{{else}}no{{end}}</dd></div>
</dl>
{{range .Report.Recovery}}<p class="wrong">{{.}}</p>{{end}}
`))
	reportEvent = template.Must(template.New("event").Parse(`<article id="{{.Seq}}">
<h2{{if .Failed}} class="wrong"{{end}}>{{.Title}} <small>{{.At}}{{with .Actor}} · {{.}}{{end}}{{with .Took}} · {{.}}{{end}}{{with .Tab}} · tab {{.}}{{end}}</small></h2>
{{with .State}}{{with .URL}}<div>{{.}}</div>{{end}}{{end}}{{with .Args}}<pre>{{.}}</pre>{{end}}{{with .Result}}<pre>{{.}}</pre>{{end}}{{with .Missing}}<p>There is no picture: {{.}}</p>{{end}}{{with .Picture}}<img alt="" src="{{.}}">{{end}}
</article>
`))
	reportFoot = "</body></html>\n"
)

// kindWords are the kinds of events in the words of a report.
var kindWords = map[Kind]string{
	ToolCallStart: "begins", ToolCallEnd: "ended", CheckpointOf: "Checkpoint", ContractOf: "Contract", Hint: "Hint", Recovery: "Recovery", Failure: "Error",
	TakeoverStart: "Asked for a person", TakeoverEnd: "The person is finished",
}

// Words returns the kind in the words of a report, or "".
func (k Kind) Words() string { return kindWords[k] }

// reported is an event as a report shows it.
type reported struct {
	Seq                         uint64
	Title, At, Actor, Took, Tab string
	Failed                      bool
	State                       *State
	Args, Result                string
	Missing                     Missing
	Picture                     template.URL
}

// WriteHTML writes the bundle as one HTML page, with its pictures in it, which needs no server
// and runs no script.
func (a *Archive) WriteHTML(to io.Writer) error {
	out := bufio.NewWriter(to)
	if err := reportHead.Execute(out, a.info); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	err := a.EachEvent(func(e *Event) error {
		one, err := a.reported(e)
		if err == nil {
			err = reportEvent.Execute(out, one)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	_, _ = out.WriteString(reportFoot) // Flush returns its error
	return out.Flush()
}

// reported prepares an event, with its picture.
func (a *Archive) reported(e *Event) (r reported, err error) {
	r = reported{Seq: e.Seq, Title: e.Kind.Words(), At: time.UnixMilli(e.TS).UTC().Format("15:04:05.000"), Actor: e.Actor, Tab: e.TabID, State: e.State, Args: indented(e.Args), Result: indented(e.Result), Missing: e.Missing}
	if r.Title == "" {
		r.Title = string(e.Kind)
	}
	if e.Tool != "" {
		r.Title = e.Tool + " " + r.Title
	}
	r.Failed = e.Failed()
	if e.DurationMS != nil {
		r.Took = fmt.Sprintf("%.0f ms", *e.DurationMS)
	}
	name, picture, err := a.Picture(e)
	if name == "" {
		return r, err
	}
	r.Picture = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(picture)) //nolint:gosec // base64 has nothing to escape
	return r, err
}

// indented returns a summary as text, or "".
func indented(summary any) string {
	if summary == nil {
		return ""
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(summary) != nil {
		return ""
	}
	return string(bytes.TrimSpace(out.Bytes()))
}
