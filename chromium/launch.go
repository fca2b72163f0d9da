package chromium

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"

	"takeover/cdp"
)

const (
	// DefaultWidth is the default width of the window in CSS pixels.
	DefaultWidth = 1280
	// DefaultHeight is the default height of the window in CSS pixels.
	DefaultHeight = 720

	// StartTimeout bounds the time from a Chromium's start to its first reply.
	// With a warm disk it takes a quarter of a second, and with a cold disk on a
	// busy machine much longer.
	StartTimeout = 30 * time.Second
)

// LaunchOptions configures the start of a Chromium. The zero value of each field
// except Dir is its default.
type LaunchOptions struct {
	ExecPath          string       // the executable; default: FindExecutable
	Dir               string       // required: the folder of this Chromium's profile, home and temporary files
	Width, Height     int          // window size in CSS pixels; default DefaultWidth × DefaultHeight
	DeviceScaleFactor float64      // device pixels per CSS pixel; default 1
	UserAgent         string       // default: the user agent of this Chromium with a window
	Locale            string       // such as "de-DE": language of the interface and of Accept-Language; default: Chromium's own
	ProxyServer       string       // such as "http://127.0.0.1:3128", also for loopback addresses; default: none
	Args              []string     // further switches; they come last and override others
	Logger            *slog.Logger // default: discard
	Launcher          []string     // the command that runs confine.Main, to start Chromium confined; default: not confined
	Hide              []string     // the server's own files and folders, of which a confined Chromium gets only its Dir; default: none
	UserData          []byte       // from Process.PackUserData, for a Dir that has no profile yet; default: a new profile
	CPU               float64      // cores that its processes may use together, where there is a control group; 0 for all
	Memory            int64        // bytes that its processes may use together, where there is a control group; default confine.DefaultMemory
	Proxy             func() Proxy // makes the proxy of each Chromium, which replaces ProxyServer; default: none

	ownShm  bool     // it has a /dev/shm of its own, which is large enough
	without []string // measures of the launcher that a trial leaves out
}

func (o LaunchOptions) withDefaults() LaunchOptions {
	if o.Width == 0 || o.Height == 0 {
		o.Width, o.Height = DefaultWidth, DefaultHeight
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// setExecPath finds the executable when none is given.
func (o *LaunchOptions) setExecPath() (err error) {
	if o.ExecPath == "" {
		o.ExecPath, err = FindExecutable()
	}
	return err
}

// errSandboxRefused is returned when Chromium cannot set up its sandbox.
var errSandboxRefused = errors.New("the kernel refuses Chromium's sandbox")

// unsandboxed remembers executables whose sandbox this machine refused, so that
// the next start does not try again.
var unsandboxed sync.Map // executable path → struct{}

// Launch starts a Chromium with a debugging pipe and returns once it responds.
// ctx bounds only the start. If Dir is the folder of a Chromium that has ended,
// the new one gets the same profile.
//
// The sandbox is on. When the server runs as root, Chromium runs under an
// unprivileged user id. If the kernel does not permit one of these, Chromium runs
// without it and a warning is logged; see Process.Sandboxed.
func Launch(ctx context.Context, o LaunchOptions) (*Process, error) {
	o = o.withDefaults()
	if o.Dir == "" {
		return nil, errors.New("launch chromium: no folder given")
	}
	ctx, cancel, err := o.complete(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	p, err := launch(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("launch chromium: %w", err)
	}
	return p, nil
}

// complete finds out what the options leave to Chromium, and bounds the start.
func (o *LaunchOptions) complete(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := o.setExecPath(); err != nil {
		return nil, nil, fmt.Errorf("launch chromium: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, StartTimeout, fmt.Errorf("no answer within %v", StartTimeout))
	if o.UserAgent == "" {
		o.UserAgent = userAgent(ctx, o.ExecPath)
	}
	return ctx, cancel, nil
}

func launch(ctx context.Context, o LaunchOptions) (*Process, error) {
	folder, err := openFolder(o.Dir, mustDropRoot())
	if errors.Is(err, syscall.EPERM) {
		// Root may not be permitted to change the owners of files, for example in
		// some containers.
		o.Logger.Warn("Chromium runs as root: its folder cannot be given to another user", "error", err)
		folder, err = openFolder(o.Dir, false)
	}
	if err != nil {
		return nil, err
	}
	folder.seed = o.UserData
	sandbox := mayBeSandboxed(o, folder)
	p, err := startConfined(ctx, o, folder, sandbox)
	if errors.Is(err, errSandboxRefused) {
		o.Logger.Warn("Chromium runs without its sandbox: the kernel refuses it", "error", err)
		unsandboxed.Store(o.ExecPath, struct{}{})
		if folder, err = folder.reopen(); err != nil {
			return nil, err
		}
		p, err = startConfined(ctx, o, folder, false)
	}
	if err != nil {
		return nil, errors.Join(err, folder.emptyTemp())
	}
	return p, nil
}

// mayBeSandboxed reports whether to start a Chromium with its sandbox.
func mayBeSandboxed(o LaunchOptions, f *folder) bool {
	_, refused := unsandboxed.Load(o.ExecPath)
	return !refused && !f.ownedByRoot()
}

// start starts one Chromium and waits for its first reply.
func start(ctx context.Context, o LaunchOptions, folder *folder, sandbox bool) (*Process, error) {
	if err := folder.prepare(); err != nil {
		return nil, err
	}
	p, err := spawn(o, folder, sandbox)
	if err != nil {
		return nil, err
	}
	if err := p.await(ctx, o, sandbox); err != nil {
		return nil, err
	}
	return p, nil
}

// await starts Chromium, if a launcher waits to do that, and waits for the first
// reply. When it fails, the process has ended.
func (p *Process) await(ctx context.Context, o LaunchOptions, sandbox bool) error {
	started := time.Now()
	if err := p.run(o, sandbox); err != nil {
		p.kill()
		<-p.done
		return fmt.Errorf("%w%s", err, p.stderr.quote())
	}
	version, err := cdp.Call(ctx, p.conn.Root(), cdpbrowser.GetVersion, proto.Empty{})
	if err == nil {
		o.Logger.Debug("chromium started", "pid", p.pid, "product", version.Product, "sandbox", sandbox, "took", time.Since(started))
		p.version = &version
		return nil
	}
	if p.conn.Err() == nil {
		p.kill() // it runs but does not respond, or the caller gave up
		<-p.done
		return fmt.Errorf("wait for its first answer: %w%s", err, p.stderr.quote())
	}
	<-p.done
	if sandbox && p.stderr.sandboxRefused() {
		return fmt.Errorf("%w%s", errSandboxRefused, p.stderr.quote())
	}
	if p.launcher != nil {
		return fmt.Errorf("%w, in its confinement (`takeover doctor` shows it): %w", errEnded, p.Err())
	}
	return fmt.Errorf("%w: %w", errEnded, p.Err())
}
