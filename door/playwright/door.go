package playwright

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"

	"takeover/door/cdp"
	"takeover/door/socket"
	"takeover/limits"
	"takeover/session"
	"takeover/text"
)

const (
	// DefaultClients is how many clients may be connected at once, in all sessions:
	// each has a process that needs 120 MB.
	DefaultClients = 8

	// maxMessage bounds a message, in bytes, like those of the DevTools protocol.
	maxMessage = 256 << 20

	// maxComplaint bounds what a process says when it cannot begin, in bytes.
	maxComplaint = 1000

	// startTime is how long a process may take until a client may begin. It usually
	// takes half a second.
	startTime = 30 * time.Second
)

var (
	// ErrFull is returned when too many clients are connected.
	ErrFull = errors.New("too many clients of Playwright's protocol are connected")

	// ErrUnusable is returned when the installed playwright-core cannot be used.
	ErrUnusable = errors.New("the installed playwright-core cannot be used")
)

// Options configures a Door. The zero value of a field is its default.
type Options struct {
	Node     string   // Node's executable; default: found on PATH
	Folders  []string // where packages are, as for FindPackages; default DefaultFolders
	Clients  int      // how many may be connected at once; default DefaultClients
	Files    int64    // bytes of the files that one process may have; default DefaultFiles
	Launcher []string // the command that calls confine.Main; default: this program with confine.Command
	Hide     []string // the server's own files and folders, which no process may read, wherever they are

	StallLimit time.Duration // how long a client may take no bytes, or leave a ping unanswered; default a minute
	Limits     *limits.Hits  // default: counts nothing
	Logger     *slog.Logger  // default: discard
}

// Door serves clients. Its methods may be called from any goroutine.
type Door struct {
	options Options

	mu      sync.Mutex // guards clients
	clients int
}

// New returns a door.
func New(o Options) *Door {
	if len(o.Folders) == 0 {
		o.Folders = DefaultFolders()
	}
	if o.Clients <= 0 {
		o.Clients = DefaultClients
	}
	if o.Files <= 0 {
		o.Files = DefaultFiles
	}
	if o.StallLimit <= 0 {
		o.StallLimit = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := removeAbandoned(); err != nil {
		o.Logger.Warn("folders of a killed server stay behind", "error", err)
	}
	return &Door{options: o}
}

// admit counts a client. It returns false if there are too many.
func (d *Door) admit() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clients >= d.options.Clients {
		return false
	}
	d.clients++
	return true
}

func (d *Door) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients--
}

// Open starts a process for a client of a session, given its header User-Agent. End
// the client with Serve or Close. The error is one of ErrNoNode, ErrNoPackage, ErrFull,
// ErrUnusable and ErrUnconfined, a *VersionError, or one of session.OpenRawClient's.
func (d *Door) Open(ctx context.Context, s *session.Session, userAgent string) (*Client, error) {
	node, err := findNode(d.options.Node)
	if err != nil {
		return nil, err
	}
	pkg, err := choose(FindPackages(d.options.Folders), userAgent)
	if err != nil {
		return nil, err
	}
	if !d.admit() {
		d.options.Limits.Add(limits.Playwright, 1)
		return nil, fmt.Errorf("%w: %d", ErrFull, d.options.Clients)
	}
	c := &Client{door: d, session: s}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.start(ctx, node, pkg); err != nil {
		c.cancel(err)
		c.Close()
		return nil, err
	}
	return c, nil
}

// start starts the client's process and waits until it is ready.
func (c *Client) start(ctx context.Context, node string, pkg Package) (err error) {
	uid := mayDropRoot()
	if c.folder, err = newFolder(uid); err != nil {
		return err
	}
	c.proxy = session.OpenProxy(c.session)
	client, theirClient, err := newStream("playwright")
	if err != nil {
		return err
	}
	defer theirClient.Close()
	c.inner = client
	browser, theirBrowser, err := newStream("devtools")
	if err != nil {
		return err
	}
	defer theirBrowser.Close()
	c.browser = browser
	browser.ended = c.browserEnded
	o := c.door.options
	c.log = o.Logger.With("session", c.session.ID(), "playwright", pkg.Version)
	devtools, err := cdp.Open(ctx, cdp.Options{Session: c.session, StallLimit: o.StallLimit, Limits: o.Limits, Logger: o.Logger, Downloaded: c.keepDownload})
	if err != nil {
		return err
	}
	c.work.Go(func() { devtools.Serve(c.ctx, c.browser) })
	if c.process, err = startProcess(processOptions{
		launcher: o.Launcher, hide: o.Hide, node: node, pkg: pkg, folder: c.folder, proxy: c.proxy, uid: uid, client: theirClient, browser: theirBrowser,
	}); err != nil {
		return err
	}
	_ = theirClient.Close() // so that the streams end with the process
	_ = theirBrowser.Close()
	if err := c.awaitReady(ctx, pkg); err != nil {
		return err
	}
	c.process.launcher.Works()
	return nil
}

// keepDownload puts a downloaded file where Playwright expects it.
func (c *Client) keepDownload(guid string, file *os.File) {
	if err := c.folder.add(guid, file); err != nil {
		c.log.Warn("give a download to Playwright's process", "error", err)
	}
}

// browserEnded ends the connection when the stream to the browser is closed for
// another reason than the end of the process.
func (c *Client) browserEnded(code websocket.StatusCode, reason string) {
	if reason != "" {
		c.cancel(&socket.EndError{Code: code, Reason: reason})
	}
}

// awaitReady waits for the first message of the process.
func (c *Client) awaitReady(ctx context.Context, pkg Package) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stop := context.AfterFunc(ctx, c.process.kill)
	defer stop()
	_, message, err := c.inner.Read(ctx)
	var first struct{ Version, Error string }
	if err == nil {
		err = json.Unmarshal(message, &first)
	}
	switch {
	case err != nil && c.session.Status().Ended():
		return session.ErrEnded
	case err != nil && c.ctx.Err() != nil: // the browser is gone
		return session.ErrNotReady
	case ctx.Err() != nil:
		return fmt.Errorf("start Playwright's process: %w", context.Cause(ctx))
	case err != nil:
		<-c.process.done
		return fmt.Errorf("%w: %s: %s", ErrUnusable, pkg.Version, text.Clip(c.process.cause().Error(), maxComplaint))
	case first.Error != "":
		return fmt.Errorf("%w: %s: %s", ErrUnusable, pkg.Version, text.Clip(first.Error, maxComplaint))
	}
	return nil
}
