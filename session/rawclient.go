package session

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	protobrowser "github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/browser"
	"takeover/cdp"
	"takeover/cdp/policy"
	"takeover/control"
	"takeover/id"
	"takeover/invalid"
	"takeover/links"
)

const (
	// catchUpTime bounds how long a reply waits for the server to know of what it
	// tells, and catchUpPause is how often that is looked at.
	catchUpTime  = time.Second
	catchUpPause = 2 * time.Millisecond
)

// rawCloseTimeout is how long Chromium may take to detach a CDP client.
const rawCloseTimeout = 5 * time.Second

// ErrBrowserLost is why a CDP client ends when its Chromium died. The session
// starts another one, to which the program can connect.
var ErrBrowserLost = errors.New("the browser crashed; connect again")

// RawClient is a program's own CDP client in a session's Chromium: a browser
// session of its own, so that its sessions, replies and events never mix with
// those of others. It passes on the commands that it is given: Write when the program
// may write, Post at once. Package door/cdp decides which ones. All methods may be called from any
// goroutine.
type RawClient struct {
	session *Session
	program *Program // its name, its share of control, its takeovers
	engine  *engine
	client  *cdp.Client
	root    *cdp.Session // for commands without a session: the browser's, or a page's
	browser string       // id of its own browser target
	held    held         // keys and buttons that it holds down
	person  atomic.Value // func(func()): what OnPerson has set

	mu        sync.Mutex                      // guards what follows
	emulated  map[string]bool                 // targets whose emulation it may have changed
	downloads map[proto.BrowserContextID]bool // contexts whose downloads it has set
}

// OpenRawClient connects a program to the present Chromium of a session. Replies
// and events go to sink, which is closed when the client ends. If page is not
// empty, the client's root is the session with that target instead of the
// browser. The error is an *EndedError, ErrNotReady, ErrTooMany, or ErrNotFound
// for an unknown page.
func OpenRawClient(ctx context.Context, s *Session, page string, sink cdp.Sink) (*RawClient, error) {
	eng, err := s.ready()
	if err != nil {
		return nil, err
	}
	if page != "" {
		found, err := eng.hasPage(ctx, target.ID(page))
		if err != nil {
			return nil, errors.Join(ErrNotReady, err)
		} else if !found {
			return nil, ErrNotFound
		}
	}
	c := &RawClient{session: s, engine: eng, emulated: map[string]bool{}, downloads: map[proto.BrowserContextID]bool{}}
	if c.program, err = openProgram(s, control.Client(id.New("cdp")), ProgramOptions{}, c.letGo); err != nil {
		return nil, err
	}
	if err := c.open(ctx, target.ID(page), sink); err != nil {
		c.program.Close()
		return nil, errors.Join(ErrNotReady, err)
	}
	return c, nil
}

func (c *RawClient) open(ctx context.Context, page target.ID, sink cdp.Sink) (err error) {
	if c.client, err = c.engine.proc.Conn().NewClient(ctx, sink); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.client.Close(context.WithoutCancel(ctx)))
		}
	}()
	c.root = c.client.Browser()
	own, err := cdp.Call(ctx, c.root, target.GetTargetInfo, target.GetTargetInfoParams{})
	if err != nil {
		return err
	}
	c.browser = string(own.TargetInfo.TargetID)
	if page != "" {
		c.root, err = c.client.Attach(ctx, page)
	}
	return err
}

// OnPerson sets a function that is called whenever a person takes control. The function must
// not block. It calls done when the person's first input may come; after a second, that comes
// anyway.
func (c *RawClient) OnPerson(f func(done func())) { c.person.Store(f) }

// letGo releases what the client holds down, because a person takes control.
func (c *RawClient) letGo() {
	c.held.release()
	if f, ok := c.person.Load().(func(func())); ok {
		f(c.session.programs.resuming.begin())
	}
}

// Close detaches the client from the browser. What it changed for everybody is
// set back: its emulation, its way of handling downloads, its share of control.
func (c *RawClient) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), rawCloseTimeout)
	defer cancel()
	c.held.release()
	err := c.client.Close(ctx)
	c.program.Close()
	if c.program.hears.Load() && !c.session.answerable() {
		c.session.questions.Abandoned()
	}
	c.mu.Lock()
	emulated, downloads := slices.Collect(maps.Keys(c.emulated)), slices.Collect(maps.Keys(c.downloads))
	c.mu.Unlock()
	if c.engine.proc.Conn().Err() != nil {
		return nil
	}
	for _, context := range downloads { // Chromium forgets a context's folder when any client that set it detaches
		err = errors.Join(err, c.engine.model.AllowDownloads(context))
	}
	for _, id := range emulated {
		if p := c.engine.model.Page(target.ID(id)); p != nil {
			if e := p.Reemulate(ctx); !errors.Is(e, browser.ErrPageClosed) {
				err = errors.Join(err, e)
			}
		}
	}
	return err
}

// ID returns the client's name in the lease and in events, as in "client:cdp_…".
func (c *RawClient) ID() string { return c.program.holder.String() }

// Session returns the session.
func (c *RawClient) Session() *Session { return c.session }

// Root returns the id of the session for commands that name none.
func (c *RawClient) Root() cdp.SessionID { return c.root.ID() }

// Browser returns the id of the client's session with the browser.
func (c *RawClient) Browser() cdp.SessionID { return c.client.Browser().ID() }

// ContextOf returns the id of the browser context of a page, or "" for the default
// one.
func (c *RawClient) ContextOf(id string) string {
	if p := c.engine.model.Page(target.ID(id)); p != nil {
		return p.Context().ID()
	}
	return ""
}

// BrowserTarget returns the id of the client's own target of type browser.
func (c *RawClient) BrowserTarget() string { return c.browser }

// EndReason returns why the sink was closed: an *EndedError if the session is over,
// otherwise ErrBrowserLost.
func (c *RawClient) EndReason() error {
	if c.session.ctx.Err() != nil {
		return endedError(c.session)
	}
	return ErrBrowserLost
}

// Post sends a command on one of the client's sessions. The reply comes to the
// sink with the token, which must not be nil, in order with the events. Post waits
// while the browser does not read what was sent before.
func (c *RawClient) Post(ctx context.Context, id cdp.SessionID, method string, params json.RawMessage, token any) error {
	c.session.gestures.work()
	return c.client.Session(id).PostWhenRoom(ctx, method, params, token)
}

// PostNow is Post, but does not wait: the error is then cdp.ErrBacklog. It may be
// called on the sink's goroutine.
func (c *RawClient) PostNow(id cdp.SessionID, method string, params json.RawMessage, token any) error {
	return c.client.Session(id).Post(method, params, token)
}

// Write is Post for what changes the page. It sends the command only if the client may
// write at that moment, and returns false otherwise. A key or a button that it presses
// is released when a person takes control, or the client leaves.
func (c *RawClient) Write(ctx context.Context, act *control.Action, id cdp.SessionID, method string, params json.RawMessage, token any) (sent bool, err error) {
	c.session.gestures.work()
	s := c.client.Session(id)
	err = c.client.Conn().WhenRoom(ctx, len(params), func() (err error) {
		sent, err = c.session.control.Write(act, func() error {
			c.held.note(s, method, params)
			return s.Post(method, params, token)
		})
		return err
	})
	return sent, err
}

// Call sends a command on the client's browser session and decodes the result.
// It must not be called on the sink's goroutine.
func (c *RawClient) Call(ctx context.Context, method string, params, result any) error {
	return c.client.Browser().Call(ctx, method, params, result)
}

// Resume lets targets run that wait for the client's debugger, and returns when they
// do. It is for a client that leaves: a target whose session ends before might wait
// for ever.
func (c *RawClient) Resume(sessions []cdp.SessionID) {
	ctx, cancel := context.WithTimeout(context.Background(), rawCloseTimeout)
	defer cancel()
	for _, id := range sessions {
		_, _ = cdp.Call(ctx, c.client.Session(id), runtime.RunIfWaitingForDebugger, proto.Empty{}) // a target that is gone does not wait
	}
}

// PersonInControl reports whether a person is in control now.
func (c *RawClient) PersonInControl() bool { return c.session.control.Holder().IsPerson() }

// ForPerson reports whether what writes waits for a person now.
func (c *RawClient) ForPerson() bool { return !c.session.control.Free() }

// Waits reports whether a command that writes waits now, because a person is in control or
// is asked for, or programs are held. nil is for any.
func (c *RawClient) Waits(act *control.Action) bool { return c.session.control.Waits(act) }

// Act returns what the lease needs to know of a command that writes, for a target.
func (c *RawClient) Act(target, method string, params json.RawMessage) *control.Action {
	return &control.Action{By: c.program.holder, Name: method, Params: params, Of: &rawAct{c, target, method, params}}
}

// AwaitWrite waits until a command may write. The error is control.ErrRefused or ctx's
// cause.
func (c *RawClient) AwaitWrite(ctx context.Context, act *control.Action) error {
	return c.session.control.AwaitWrite(ctx, act)
}

// Revived reports whether a target is a page that has a renderer, after an event that
// said that it had died.
func (c *RawClient) Revived(id string) bool {
	p := c.engine.model.Page(target.ID(id))
	return p != nil && !p.Crashed()
}

// Veiled reports whether pictures of a target are held back, because a person is
// in a secret field.
func (c *RawClient) Veiled(id string) bool {
	p := c.engine.model.PageOf(target.ID(id))
	return p != nil && c.session.veiled(p)
}

// Failure returns the error of a request as a Chromium without a proxy has it, given what
// Chromium said.
func (c *RawClient) Failure(address, text string) string {
	return c.engine.model.Failure(address, text)
}

// AwaitUnveiled waits until pictures of a target are permitted.
func (c *RawClient) AwaitUnveiled(ctx context.Context, id string) error {
	if p := c.engine.model.PageOf(target.ID(id)); p != nil {
		return c.session.unveiled(ctx, p)
	}
	return nil
}

// Shooting waits for the turn to take a picture of a target; see cdp.Client.Shooting.
func (c *RawClient) Shooting(ctx context.Context, id string) (done func(error), err error) {
	return c.client.Shooting(ctx, id)
}

// TryShooting is Shooting, but does not wait: ok is false while others take a picture.
func (c *RawClient) TryShooting(id string) (done func(error), ok bool) {
	return c.client.TryShooting(id)
}

// OfPage reports whether a target is a page, or a frame of one.
func (c *RawClient) OfPage(id string) bool { return c.engine.model.PageOf(target.ID(id)) != nil }

// WatchVeil calls changed whenever Veiled changes for a target, and at first if it is
// true, until ctx ends or the page is closed.
func (c *RawClient) WatchVeil(ctx context.Context, id string, changed func(veiled bool)) {
	p := c.engine.model.PageOf(target.ID(id))
	for last := false; p != nil; {
		next := c.session.secrets.Changed()
		if now := c.session.veiled(p); now != last {
			last = now
			changed(now)
		}
		select {
		case <-next:
		case <-p.Closed():
			return
		case <-ctx.Done():
			return
		}
	}
}

// World finds an execution context of a page's or a frame's target by its id or, if that
// is 0, by its unique id.
func (c *RawClient) World(id string, context int64, unique string) (policy.World, bool) {
	return c.engine.model.World(id, context, unique)
}

// AwaitWorld waits until the server knows an execution context of which Chromium has told
// the client. The server may learn of it later, above all in a new page. It must not be
// called on the sink's goroutine.
func (c *RawClient) AwaitWorld(ctx context.Context, id string, world int64) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	again := time.NewTicker(catchUpPause)
	defer again.Stop()
	for {
		if _, known := c.World(id, world, ""); known {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// Address checks an address that a client opens, and returns it as Chromium reads
// it. It refuses files, Chromium's own pages, and what the session may not reach.
func (c *RawClient) Address(text string) (string, error) { return c.engine.auto.Address(text) }

// DownloadsFolder returns the folder to which downloads of a context go, and
// remembers that the client sets it. An empty context is the default one.
func (c *RawClient) DownloadsFolder(context string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.downloads[proto.BrowserContextID(context)] = true
	return c.engine.proc.DownloadsDir()
}

// ContextMade prepares a context that the client has created: its downloads go to
// the session's folder.
func (c *RawClient) ContextMade(context string) error {
	return c.engine.model.AllowDownloads(proto.BrowserContextID(context))
}

// Hears records that the client gets the events of pages, so that dialogs and file
// choosers are left to it when no person is present.
func (c *RawClient) Hears() { c.program.hears.Store(true) }

// HasPage reports whether people can be shown the page of a target.
func (c *RawClient) HasPage(id string) bool { return c.engine.model.Page(target.ID(id)) != nil }

// Shown returns the target of the page that people see; empty for none.
func (c *RawClient) Shown() string { return c.session.tabs.target() }

// Show shows people a page that the client brings to the front.
func (c *RawClient) Show(id string) {
	if p := c.engine.model.Page(target.ID(id)); p != nil {
		showPage(c.session, c.engine, p)
	}
}

// showPage shows people a page that a program has brought to the front, if it has a tab.
func showPage(s *Session, eng *engine, p *browser.Page) {
	if s.tabs.showPage(eng, p) {
		s.sendTabs()
		s.sendWidgets()
	}
}

// Device returns the device pixels per CSS pixel that the session's pages have, 0 for
// Chromium's own, and whether they are those of a phone.
func (c *RawClient) Device() (scale float64, mobile bool) {
	return c.session.opts.DeviceScaleFactor, c.session.opts.IsMobile
}

// Emulated records that the client may have changed how a target is emulated.
func (c *RawClient) Emulated(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.emulated[id] = true
}

// FilePaths returns the paths of session files. Each is named by the last part of
// a path, because programs give paths of their own machine.
func (c *RawClient) FilePaths(names []string) ([]string, error) {
	folder, err := c.session.Files()
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(names))
	for i, name := range names {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
		if paths[i], err = folder.Path(name); err != nil {
			return nil, invalid.Field("files", "the session has no file %.80q; add it with POST /v1/sessions/%s/files", name, c.session.id)
		}
	}
	return paths, nil
}

// OpenDownload opens the file of a download that Chromium has completed, given its
// GUID. It waits until the session has the file.
func (c *RawClient) OpenDownload(ctx context.Context, guid string) (*os.File, error) {
	known, err := c.session.transfers.await(ctx, func(k *knownDownload) bool { return k.download != nil && k.download.GUID() == guid })
	if err != nil {
		return nil, err
	}
	name, failure, err := c.engine.auto.Downloaded(ctx, known.download)
	if err != nil {
		return nil, err
	}
	if failure != "" {
		return nil, errors.New(failure)
	}
	folder, err := c.session.Files()
	if err != nil {
		return nil, err
	}
	file, _, err := folder.Open(name)
	return file, err
}

// RequestTakeover asks for a person. Until the takeover has ended, no program may
// write.
func (c *RawClient) RequestTakeover(o TakeoverOptions) (*Takeover, error) {
	return c.program.RequestTakeover(o)
}

// RequestNextTakeover requests a takeover as soon as no other one is open: a person
// has one errand at a time. The error is that of RequestTakeover, or the cause of ctx's
// end.
func (c *RawClient) RequestNextTakeover(ctx context.Context, o TakeoverOptions) (*Takeover, error) {
	for {
		t, err := c.program.RequestTakeover(o)
		if !errors.Is(err, ErrTakeoverOpen) {
			return t, err
		}
		open := c.session.openTakeover()
		if open == nil {
			continue // it has just ended
		}
		select {
		case <-open.Ended():
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// ViewerLink returns a link to the session's page, for a person who may take
// control. It expires after the given time.
func (c *RawClient) ViewerLink(expires time.Duration) (string, error) {
	_, secret, err := c.session.CreateLink(links.Options{Role: RoleControl, ExpiresIn: expires, CreatedBy: c.ID()})
	if err != nil {
		return "", err
	}
	return c.session.services.settings.publicURL() + "/sessions/" + c.session.id + "#" + secret, nil
}

// PageSocket returns the address of the endpoint for one page, without a key.
func (c *RawClient) PageSocket(target string) string {
	return "ws" + strings.TrimPrefix(c.session.services.settings.publicURL(), "http") + "/v1/sessions/" + c.session.id + "/cdp/page/" + target
}

// BrowserVersion describes a Chromium, in its own words.
type BrowserVersion struct {
	Product, Revision, UserAgent, JSVersion string
}

// WebKit returns the version of WebKit in Chromium's words.
func (v BrowserVersion) WebKit() string { return "537.36 (" + v.Revision + ")" }

// DescribeChromium returns the version of the Chromium that a new session gets. It
// returns false until the server has started one.
func DescribeChromium(m *Manager) (BrowserVersion, bool) {
	v := m.browsers.Version()
	if v == nil {
		return BrowserVersion{}, false
	}
	return BrowserVersion{v.Product, v.Revision, v.UserAgent, v.JsVersion}, true
}

// DescribeBrowser returns the version of a session's Chromium. The error is an
// *EndedError or ErrNotReady.
func DescribeBrowser(ctx context.Context, s *Session) (BrowserVersion, error) {
	eng, err := s.ready()
	if err != nil {
		return BrowserVersion{}, err
	}
	v, err := cdp.Call(ctx, eng.model.Session(), protobrowser.GetVersion, proto.Empty{})
	if err != nil {
		return BrowserVersion{}, errors.Join(ErrNotReady, err)
	}
	return BrowserVersion{v.Product, v.Revision, v.UserAgent, v.JsVersion}, nil
}

// RawPage is a page as CDP clients see it.
type RawPage struct {
	ID, Opener string // targets; Opener is empty for a page that no other one opened
	Title, URL string
}

// ListPages returns the pages of a session, oldest first, also those that are not
// complete yet. The error is an *EndedError or ErrNotReady.
func ListPages(ctx context.Context, s *Session) ([]RawPage, error) {
	eng, err := s.ready()
	if err != nil {
		return nil, err
	}
	open, err := eng.openPages(ctx)
	if err != nil {
		return nil, errors.Join(ErrNotReady, err)
	}
	var list []RawPage
	for _, p := range eng.model.Pages() {
		i := slices.IndexFunc(open, func(info *target.Info) bool { return info.TargetID == p.ID() })
		if i < 0 {
			continue
		}
		open = slices.Delete(open, i, i+1)
		one := RawPage{ID: string(p.ID()), Title: p.Title(), URL: p.URL()}
		if opener := p.Opener(); opener != nil {
			one.Opener = string(opener.ID())
		}
		list = append(list, one)
	}
	for _, info := range open {
		list = append(list, RawPage{ID: string(info.TargetID), Opener: string(info.OpenerID), Title: info.Title, URL: info.URL})
	}
	return list, nil
}

// ShownPage returns the target of the page that people see. The error is an *EndedError,
// ErrNotReady, or ErrNotFound without a page.
func ShownPage(s *Session) (string, error) {
	if _, err := s.ready(); err != nil {
		return "", err
	}
	page := s.tabs.target()
	if page == "" {
		return "", ErrNotFound
	}
	return page, nil
}

// openPages asks Chromium for its pages. The server's own are of another type.
func (eng *engine) openPages(ctx context.Context) ([]*target.Info, error) {
	all, err := cdp.Call(ctx, eng.model.Session(), target.GetTargets, target.GetTargetsParams{Filter: target.Filter{{Type: "page"}}})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all.TargetInfos, func(info *target.Info) bool { return info.Type != "page" || info.Subtype != "" }), nil
}

// hasPage reports whether a page is open, also one that is not complete yet.
func (eng *engine) hasPage(ctx context.Context, id target.ID) (bool, error) {
	if eng.model.Page(id) != nil {
		return true, nil
	}
	open, err := eng.openPages(ctx)
	return slices.ContainsFunc(open, func(info *target.Info) bool { return info.TargetID == id }), err
}
