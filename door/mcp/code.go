package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/door/page"
	"takeover/session"
)

type shotArgs struct {
	where
	Target   string `json:"target,omitempty" jsonschema:"ref or selector of an element; default: what is in view"`
	FullPage bool   `json:"fullPage,omitempty" jsonschema:"the whole page"`
	Format   string `json:"format,omitempty" jsonschema:"jpeg (default), png or webp"`
	Filename string `json:"filename,omitempty" jsonschema:"also write it to this file of the session"`
}

// keeping says where a long value goes.
type keeping struct {
	All      bool   `json:"all,omitempty" jsonschema:"the whole value, however long"`
	Filename string `json:"filename,omitempty" jsonschema:"write the value to this file of the session"`
}

type evaluateArgs struct {
	where
	Function string `json:"function" jsonschema:"an expression or a function, such as () => document.title; with target, a function of the element"`
	Target   string `json:"target,omitempty" jsonschema:"ref or selector of the function's argument"`
	keeping
}

type runArgs struct {
	where
	Code    string         `json:"code,omitempty" jsonschema:"Playwright code with page, context and expect in scope, or async (page) => {…}; what it returns is the answer"`
	Run     string         `json:"run,omitempty" jsonschema:"id of a run to wait for again, in place of code"`
	Args    map[string]any `json:"args,omitempty" jsonschema:"the script's args"`
	Timeout float64        `json:"timeout,omitempty" jsonschema:"milliseconds; default 300000"`
	keeping
}

// codeTools run JavaScript, and take pictures.
var codeTools = []tool{
	row("browser_take_screenshot", setCore, "Take a picture", reads,
		"See the page as a picture. browser_snapshot is smaller and has the refs; use this for what only pictures show.",
		`{} or {"target": "e12"}`, (*call).screenshot),
	row("browser_evaluate", setCode, "Run JavaScript in the page", acts,
		"Run JavaScript in the page and get its result as JSON.", `{"function": "() => document.title"}`, (*call).evaluate),
	row("browser_run_code", setCode, "Run a Playwright script", acts,
		"Run a Playwright script in this session, for several steps at once. Its result, its logs and its error are the answer.",
		`{"code": "await page.getByLabel('Email').fill('me@example.com'); return page.title()"}`, (*call).runCode),
}

func (c *call) screenshot(in shotArgs) (*answer, error) {
	s, t, err := c.readableAt(in.where)
	if err != nil {
		return nil, err
	}
	format := in.Format
	switch format {
	case "":
		format = "jpeg"
	case "jpg":
		format = "jpeg"
	case "jpeg", "png", "webp":
	default:
		return nil, errors.New("format: must be jpeg, png or webp")
	}
	data, err := t.Screenshot(c.ctx, page.ScreenshotOptions{Target: selectorOf(in.Target), FullPage: in.FullPage, Format: format, CSSPixels: true})
	if err != nil {
		return nil, err
	}
	a := &answer{lines: s.status()}
	small, mime, about := forModel(data, "image/"+format)
	if about != "" || in.Filename != "" { // it was made smaller, or is wanted
		name, err := s.save(cmp.Or(in.Filename, "screenshot."+format), data)
		if err != nil {
			return nil, err
		}
		if about != "" {
			a.add("The picture is %s.", about)
		}
		a.add("The whole picture is the session's file %s.", name)
	}
	if small != nil {
		a.more = append(a.more, &sdk.ImageContent{Data: small, MIMEType: mime})
	}
	return a, nil
}

// looksLikeFunction matches code that is a function.
var looksLikeFunction = regexp.MustCompile(`^\s*(async\b\s*)?(function\b|\([^)]*\)\s*=>|[\w$]+\s*=>)`)

func (c *call) evaluate(in evaluateArgs) (*answer, error) {
	if strings.TrimSpace(in.Function) == "" {
		return nil, errors.New("function: is required")
	}
	code, isFunction := in.Function, looksLikeFunction.MatchString(in.Function)
	if in.Target != "" && !isFunction {
		code, isFunction = "element => ("+code+")", true
	}
	var value json.RawMessage
	a, err := c.act(in.where, view{}, func(ctx context.Context, t tab) (err error) {
		value, err = t.Evaluate(ctx, selectorOf(in.Target), code, isFunction, nil)
		return err
	})
	if err != nil || value == nil {
		return a, err
	}
	result, err := c.long("result", ".json", string(value), in.keeping)
	if err != nil {
		return nil, err
	}
	a.lines = append([]string{result}, a.lines...)
	return a, nil
}

// long returns a text for an answer under its name. If the text is long, it goes to a
// file of the session, and the answer has the beginning, unless the caller wants all.
func (c *call) long(name, extension, text string, k keeping) (string, error) {
	text = c.hide(text)
	short, cut := clip(text, maxValue)
	if k.Filename == "" && (k.All || !cut) {
		return title(name) + ": " + text, nil
	}
	file, err := c.conversation.save(cmp.Or(k.Filename, name+extension), []byte(text))
	if err != nil {
		return "", err
	}
	switch {
	case k.All || !cut:
		short = text
	default:
		short, _ = clip(short, maxValue/3)
		short += "…"
	}
	return fmt.Sprintf("%s: %s\nAll %d bytes are in the session's file %s (session_files reads it).", title(name), short, len(text), file), nil
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// save writes a file of the session under a name of its own, and returns the name.
func (s *conversation) save(name string, content []byte) (string, error) {
	folder, err := s.session.Files()
	if err != nil {
		return "", err
	}
	f, err := folder.Add(name, bytes.NewReader(content))
	if err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	return f.Name, nil
}

func (c *call) runCode(in runArgs) (*answer, error) {
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	var r *session.Run
	switch {
	case in.Run != "":
		r, err = s.session.Run(in.Run)
	case strings.TrimSpace(in.Code) == "":
		err = errors.New("code: is required")
	default:
		r, err = c.startRun(s, in)
	}
	if err != nil {
		return nil, err
	}
	defer c.progress(c.waiting)()
	asks := time.NewTicker(time.Second)
	defer asks.Stop()
	for {
		select {
		case <-r.Done():
			return c.ranCode(r, in.keeping)
		case <-asks.C:
			if t := s.session.Info().Takeover; t != nil && t.RunID == r.ID() {
				return say("The run %s waits for a person: %s\nGive them this link: %s\nCall browser_run_code with run %q to wait on.", r.ID(), t.Reason, t.URL, r.ID()), nil
			}
		case <-c.ctx.Done():
			if in.Run == "" { // otherwise somebody else may wait for it, too
				r.Cancel()
			}
			return nil, context.Cause(c.ctx)
		}
	}
}

func (c *call) startRun(s *conversation, in runArgs) (*session.Run, error) {
	code := in.Code
	if looksLikeFunction.MatchString(code) {
		code = "return await (" + strings.TrimRight(strings.TrimSpace(code), ";") + ")(page)"
	}
	var args json.RawMessage
	if in.Args != nil {
		raw, err := json.Marshal(in.Args)
		if err != nil {
			return nil, err
		}
		args = raw
	}
	o := session.RunOptions{Code: code, Args: args, Timeout: time.Duration(in.Timeout * float64(time.Millisecond)), RequestedBy: s.program.Name().String()}
	r, err := s.session.StartRun(o)
	if !errors.Is(err, session.ErrRunning) || !c.awaitOwnRun(s) {
		return r, err
	}
	return s.session.StartRun(o)
}

// cancelTime is how long a script waits for the end of the one before it, which the same
// caller has just cancelled.
const cancelTime = 10 * time.Second

// awaitOwnRun waits for the end of the caller's own run, and reports whether it came. The
// caller may have cancelled the call that waited for the run just before.
func (c *call) awaitOwnRun(s *conversation) bool {
	runs := s.session.Runs() // also such as were refused
	at := slices.IndexFunc(runs, func(r *session.Run) bool { return !r.Status().Ended() })
	if at < 0 {
		return true // it has ended meanwhile
	}
	if runs[at].Info().RequestedBy != s.program.Name().String() {
		return false
	}
	timer := time.NewTimer(cancelTime)
	defer timer.Stop()
	select {
	case <-runs[at].Done():
		return true
	case <-timer.C:
	case <-c.ctx.Done():
	}
	return false
}

// ranCode answers with the outcome of a run.
func (c *call) ranCode(r *session.Run, k keeping) (*answer, error) {
	info := r.Info()
	a := say("Run %s: %s in %d ms.", info.ID, info.Status, info.DurationMS)
	if e := info.Error; e != nil {
		a.add("%s: %s", e.Name, e.Message)
		if e.Line > 0 {
			a.add("at line %d, column %d", e.Line, e.Column)
		}
	} else if len(info.Result) > 0 && string(info.Result) != "null" {
		text, err := c.long("result", ".json", string(info.Result), k)
		if err != nil {
			return nil, err
		}
		a.add("%s", text)
	}
	if len(info.Logs) > 0 {
		var b strings.Builder
		for _, l := range info.Logs {
			fmt.Fprintf(&b, "\n[%s] %s", l.Level, l.Text)
		}
		text, err := c.long("logs", ".txt", b.String(), keeping{All: k.All})
		if err != nil {
			return nil, err
		}
		a.add("%s", text)
	}
	a.lines = append(a.lines, c.conversation.status()...)
	return a, nil
}
