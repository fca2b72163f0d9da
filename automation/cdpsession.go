package automation

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	prototarget "github.com/chromedp/cdproto/target"

	"takeover/browser"
	"takeover/cdp"
	"takeover/cdp/policy"
)

// cdpOperations are a script's own sessions with pages and frames.
var cdpOperations = table{
	// {page} or {frame} → {session}; afterwards the client gets cdp.event
	// {session,method,params} and cdp.closed {session}.
	"cdp.attach": op(true, opAttachSession),
	"cdp.send":   operation{true, readsOnly, op(true, opSendCommand).do}, // {session,method,params,timeout} → {result}; commands that reach beyond the page are refused (cdppolicy.go)
	"cdp.detach": op(false, opDetachSession),                             // {session}
}

// maxOwnSessions bounds the sessions that a client may have at the same time.
const maxOwnSessions = 1000

// ownSession is a session that a script asked for.
type ownSession struct {
	page    *browser.Page
	session *cdp.Session
	target  string
	used    map[string]bool // commands with effects on the page that must be undone; guarded by the client's lock
	scope   *policy.Scope
}

// ownSessions are a client's sessions, on a cdp.Client of their own. So what they
// enable and change affects nobody else, and ends with them.
type ownSessions struct {
	client *cdp.Client
	byID   map[cdp.SessionID]string // session names by Chromium's ids
}

// sessionsClient returns the cdp.Client of a client's sessions.
func (c *Client) sessionsClient(ctx context.Context) (*cdp.Client, error) {
	c.mu.Lock()
	known := c.cdp
	c.mu.Unlock()
	if known != nil {
		return known.client, nil
	}
	made, err := c.automation.browser.Session().Client().Conn().NewClient(ctx, cdp.SinkFunc(c.tellSession))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.cdp == nil && !c.closed {
		c.cdp = &ownSessions{client: made, byID: map[cdp.SessionID]string{}}
		made = nil
	}
	known = c.cdp
	c.mu.Unlock()
	if made != nil { // a concurrent call created it first, or the client is closed
		err = made.Close(ctx)
	}
	if known == nil {
		return nil, errClientClosed
	}
	return known.client, err
}

type attachParams struct {
	Page  string `json:"page"`
	Frame string `json:"frame"`
}

func opAttachSession(ctx context.Context, c *Client, p *attachParams) (any, error) {
	var pg *browser.Page
	var target string
	kind := "page"
	if p.Frame != "" {
		f, err := c.frame(p.Frame)
		if err != nil {
			return nil, err
		}
		if !f.HasTarget() {
			return nil, errorf("This frame does not have a separate CDP session, it is a part of the parent frame's session")
		}
		pg, target, kind = f.Page(), string(f.ID()), "iframe"
	} else {
		found, err := c.page(p.Page)
		if err != nil {
			return nil, err
		}
		pg, target = found, string(found.ID())
	}
	client, err := c.sessionsClient(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	full := c.cdp != nil && len(c.cdp.byID) >= maxOwnSessions
	c.mu.Unlock()
	if full {
		return nil, errorf("more than %d CDP sessions: detach() those that are not needed any more", maxOwnSessions)
	}
	s, err := client.Attach(ctx, prototarget.ID(target))
	if err != nil {
		return nil, err
	}
	own := &ownSession{page: pg, session: s, target: target, used: map[string]bool{}, scope: policy.NewScope(scopeHost{c, pg}, policy.Script, target, kind)}
	id := c.idOf("session", own)
	c.mu.Lock()
	if c.cdp != nil {
		c.cdp.byID[s.ID()] = id
	}
	c.mu.Unlock()
	return map[string]string{"session": id}, nil
}

// readsOnly reports whether a script's command changes nothing, so that it does not wait
// for a person, as a client's does not.
func readsOnly(raw json.RawMessage) bool {
	var p commandParams
	return json.Unmarshal(raw, &p) == nil && !policy.Writes(p.Method, p.Params)
}

type commandParams struct {
	Session string          `json:"session"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Timeout float64         `json:"timeout"`
}

func opSendCommand(ctx context.Context, c *Client, p *commandParams) (any, error) {
	own, err := c.ownSession(p.Session)
	if err != nil {
		return nil, err
	}
	cmd, err := own.check(c.automation, p.Method, p.Params)
	if err != nil {
		return nil, err
	}
	if domain, _, _ := strings.Cut(p.Method, "."); domain == "Emulation" || p.Method == page.SetWebLifecycleState.Method || p.Method == "Network.setUserAgentOverride" {
		c.mu.Lock()
		own.used[p.Method] = true
		c.mu.Unlock()
	}
	progress, cancel := c.begin(ctx, p.Timeout, false)
	defer cancel()
	if !c.options.Waits() {
		own.follow(own.scope.LetGoOn(false, policy.AnswerTime))
	}
	for _, before := range cmd.Before {
		if err := own.session.Send(before.Method, before.Params); err != nil {
			return nil, progress.fail(err)
		}
	}
	if err := own.scope.Begin(p.Method, cmd.Params); err != nil {
		return nil, errorf("%s", err.Error())
	}
	var result json.RawMessage
	for again := true; again && err == nil; again = cmd.Method.Draws && c.options.Veil(ended, own.page) != nil { // then the picture may show a secret
		if cmd.Method.Draws {
			if err := c.options.Veil(progress, own.page); err != nil {
				return nil, progress.fail(err)
			}
		}
		err = own.scope.Answered(cmd, own.call(progress, cmd, &result))
	}
	if refusal, ok := errors.AsType[*policy.RefusedError](err); ok {
		return nil, errorf("Protocol error (%s): %s", p.Method, refusal.Message)
	} else if err != nil {
		if errors.Is(err, cdp.ErrDetached) { // here the session is gone, and not only a document
			err = &Error{Name: nameTargetClosed, Message: textTargetClosed, cause: err}
		}
		return nil, progress.fail(err)
	}
	return map[string]json.RawMessage{"result": own.scope.Result(cmd, result)}, nil
}

// call sends a command, in the turn to take a picture of the page if it takes one.
func (s *ownSession) call(ctx context.Context, cmd policy.Command, result any) error {
	if cmd.Method.Name != page.CaptureScreenshot.Method || s.page == nil {
		return s.session.Call(ctx, cmd.Method.Name, cmd.Params, result)
	}
	done, err := s.page.Shooting(ctx)
	if err != nil {
		return err
	}
	err = s.session.Call(ctx, cmd.Method.Name, cmd.Params, result)
	done(err)
	return err
}

// openSessions returns the client's sessions.
func (c *Client) openSessions() (list []*ownSession) {
	c.mu.Lock()
	var ids []string
	if c.cdp != nil {
		ids = slices.Collect(maps.Values(c.cdp.byID))
	}
	c.mu.Unlock()
	for _, id := range ids {
		if own, err := c.ownSession(id); err == nil {
			list = append(list, own)
		}
	}
	return list
}

func (c *Client) ownSession(id string) (*ownSession, error) {
	own, err := lookup[*ownSession](c, "session", id)
	if err != nil {
		return nil, &Error{Name: nameTargetClosed, Message: textTargetClosed}
	}
	return own, nil
}

type sessionParams struct {
	Session string `json:"session"`
}

func opDetachSession(ctx context.Context, c *Client, p *sessionParams) (any, error) {
	own, err := c.ownSession(p.Session)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	used, frozen := len(own.used) > 0, own.used[page.SetWebLifecycleState.Method]
	c.mu.Unlock()
	own.release(frozen)
	_, err = cdp.Call(ctx, own.session.Client().Browser(), prototarget.DetachFromTarget, prototarget.DetachFromTargetParams{SessionID: prototarget.SessionID(own.session.ID())})
	c.forget(own)
	if err != nil || !used {
		return emptyJSON, err
	}
	return emptyJSON, own.page.Reemulate(ctx)
}

// release resumes a page that the session may have paused.
func (s *ownSession) release(frozen bool) {
	_ = cdp.Send(s.session, runtime.RunIfWaitingForDebugger, proto.Empty{}) // a closed page cannot be resumed
	if frozen {
		_ = s.session.Send(page.SetWebLifecycleState.Method, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateActive})
	}
}

// tellSession passes on a session's events. It runs on the connection's read
// loop.
func (c *Client) tellSession(ev cdp.Event) {
	defer ev.Release()
	if ev.Token != nil { // the reply to what follow has sent
		if next, ok := ev.Token.(following); ok {
			next.own.follow(next.rest)
		}
		return
	}
	c.mu.Lock()
	var id string
	root := false
	if c.cdp != nil {
		id = c.cdp.byID[ev.Session]
		root = ev.Session == c.cdp.client.Browser().ID()
	}
	c.mu.Unlock()
	if id != "" {
		params := ev.Params
		if own, err := c.ownSession(id); err == nil {
			if shown, then := own.scope.Visible(ev.Method, params); !shown {
				own.follow(then)
				return
			}
			params = own.scope.Told(ev.Method, params)
		}
		c.emit("cdp.event", map[string]any{"session": id, "method": ev.Method, "params": json.RawMessage(params)})
		return
	}
	if !root || ev.Method != prototarget.DetachedFromTarget.Method {
		return
	}
	detached, err := cdp.Decode(ev, prototarget.DetachedFromTarget)
	if err != nil {
		return
	}
	c.mu.Lock()
	if c.cdp != nil {
		id = c.cdp.byID[cdp.SessionID(detached.SessionID)]
		delete(c.cdp.byID, cdp.SessionID(detached.SessionID))
	}
	c.mu.Unlock()
	c.handles.take(id)
	if id != "" {
		c.emit("cdp.closed", map[string]any{"session": id})
	}
}

// following is what a session is sent after the reply to another command.
type following struct {
	own  *ownSession
	rest []policy.Call
}

// follow sends commands, each after the reply to the one before. It may be called on
// the connection's read loop.
func (s *ownSession) follow(list []policy.Call) {
	if len(list) > 0 {
		_ = s.session.Post(list[0].Method, list[0].Params, following{s, list[1:]}) // a closed page needs none
	}
}

// close ends the sessions, and undoes their effects on the pages.
func (o *ownSessions) close(a *Automation, sessions []*ownSession) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.life), closeTimeout)
	defer cancel()
	pages := map[*browser.Page]bool{}
	for _, s := range sessions {
		s.release(s.used[page.SetWebLifecycleState.Method])
		if len(s.used) > 0 {
			pages[s.page] = true
		}
	}
	if err := o.client.Close(ctx); err != nil && !vanished(err) {
		a.log.Warn("close a client's sessions", "error", err)
	}
	for p := range pages {
		if err := p.Reemulate(ctx); err != nil && !vanished(err) {
			a.log.Warn("set a page up again", "error", err)
		}
	}
}
