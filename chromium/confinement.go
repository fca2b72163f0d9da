package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"takeover/confine"
)

// errEnded is returned when Chromium ended before its first answer.
var errEnded = errors.New("it ended at once")

// confinementFor describes the confinement of one start.
func confinementFor(o LaunchOptions, f *folder, pipes [2]*os.File, stderr *os.File) confine.Options {
	return confine.Options{
		Launcher: o.Launcher, Path: o.ExecPath, Env: f.environment(o.Proxy != nil), Pipes: pipes, Stderr: stderr, UID: f.uid,
		Network: o.Proxy != nil, Without: o.without, Memory: o.Memory, CPU: o.CPU,
		Write: []string{f.profile(), f.home(), f.temp, f.files(), f.downloads()},
		Keep:  []string{f.dir},
		Read:  slices.Concat([]string{programFolder(o.ExecPath)}, chromiumReads, readFromEnvironment()),
		Hide:  o.Hide,
	}
}

// chromiumReads are the files that Chromium needs besides those around its executable
// and those that every program needs.
var chromiumReads = []string{
	"/usr", "/bin", // programs and scripts that start it, fonts
	"/opt/google/chrome", "/opt/chromium.org/chromium", "/opt/microsoft/msedge", "/opt/brave.com/brave", // where packages put what a script elsewhere starts
	"/etc/fonts", "/var/cache/fontconfig", // fontconfig
	"/etc/chromium", "/etc/opt/chrome", // an administrator's policies
	"/etc/mime.types", // GLib
}

// programFolder returns the folder of an executable, behind links.
func programFolder(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return filepath.Dir(path)
}

// readFromEnvironment returns the files and folders that the variables name which
// folder.environment passes on.
func readFromEnvironment() (paths []string) {
	for _, name := range []string{"LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		for _, path := range filepath.SplitList(os.Getenv(name)) {
			if filepath.IsAbs(path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// suspect is what a trial does without: some measures, or the launcher.
type suspect struct {
	measures []string
	launcher bool
	sandbox  bool // Chromium's own sandbox may be what does not bear them
}

// suspects are tried one after the other, each alone, when Chromium does not start
// in its confinement.
var suspects = []suspect{
	{measures: []string{confine.Nested}, sandbox: true},
	{measures: []string{confine.Calls}, sandbox: true},
	{measures: []string{confine.Files}},
	{measures: []string{confine.Shm, confine.Proc, confine.Hidden}},
	{measures: []string{confine.Limits, confine.Cgroup}},
	{measures: []string{confine.Network}},
	{measures: []string{confine.Network, confine.IPC, confine.Mounts, confine.Processes, confine.Users}, sandbox: true},
	{measures: []string{confine.Network, confine.IPC, confine.Mounts, confine.Processes, confine.Users, confine.Files, confine.Limits, confine.Cgroup}},
	{launcher: true},
}

// refused remembers what startConfined found out.
var refused struct {
	launcher sync.Map // executable → why it is started without the launcher
	told     sync.Map // texts that were logged: they are the same at each start
}

// startConfined starts a Chromium like start. If it is the first one in such a confinement
// and does not come up, startConfined finds out what it does not bear, leaves that
// out from then on, and starts it again.
func startConfined(ctx context.Context, o LaunchOptions, f *folder, sandbox bool) (*Process, error) {
	if o.Launcher == nil {
		return start(ctx, o, f, sandbox)
	}
	p, err := startAsKnown(ctx, o, f, sandbox)
	options := confinementFor(o, f, [2]*os.File{}, nil)
	if err != nil && !confine.Proven(options) {
		reason := fmt.Sprintf("Chromium does not start with it: %v", err)
		switch out, found := findUnbearable(ctx, o, sandbox, err); {
		case !found:
			return nil, err
		case out.launcher:
			refused.launcher.Store(o.ExecPath, err.Error())
		default:
			confine.LeaveOut(options, out.measures, reason)
		}
		if err := f.emptyTemp(); err != nil { // reopen may make another folder for temporary files
			return nil, err
		}
		if f, err = f.reopen(); err != nil {
			return nil, err
		}
		if p, err = startAsKnown(ctx, o, f, sandbox); err != nil {
			err = errors.Join(err, f.emptyTemp())
		}
	}
	if err != nil {
		return nil, err
	}
	if p.launcher != nil {
		p.launcher.Works()
	}
	if missing := p.confinement.Refused(); missing != "" {
		if _, told := refused.told.LoadOrStore(missing, struct{}{}); !told {
			o.Logger.Warn("Chromium is less confined than it could be", "refused", missing)
		}
	}
	return p, nil
}

// startAsKnown starts a Chromium with the launcher, or without it where the
// launcher is known not to work.
func startAsKnown(ctx context.Context, o LaunchOptions, f *folder, sandbox bool) (*Process, error) {
	reason, without := refused.launcher.Load(o.ExecPath)
	if !without {
		return start(ctx, o, f, sandbox)
	}
	o.Launcher = nil
	p, err := start(ctx, o, f, sandbox)
	if err == nil {
		p.confinement = confine.Nothing(reason.(string)) //nolint:forcetypeassert // see startConfined
	}
	return p, err
}

// findUnbearable returns what Chromium starts without, given why it did not start.
// It tries with folders of its own: the content of a profile must not weaken later
// confinement.
func findUnbearable(ctx context.Context, o LaunchOptions, sandbox bool, why error) (suspect, bool) {
	switch {
	case errors.Is(why, confine.ErrLauncher):
		return suspect{launcher: true}, true
	case !errors.Is(why, errEnded) && !errors.Is(why, errSandboxRefused):
		return suspect{}, false
	case try(ctx, o, sandbox) == nil:
		return suspect{}, false // the profile is at fault
	}
	for _, out := range suspects {
		if errors.Is(why, errSandboxRefused) && !out.sandbox {
			continue
		}
		trial := o
		trial.without = out.measures
		if out.launcher {
			trial.Launcher = nil
		}
		if err := try(ctx, trial, sandbox); err == nil {
			return out, true
		}
		if ctx.Err() != nil {
			break
		}
	}
	return suspect{}, false
}

// try starts a Chromium in a folder of its own and ends it.
func try(ctx context.Context, o LaunchOptions, sandbox bool) (err error) {
	folder, err := openFolder(filepath.Join(o.Dir, "trial"), mustDropRoot())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.remove()) }()
	p, err := start(ctx, o, folder, sandbox)
	if err != nil {
		return err
	}
	p.Kill()
	return nil
}
