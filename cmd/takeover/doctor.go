//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"takeover/chromium"
	"takeover/confine"
	"takeover/door/playwright"
	"takeover/egress"
	"takeover/static"
)

const (
	// launchTime is how long Chromium may take to start.
	launchTime = 30 * time.Second
	// healthTime is how long the server may take to answer the health check.
	healthTime = 2 * time.Second
	// wantedDisk and wantedShm are the sizes, in bytes, that a few sessions need.
	wantedDisk = 1 << 30
	wantedShm  = 64 << 20
)

// doctorCommand checks whether this machine is ready for the server.
type doctorCommand struct {
	Addr        string   `help:"Address that the server would listen on." default:"127.0.0.1:8080" env:"TAKEOVER_ADDR"`
	DataDir     string   `help:"The server's data directory." default:"${data_dir}" env:"TAKEOVER_DATA_DIR" type:"path"`
	Chromium    string   `help:"Chromium's executable. Default: found on PATH." placeholder:"FILE" env:"TAKEOVER_CHROMIUM"`
	Playwright  []string `help:"Folders with playwright-core. Default: beside the program, and where npm installs globally." placeholder:"DIR" env:"TAKEOVER_PLAYWRIGHT" type:"path"`
	Node        string   `help:"Node.js for programs that speak Playwright's own protocol. Default: found on PATH." placeholder:"FILE" env:"TAKEOVER_NODE"`
	NATSURL     string   `name:"nats-url" help:"NATS servers that store the data. Default: an embedded server." placeholder:"URL" env:"TAKEOVER_NATS_URL"`
	EventsBytes int64    `help:"The server's --events-bytes. Default: 2 GiB." placeholder:"BYTES" env:"TAKEOVER_EVENTS_BYTES"`
	KeepBytes   int64    `help:"The server's --keep-bytes. Default: 256 MiB." placeholder:"BYTES" env:"TAKEOVER_KEEP_BYTES"`
	Health      bool     `help:"Only request the server's /healthz: exit code 0 if it answers, otherwise 1. For a container's health check."`
}

// finding is the outcome of one check.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warning or failed
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

func good(check, format string, args ...any) finding {
	return finding{Check: check, Status: "ok", Detail: fmt.Sprintf(format, args...)}
}

func (f finding) as(status, fix string) finding {
	f.Status, f.Fix = status, fix
	return f
}

// Run makes every check and fails if one of them failed.
func (d *doctorCommand) Run(ctx context.Context, c *cli, std streams) error {
	var findings []finding
	if d.Health {
		findings = []finding{health(ctx, c.Server)}
	} else {
		findings = append(d.chromium(ctx), fonts(), assets(), d.playwright(), d.port(ctx), d.dataDir(), disk(d.DataDir), d.nats(ctx), shm())
	}
	failed := 0
	for _, f := range findings {
		if f.Status == "failed" {
			failed++
		}
	}
	if c.JSON {
		if err := writeJSON(std.out, map[string]any{"ok": failed == 0, "checks": findings}); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintf(std.out, "%-8s %-10s %s\n", f.Status, f.Check, f.Detail)
			if f.Fix != "" {
				fmt.Fprintf(std.out, "%-19s → %s\n", "", f.Fix)
			}
		}
	}
	if failed > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// health asks a running server whether it is alive.
func health(ctx context.Context, server string) finding {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	failed := func(err error) finding {
		return good("health", "%v", err).as("failed", "Start the server, or name it with --server.")
	}
	server, err := serverURL(server)
	if err != nil {
		return failed(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/healthz", nil)
	if err != nil {
		return failed(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return failed(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return failed(fmt.Errorf("%s answers %s", server, resp.Status))
	}
	return good("health", "%s answers", server)
}

// chromium starts Chromium as a session would.
func (d *doctorCommand) chromium(ctx context.Context) []finding {
	dir, err := os.MkdirTemp("", "takeover-doctor-")
	if err != nil {
		return []finding{good("chromium", "%v", err).as("failed", "Make the folder for temporary files writable.")}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(ctx, launchTime)
	defer cancel()
	if err := findChromium(d.Chromium); err != nil {
		return []finding{good("chromium", "%v", err).as("failed", installChromium)}
	}
	policy, err := egress.NewPolicy(egress.Options{})
	if err != nil {
		return []finding{good("chromium", "%v", err).as("failed", "")}
	}
	start := time.Now()
	p, err := chromium.Launch(ctx, chromium.LaunchOptions{
		ExecPath: d.Chromium, Dir: dir, Launcher: launcher, Hide: []string{d.DataDir},
		Proxy: func() chromium.Proxy { return egress.NewProxy(policy) }, // which answers nothing without a session
	})
	if err != nil {
		return []finding{good("chromium", "%v", err).as("failed", "Install it: apt-get install chromium, or name it with --chromium.")}
	}
	took := time.Since(start).Round(time.Millisecond)
	sandboxed, confined := p.Sandboxed(), []finding{confinement(p.Confinement()), filters(p.Unfiltered())}
	if err := p.Close(); err != nil {
		return []finding{good("chromium", "started, but did not end: %v", err).as("warning", "")}
	}
	sandbox := good("sandbox", "on")
	if !sandboxed {
		sandbox = good("sandbox", "off: this kernel or container allows no user namespaces").as("warning",
			"Allow them (sysctl kernel.unprivileged_userns_clone=1, or the seccomp profile of the compose file), otherwise open only pages you trust.")
	}
	return append([]finding{good("chromium", "started in %s", took), sandbox}, confined...)
}

// confinement says which measures around Chromium are in force.
func confinement(report confine.Report) finding {
	var on []string
	for _, m := range report {
		if m.On {
			on = append(on, m.Name)
		}
	}
	f := good("confinement", "%s", strings.Join(on, ", "))
	if refused := report.Refused(); refused != "" {
		f.Detail += "; refused: " + refused
		return f.as("warning", "docs/operating.md says what each measure needs of the kernel or the container.")
	}
	return f
}

// filters says whether a process of Chromium may make any system call.
func filters(unfiltered []string) finding {
	if len(unfiltered) > 0 {
		return good("filters", "these processes of Chromium may make any system call: %s", strings.Join(unfiltered, ", ")).as("warning",
			"Use a kernel with seccomp, or trust every page that is opened.")
	}
	return good("filters", "every process of Chromium has a filter of system calls")
}

// installChromium is the advice when Chromium is missing.
const installChromium = "Install it: apt-get install chromium. Or name another with --chromium or TAKEOVER_CHROMIUM; without both it is found on PATH."

// findChromium returns an error unless a program that could be Chromium is at
// path, or on PATH if path is empty.
func findChromium(path string) error {
	if path == "" {
		_, err := chromium.FindExecutable()
		return err
	}
	if _, err := exec.LookPath(path); err != nil {
		return fmt.Errorf("%s cannot be run", path)
	}
	return nil
}

// fonts looks for fonts with the characters of most pages.
func fonts() finding {
	found := map[string]bool{}
	for _, root := range []string{"/usr/share/fonts", "/usr/local/share/fonts"} {
		_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error { // a folder that does not exist has no fonts
			name := strings.ToLower(filepath.Base(path))
			found["any"] = found["any"] || err == nil && (strings.HasSuffix(name, ".ttf") || strings.HasSuffix(name, ".otf") || strings.HasSuffix(name, ".ttc"))
			found["CJK"] = found["CJK"] || strings.Contains(name, "cjk") || strings.Contains(name, "wqy") || strings.Contains(name, "unifont")
			found["emoji"] = found["emoji"] || strings.Contains(name, "emoji")
			return nil
		})
	}
	var missing []string
	for _, kind := range []string{"any", "CJK", "emoji"} {
		if !found[kind] {
			missing = append(missing, kind)
		}
	}
	if len(missing) == 0 {
		return good("fonts", "with CJK and emoji")
	}
	return good("fonts", "missing: %s", strings.Join(missing, ", ")).as("warning", "apt-get install fonts-liberation fonts-noto-cjk fonts-noto-color-emoji")
}

// playwright looks for what serves programs that speak Playwright's own protocol.
// Everything else works without.
func (d *doctorCommand) playwright() finding {
	packages, err := playwright.Check(d.Node, d.Playwright)
	if err != nil {
		return good("playwright", "chromium.connect is not offered: %v", err).as("warning", "Not needed for chromium.connectOverCDP and other clients: docs/playwright.md.")
	}
	var versions []string
	for _, p := range packages {
		versions = append(versions, p.Version)
	}
	return good("playwright", "chromium.connect for %s", strings.Join(versions, ", "))
}

func assets() finding {
	if err := static.Check(); err != nil {
		return good("pages", "%v", err).as("failed", "Run make generate, and build the server again.")
	}
	return good("pages", "scripts and styles are built in")
}

func (d *doctorCommand) port(ctx context.Context) finding {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", d.Addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return good("port", "%s is taken", d.Addr).as("warning", "If it is not the server itself, choose another port with --addr.")
	case errors.Is(err, syscall.EACCES):
		return good("port", "%s may not be listened on", d.Addr).as("failed", "Ports below 1024 are for root: choose another with --addr.")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return good("port", "%s is not an address of this machine", d.Addr).as("failed", "Choose one of its own with --addr, or 0.0.0.0 for all.")
	case err != nil:
		var why *net.AddrError
		if errors.As(err, &why) {
			err = errors.New(why.Err)
		}
		return good("port", "%s is not an address: %v", d.Addr, err).as("failed", "Write host:port, such as 127.0.0.1:8080, or :8080 for all of this machine's addresses.")
	}
	_ = ln.Close()
	return good("port", "%s is free", d.Addr)
}

func (d *doctorCommand) dataDir() finding {
	if err := os.MkdirAll(d.DataDir, 0o700); err != nil {
		return good("data", "%v", err).as("failed", "Use --data-dir to choose a writable folder.")
	}
	f, err := os.CreateTemp(d.DataDir, ".doctor-")
	if err != nil {
		return good("data", "%v", err).as("failed", "Make the folder writable, or choose another with --data-dir.")
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return good("data", "%s can be written", d.DataDir)
}

func disk(dir string) finding {
	return room("disk", dir, wantedDisk, "Make room, or choose another folder with --data-dir.")
}

func shm() finding {
	return room("shm", "/dev/shm", wantedShm, "Give the container more: --shm-size=1g, or shm_size in compose.yaml.")
}

func room(check, dir string, wanted uint64, fix string) finding {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return good(check, "%s: %v", dir, err).as("warning", "")
	}
	free := st.Bavail * uint64(st.Bsize)
	f := good(check, "%d MiB free in %s", free>>20, dir)
	if free < wanted {
		return f.as("warning", fix)
	}
	return f
}
