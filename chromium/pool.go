package chromium

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"

	"takeover/cdp"
)

const (
	// HealthTimeout bounds how long a warm Chromium may take to respond before it
	// is handed out. A slower one is dropped.
	HealthTimeout = 2 * time.Second

	// RefillDelay is the pause after a failed start. It doubles with each failure.
	RefillDelay = time.Second
	// MaxRefillDelay bounds that pause.
	MaxRefillDelay = time.Minute

	// SpareTime is how long a launcher waits for the next Chromium to start. When
	// none has been started for so long, nobody will miss it.
	SpareTime = time.Hour
)

// ErrPoolClosed is returned by Get after Close.
var ErrPoolClosed = errors.New("the pool of Chromiums is closed")

// PoolOptions configures a pool.
type PoolOptions struct {
	Size   int           // number of warm Chromiums; 0 starts one for each Get
	Launch LaunchOptions // for all of them; Dir is ignored
	Root   string        // required: the folder that contains their folders and nothing else
	Logger *slog.Logger  // default: Launch.Logger
}

// Pool keeps Chromiums ready, so that sessions need not wait for a start. It also
// keeps a launcher ready in its confinement, so that this costs a start no time.
// All methods may be called from any goroutine. End it with Close.
type Pool struct {
	size   int
	launch LaunchOptions
	root   string
	rooted error // why root cannot be used; Get returns it
	log    *slog.Logger
	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	refill chan struct{} // one token: the pool may have room
	loop   sync.WaitGroup

	spares    chan *Process // the launcher that waits, if there is one
	wantSpare chan struct{} // one token: a launcher may be missing

	newest atomic.Pointer[cdpbrowser.GetVersionResult] // of the Chromium that was started last

	mu     sync.Mutex // guards what follows
	warm   []*Process // oldest first
	scarce bool       // memory is scarce, so no Chromium is kept warm
}

// NewPool returns a pool and starts to fill it in the background.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{
		size: max(o.Size, 0), launch: o.Launch, log: o.Logger, refill: make(chan struct{}, 1),
		spares: make(chan *Process, 1), wantSpare: make(chan struct{}, 1),
	}
	if p.launch = p.launch.withDefaults(); p.log == nil {
		p.log = p.launch.Logger
	}
	p.launch.Dir = ""
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	p.root, p.rooted = chooseRoot(o.Root)
	if p.rooted == nil && p.root != o.Root {
		p.log.Info("chromium's folders stand elsewhere, because an unprivileged user cannot reach the given place", "given", o.Root, "used", p.root)
	}
	if p.launch.Launcher != nil {
		p.loop.Go(p.keepSpare)
	}
	switch {
	case p.rooted != nil:
	case p.size > 0:
		p.loop.Go(p.keepFull)
		p.askRefill()
	default:
		p.loop.Go(p.learnAgent)
	}
	return p
}

// learnAgent asks Chromium for its version in advance, because that takes a fifth
// of the time of a start.
func (p *Pool) learnAgent() {
	if o := p.launch; o.UserAgent == "" && o.setExecPath() == nil {
		userAgent(p.ctx, o.ExecPath)
	}
}

// Get returns a running Chromium. The caller must close it and remove its folder.
// Empty fields of o take the pool's values. If o asks for nothing but the pool's
// options, Get returns a warm Chromium if there is one; otherwise it starts one.
// If Dir is empty, the Chromium gets a new folder below Root.
func (p *Pool) Get(ctx context.Context, o LaunchOptions) (*Process, error) {
	if p.ctx.Err() != nil {
		return nil, ErrPoolClosed
	}
	if p.rooted != nil {
		return nil, p.rooted
	}
	o = p.merge(o)
	if o.Dir == "" && p.isWarmKind(o) {
		for b := p.take(); b != nil; b = p.take() {
			if healthy(ctx, b) {
				return b, nil
			}
			p.log.Warn("a warm chromium does not answer and is dropped", "pid", b.PID())
			p.drop(b)
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	if o.Dir == "" && o.ExecPath == p.launch.ExecPath {
		b, err := p.startSpare(ctx, o)
		if b != nil || err != nil {
			return b, err
		}
	}
	b, err := p.start(ctx, o)
	if err == nil && b.launcher != nil {
		p.askSpare()
	}
	return b, err
}

// Warm returns the number of Chromiums that are ready.
func (p *Pool) Warm() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.warm)
}

// Scarce says whether memory is scarce. While it is, the pool keeps no Chromium warm.
func (p *Pool) Scarce(yes bool) {
	p.mu.Lock()
	changed := p.scarce != yes
	p.scarce = yes
	p.mu.Unlock()
	if !changed {
		return
	}
	if !yes {
		p.askRefill()
		return
	}
	for b := p.take(); b != nil; b = p.take() {
		p.drop(b)
	}
}

// IsScarce reports what Scarce said last.
func (p *Pool) IsScarce() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.scarce
}

// full reports whether the pool wants no further Chromium.
func (p *Pool) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.scarce || len(p.warm) >= p.size
}

// Close ends the warm Chromiums and removes their folders, and returns when the
// pool's goroutines have ended. Chromiums that Get returned keep running.
func (p *Pool) Close() error {
	p.cancel(ErrPoolClosed)
	p.loop.Wait()
	p.mu.Lock()
	warm := p.warm
	p.warm = nil
	p.mu.Unlock()
	errs := make([]error, len(warm))
	var all sync.WaitGroup
	for i, b := range warm {
		all.Go(func() {
			b.Kill() // its profile is not needed
			errs[i] = b.RemoveDir()
		})
	}
	all.Wait()
	if p.rooted == nil && p.root != "" {
		_ = os.Remove(p.root) // if it is empty
	}
	return errors.Join(errs...)
}

// Spare reports whether a launcher is ready for the next start.
func (p *Pool) Spare() bool { return len(p.spares) > 0 }

func (p *Pool) askSpare() {
	select {
	case p.wantSpare <- struct{}{}:
	default:
	}
}

// keepSpare starts a launcher after each start of a confined Chromium, and ends it
// when nobody has used it for SpareTime. Before the first start it keeps no launcher,
// because that start shows which measures the kernel allows.
func (p *Pool) keepSpare() {
	var died <-chan struct{}
	var old <-chan time.Time
	for {
		select {
		case <-p.ctx.Done():
			p.dropSpare()
			return
		case <-died:
			died = nil
			p.dropSpare()
			continue
		case <-old:
			old = nil
			p.dropSpare()
			continue
		case <-p.wantSpare:
		}
		if p.Spare() {
			continue
		}
		b, err := p.newSpare()
		if err != nil {
			p.log.Warn("no launcher is ready for the next chromium", "error", err)
			continue
		}
		p.spares <- b
		died, old = b.Done(), time.After(SpareTime)
	}
}

// newSpare starts a launcher with a new folder.
func (p *Pool) newSpare() (*Process, error) {
	dir, err := p.makeDir()
	if err != nil {
		return nil, err
	}
	o := p.launch
	o.Dir = dir
	f, err := openFolder(dir, mustDropRoot())
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	err = errors.Join(o.setExecPath(), f.prepare())
	var b *Process
	if err == nil {
		b, err = spawn(o, f, mayBeSandboxed(o, f))
	}
	if err != nil {
		return nil, errors.Join(err, f.remove())
	}
	return b, nil
}

// dropSpare ends the launcher that waits, if there is one.
func (p *Pool) dropSpare() {
	select {
	case b := <-p.spares:
		p.drop(b)
	default:
	}
}

// startSpare starts a Chromium with the launcher that waits. Without one, or if it
// fails, startSpare returns neither a Chromium nor an error.
func (p *Pool) startSpare(ctx context.Context, o LaunchOptions) (*Process, error) {
	var b *Process
	select {
	case b = <-p.spares:
	default:
		return nil, nil
	}
	defer p.askSpare()
	bounded, cancel, err := o.complete(ctx)
	if err == nil {
		err = b.await(bounded, o, mayBeSandboxed(o, b.folder))
		cancel()
	}
	if err == nil {
		return b, nil
	}
	p.drop(b)
	if ctx.Err() != nil {
		return nil, err
	}
	p.log.Warn("the launcher that was ready did not start chromium; another one tries", "error", err)
	return nil, nil
}

// keepFull starts Chromiums one at a time until there are enough, and drops those
// that die.
func (p *Pool) keepFull() {
	var delay time.Duration
	for {
		var retry <-chan time.Time
		switch {
		case p.full():
		case delay > 0:
			retry = time.After(delay)
		default:
			retry = closedTime
		}
		select {
		case <-p.ctx.Done():
			return
		case <-p.refill:
			continue
		case <-retry:
		}
		b, err := p.start(p.ctx, p.launch)
		if p.ctx.Err() != nil {
			if err == nil {
				p.drop(b)
			}
			return
		}
		if err != nil {
			delay = min(max(2*delay, RefillDelay), MaxRefillDelay)
			p.log.Error("keep a chromium warm", "error", err, "next", delay)
			continue
		}
		delay = 0
		if !p.add(b) {
			p.drop(b)
			continue
		}
		p.loop.Go(func() { p.dropWhenDead(b) })
	}
}

// add keeps a Chromium warm, unless memory has become scarce meanwhile.
func (p *Pool) add(b *Process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.scarce {
		p.warm = append(p.warm, b)
	}
	return !p.scarce
}

var closedTime = func() <-chan time.Time { c := make(chan time.Time); close(c); return c }()

// dropWhenDead removes a Chromium from the pool when it has died.
func (p *Pool) dropWhenDead(b *Process) {
	select {
	case <-p.ctx.Done():
		return
	case <-b.Done():
	}
	p.mu.Lock()
	kept := p.warm[:0]
	var mine bool
	for _, w := range p.warm {
		if w == b {
			mine = true
			continue
		}
		kept = append(kept, w)
	}
	clear(p.warm[len(kept):])
	p.warm = kept
	p.mu.Unlock()
	if mine {
		p.log.Warn("a warm chromium died", "error", b.Err())
		p.drop(b)
		p.askRefill()
	}
}

// take takes the oldest warm Chromium, or returns nil.
func (p *Pool) take() *Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.warm) == 0 {
		return nil
	}
	b := p.warm[0]
	p.warm = append(p.warm[:0:0], p.warm[1:]...)
	p.askRefill()
	return b
}

func (p *Pool) drop(b *Process) {
	b.Kill()
	if err := b.RemoveDir(); err != nil {
		p.log.Warn("a chromium's folder stays behind", "dir", b.Dir(), "error", err)
	}
}

// Version returns what Chromium says of itself, or nil before the first one runs.
func (p *Pool) Version() *cdpbrowser.GetVersionResult { return p.newest.Load() }

func (p *Pool) askRefill() {
	select {
	case p.refill <- struct{}{}:
	default:
	}
}

// start starts a Chromium. When the start fails, it removes the folder that it
// made.
func (p *Pool) start(ctx context.Context, o LaunchOptions) (*Process, error) {
	var made string
	if o.Dir == "" {
		var err error
		if made, err = p.makeDir(); err != nil {
			return nil, err
		}
		o.Dir = made
	}
	b, err := Launch(ctx, o)
	switch {
	case err == nil:
		p.newest.Store(b.version)
	case made != "":
		err = errors.Join(err, os.RemoveAll(made))
	}
	return b, err
}

// makeDir makes a folder for a Chromium.
func (p *Pool) makeDir() (string, error) {
	if err := os.MkdirAll(p.root, 0o711); err != nil { //nolint:gosec // an unprivileged Chromium passes through
		return "", err
	}
	return os.MkdirTemp(p.root, "")
}

// merge fills the empty fields of o with the pool's values. Launcher and Proxy are
// always the pool's.
func (p *Pool) merge(o LaunchOptions) LaunchOptions {
	m := p.launch
	m.Dir, m.UserData = o.Dir, o.UserData
	if o.Width != 0 && o.Height != 0 {
		m.Width, m.Height = o.Width, o.Height
	}
	if o.DeviceScaleFactor != 0 {
		m.DeviceScaleFactor = o.DeviceScaleFactor
	}
	for _, f := range []struct{ to, from *string }{
		{&m.ExecPath, &o.ExecPath},
		{&m.UserAgent, &o.UserAgent},
		{&m.Locale, &o.Locale},
		{&m.ProxyServer, &o.ProxyServer},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if o.Args != nil {
		m.Args = o.Args
	}
	if o.Logger != nil {
		m.Logger = o.Logger
	}
	return m
}

func (p *Pool) isWarmKind(o LaunchOptions) bool {
	warm := p.launch
	o.Logger, o.Dir = warm.Logger, warm.Dir
	o.Proxy, warm.Proxy = nil, nil // the same, see merge; functions cannot be compared
	return reflect.DeepEqual(o, warm)
}

func healthy(ctx context.Context, b *Process) bool {
	ctx, cancel := context.WithTimeout(ctx, HealthTimeout)
	defer cancel()
	_, err := cdp.Call(ctx, b.Conn().Root(), cdpbrowser.GetVersion, proto.Empty{})
	return err == nil
}

// placesOf returns the folders that a pool with this root may use: root itself
// and, in case an unprivileged user cannot reach root, a folder below TMPDIR.
func placesOf(root string) []string {
	abs, err := filepath.Abs(root)
	if err != nil {
		return []string{root}
	}
	sum := sha256.Sum256([]byte(abs))
	return []string{abs, filepath.Join(os.TempDir(), "takeover-"+hex.EncodeToString(sum[:6]))}
}

// chooseRoot creates the folder for a pool and returns its path.
func chooseRoot(root string) (string, error) {
	if root == "" {
		return "", errors.New("a pool of Chromiums needs a folder")
	}
	if err := os.MkdirAll(root, 0o711); err != nil { //nolint:gosec // an unprivileged Chromium passes through
		return "", fmt.Errorf("make the Chromiums' folder: %w", err)
	}
	if !mustDropRoot() {
		return root, nil
	}
	places := placesOf(root)
	err := makeReachable(places[0])
	if !errors.Is(err, ErrUnreachable) {
		return root, err
	}
	if err := os.Mkdir(places[1], 0o711); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // as above
		return "", err
	}
	// Other users can guess its name, so it must not belong to them or be a link.
	if info, err := os.Lstat(places[1]); err != nil || !info.IsDir() || ownerOf(info) != os.Geteuid() {
		return "", errors.Join(fmt.Errorf("%w: and %s is not ours", ErrUnreachable, places[1]), err)
	}
	return places[1], nil
}
