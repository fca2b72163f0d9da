package chromium_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/elazarl/goproxy"

	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/chromium"
	"takeover/confine"
)

var testLauncher = []string{"/proc/self/exe", confine.Command}

// needConfinement skips on a kernel that refuses a measure.
func needConfinement(t *testing.T, p *chromium.Process) {
	t.Helper()
	if len(p.Confinement()) == 0 {
		t.Fatal("nothing was reported")
	}
	for _, m := range p.Confinement() {
		if !m.On && m.Name != confine.Cgroup { // that needs root, or a group that was delegated
			t.Skip(m.Name, m.Reason)
		}
	}
}

// TestConfined checks from outside that every process of a confined Chromium
// is confined, and that Chromium's own sandbox is on as well.
func TestConfined(t *testing.T) {
	p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher, Proxy: deadEnd})
	needConfinement(t, p)
	if !p.Sandboxed() {
		t.Error("Chromium's own sandbox is off")
	}
	browsertest.PageOf(t, p.Conn()).HTML("<p>hello")
	kinds := map[string]int{}
	for pid, command := range browsertest.Group(t, p.PID()) {
		kind := "browser"
		if _, rest, ok := strings.Cut(command, "--type="); ok {
			kind, _, _ = strings.Cut(rest, " ")
		} else if pid == p.PID() {
			kind = "launcher"
		}
		kinds[kind]++
		for field, want := range map[string]string{"Seccomp": "2", "NoNewPrivs": "1"} {
			if got := status(t, pid, field); got != want {
				t.Errorf("%s: %s is %s", kind, field, got)
			}
		}
		if ids := strings.Fields(status(t, pid, "NSpid")); len(ids) < 2 {
			t.Errorf("%s is in the server's process namespace", kind)
		}
		for _, space := range []string{"user", "pid", "mnt", "ipc", "net"} {
			if namespace(t, pid, space) == namespace(t, os.Getpid(), space) {
				t.Errorf("%s is in the server's %s namespace", kind, space)
			}
		}
		if kind == "launcher" || kind == "browser" || kind == "gpu-process" {
			if caps := strings.Trim(status(t, pid, "CapEff"), "0"); caps != "" {
				t.Errorf("%s has capabilities %s", kind, caps)
			}
		}
		if filters := status(t, pid, "Seccomp_filters"); kind == "renderer" && filters != "2" {
			t.Errorf("renderer has %s filters, not its own and ours", filters)
		}
	}
	if unfiltered := p.Unfiltered(); len(unfiltered) > 0 {
		t.Errorf("without a filter: %v", unfiltered)
	}
	for _, kind := range []string{"launcher", "browser", "gpu-process", "renderer"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s in the group: %v", kind, kinds)
		}
	}
}

// TestControlGroup checks that all processes of a confined Chromium are in one
// group with limits, and that nothing of it is left.
func TestControlGroup(t *testing.T) {
	p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher})
	if !p.Confinement().On(confine.Cgroup) {
		t.Skip(p.Confinement().Refused())
	}
	browsertest.PageOf(t, p.Conn()).HTML("<p>hello")
	name := fmt.Sprintf("/takeover-%d-", os.Getpid())
	group := ""
	for pid, command := range browsertest.Group(t, p.PID()) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), name) {
			t.Errorf("not in the group: %s", command)
		}
		group = string(text)
	}
	_, number, _ := strings.Cut(group, name)
	number, _, _ = strings.Cut(number, "\n")
	folders := func() []string {
		var found []string
		for _, pattern := range []string{"/sys/fs/cgroup/*/", "/sys/fs/cgroup/*/*/", "/sys/fs/cgroup/*/*/*/", "/sys/fs/cgroup/*/*/*/*/"} {
			more, _ := filepath.Glob(pattern + strings.TrimPrefix(name, "/") + number)
			found = append(found, more...)
		}
		return found
	}
	if len(folders()) == 0 {
		t.Errorf("no folder of the group %s%s", name, number)
	}
	p.Kill()
	if left := folders(); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestProcessorLimit lets a page loop in a Chromium that may use a quarter of a core.
func TestProcessorLimit(t *testing.T) {
	const share = 0.25
	p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher, CPU: share})
	if !p.Confinement().On(confine.Cgroup) || strings.Contains(fmt.Sprint(p.Confinement().Refused()), "processor time") {
		t.Skip(p.Confinement().Refused())
	}
	page := browsertest.PageOf(t, p.Conn())
	used := func() (ticks int) { // of 1/100 s
		for pid := range browsertest.Group(t, p.PID()) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil {
				continue // it has ended
			}
			_, after, _ := strings.Cut(string(stat), ") ")
			fields := strings.Fields(after)
			for _, field := range fields[11:13] { // proc_pid_stat(5): utime, stime
				n, err := strconv.Atoi(field)
				if err != nil {
					t.Fatal(err)
				}
				ticks += n
			}
		}
		return ticks
	}
	before, start := used(), time.Now()
	page.Eval("(() => { for (const end = Date.now() + 1500; Date.now() < end;); return 1 })()", new(int))
	took, seconds := time.Since(start).Seconds(), float64(used()-before)/100
	if seconds > share*took+0.2 {
		t.Errorf("in %.1f s its processes used %.2f s", took, seconds)
	}
}

func namespace(t *testing.T, pid int, kind string) string {
	t.Helper()
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestConfinedDraws checks that pictures and WebGL, which is drawn in software,
// are the same as without confinement.
func TestConfinedDraws(t *testing.T) {
	draw := `(() => {
		const gl = document.querySelector("canvas").getContext("webgl");
		if (!gl) return "no WebGL";
		gl.clearColor(0.2, 0.4, 0.6, 1);
		gl.clear(gl.COLOR_BUFFER_BIT);
		const pixel = new Uint8Array(4);
		gl.readPixels(3, 3, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
		return pixel.join() + " " + gl.getParameter(gl.VERSION);
	})()`
	var results, pictures [2]string
	for i, launcher := range [][]string{nil, testLauncher} {
		p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: launcher})
		pg := browsertest.PageOf(t, p.Conn())
		pg.HTML(`<body style="font: 20px sans-serif; background: linear-gradient(red, blue)">漢字 text 😀 <canvas width=10 height=10></canvas>`)
		pg.Eval(draw, &results[i])
		shot, err := cdp.Call(t.Context(), pg.Session, page.CaptureScreenshot, page.CaptureScreenshotParams{})
		if err != nil {
			t.Fatal(err)
		}
		pictures[i] = string(shot.Data)
	}
	if results[0] != results[1] || !strings.HasPrefix(results[1], "51,102,153,255") {
		t.Errorf("WebGL: %q without confinement, %q with it", results[0], results[1])
	}
	if pictures[0] != pictures[1] {
		t.Error("the pictures differ")
	}
}

// deadEnd makes a proxy that answers nothing.
func deadEnd() chromium.Proxy { return &testProxy{} }

// testProxy is a proxy that dials outside and counts what it was asked for.
type testProxy struct {
	asked  atomic.Int32
	hosts  sync.Map // the addresses that it was asked for; Chromium asks for some of its own
	at     sync.Map // host that was asked for → the address at which the last such request arrived
	closed atomic.Bool

	server *http.Server // nil for a dead end
	idle   func()       // closes the connections that are kept
	served sync.WaitGroup
	mu     sync.Mutex
	lns    []net.Listener
}

// open gives the proxy to the one Chromium that a test launches.
func (w *testProxy) open() chromium.Proxy {
	proxy := goproxy.NewProxyHttpServer()
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		w.asked.Add(1)
		w.hosts.Store(addr, true)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	proxy.Logger = log.New(io.Discard, "", 0)
	proxy.Tr = &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 16}
	proxy.ConnectDialWithReq = func(r *http.Request, network, addr string) (net.Conn, error) { return dial(r.Context(), network, addr) }
	w.server, w.idle = &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.at.Store(r.URL.Host, r.Context().Value(http.LocalAddrContextKey).(net.Addr).String())
		proxy.ServeHTTP(rw, r)
	})}, proxy.Tr.CloseIdleConnections
	return w
}

// Serve implements chromium.Proxy.
func (w *testProxy) Serve(ln net.Listener, _ int) {
	w.mu.Lock()
	w.lns = append(w.lns, ln)
	w.mu.Unlock()
	if w.server != nil {
		w.served.Go(func() { _ = w.server.Serve(ln) })
	}
}

// Close implements chromium.Proxy.
func (w *testProxy) Close() error {
	w.closed.Store(true)
	w.mu.Lock()
	for _, ln := range w.lns {
		_ = ln.Close() // the server may have closed it
	}
	w.mu.Unlock()
	if w.server == nil {
		return nil
	}
	err := w.server.Close()
	w.served.Wait()
	w.idle()
	return err
}

// TestOnlyWayOut checks that a page loads through the proxy, and that nothing
// gets past it.
func TestOnlyWayOut(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>reached</title>")
	}))
	t.Cleanup(site.Close)
	udp := stunServer(t)

	t.Run("through the proxy", func(t *testing.T) {
		var w testProxy
		p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher, Proxy: w.open})
		needConfinement(t, p)
		pg := browsertest.PageOf(t, p.Conn())
		if title := load(t, pg, site.URL); title != "reached" {
			t.Errorf("the page shows %q", title)
		}
		if _, asked := w.hosts.Load(strings.TrimPrefix(site.URL, "http://")); !asked {
			t.Errorf("the proxy was asked %d times, but not for the page", w.asked.Load())
		}
		if found := stun(t, pg, udp); found != "" {
			t.Errorf("WebRTC found %s", found)
		}
	})
	t.Run("around the proxy", func(t *testing.T) {
		var w testProxy
		p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher, Proxy: w.open, Args: []string{
			// Chromium is told to use no proxy, and WebRTC to use everything.
			"--no-proxy-server", "--webrtc-ip-handling-policy=default",
		}})
		needConfinement(t, p)
		pg := browsertest.PageOf(t, p.Conn())
		if title := load(t, pg, site.URL); title == "reached" {
			t.Error("the page was reached without the proxy")
		}
		if w.asked.Load() != 0 {
			t.Error("the proxy was asked")
		}
		if found := stun(t, pg, udp); strings.Contains(found, "srflx") {
			t.Errorf("WebRTC reached the server of the test: %s", found)
		}
	})
	t.Run("without confinement", func(t *testing.T) { // shows that the other cases could fail
		p := browsertest.Launch(t, chromium.LaunchOptions{Args: []string{"--webrtc-ip-handling-policy=default"}})
		pg := browsertest.PageOf(t, p.Conn())
		if title := load(t, pg, site.URL); title != "reached" {
			t.Errorf("the page shows %q", title)
		}
		if found := stun(t, pg, udp); !strings.Contains(found, "srflx") {
			t.Errorf("WebRTC did not reach the server of the test: %s", found)
		}
	})
}

// stunServer answers each STUN request with a made-up address of the caller.
func stunServer(t *testing.T) net.PacketConn {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if n < 20 {
				continue
			}
			// RFC 5389: a binding response with one MAPPED-ADDRESS, 192.0.2.1:80.
			answer := append([]byte{1, 1, 0, 12}, buf[4:20]...)
			answer = append(answer, 0, 1, 0, 8, 0, 1, 0, 80, 192, 0, 2, 1)
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return conn
}

// stun returns what WebRTC finds out with a STUN server.
func stun(t *testing.T, pg *browsertest.TestPage, server net.PacketConn) (found string) {
	t.Helper()
	pg.Eval(`(async () => {
		const peer = new RTCPeerConnection({iceServers: [{urls: "stun:`+server.LocalAddr().String()+`"}]});
		peer.createDataChannel("x");
		const found = [];
		const gathered = new Promise(done => peer.onicecandidate = e => e.candidate ? found.push(e.candidate.candidate) : done());
		await peer.setLocalDescription(await peer.createOffer());
		// Without any network the gathering may never end.
		await Promise.race([gathered, new Promise(done => setTimeout(done, 2000))]);
		return found.join("; ");
	})()`, &found)
	return found
}

// load opens a page and returns its title, or Chromium's error.
func load(t *testing.T, pg *browsertest.TestPage, url string) string {
	t.Helper()
	nav, err := cdp.Call(t.Context(), pg.Session, page.Navigate, page.NavigateParams{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if nav.ErrorText != "" {
		return nav.ErrorText
	}
	var title string
	browsertest.Until(t, "the page", func() bool { pg.Eval("document.title", &title); return title != "" })
	return title
}

// TestConfinementHidesTheServer runs a shell in place of Chromium, and compares what it
// can reach with and without confinement.
func TestConfinementHidesTheServer(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("of the server"), 0o644); err != nil {
		t.Fatal(err)
	}
	openTo(t, secret)
	site := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(site.Close)
	address := strings.Replace(strings.TrimPrefix(site.URL, "http://"), ":", "/", 1)
	trials := []struct {
		name, command string
		confined      bool
	}{
		{"writes to its home", `echo x >"$HOME/x"`, true},
		{"reads libraries", "cat /etc/fonts/fonts.conf", true},
		{"reads a file of others", "cat " + secret, false},
		{"writes elsewhere", "echo x >/tmp/takeover-out-$$ && rm /tmp/takeover-out-$$", false},
		{"sees the server", fmt.Sprintf("grep -q . /proc/%d/cmdline", os.Getpid()), false},
		{"connects", "exec 9<>/dev/tcp/" + address, false},
		{"mounts", "unshare --user --map-root-user --mount mount -t tmpfs none /mnt", false},
	}
	var body strings.Builder
	body.WriteString(`{ echo "{"; `)
	for _, trial := range trials {
		fmt.Fprintf(&body, `if (%s) >/dev/null 2>&1; then echo '"%s":true,'; else echo '"%s":false,'; fi; `, trial.command, trial.name, trial.name)
	}
	body.WriteString(`echo '"end":true}'; } >"$HOME/result.new"; mv "$HOME/result.new" "$HOME/result"; sleep 1000`)
	path := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(path, []byte("#!/bin/bash\n[ \"$1\" = --version ] && exit\n"+body.String()+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	openTo(t, path)
	for _, launcher := range [][]string{nil, testLauncher} {
		var got map[string]bool
		if text := runInstead(t, chromium.LaunchOptions{Dir: t.TempDir(), ExecPath: path, Launcher: launcher}, func() {}); json.Unmarshal(text, &got) != nil {
			t.Fatalf("the shell said %s", text)
		}
		for _, trial := range trials {
			if want := launcher == nil || trial.confined; got[trial.name] != want {
				t.Errorf("confined: %v: %s: %v", launcher != nil, trial.name, got[trial.name])
			}
		}
	}
}

// openTo lets everybody reach a file of the test.
func openTo(t *testing.T, path string) {
	t.Helper()
	for dir := filepath.Dir(path); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// runInstead runs a program in place of Chromium and returns what it wrote to the
// file "result" in its home.
// Then it calls then, and kills the program.
func runInstead(t *testing.T, o chromium.LaunchOptions, then func()) (text []byte) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		o.UserAgent = "Test/1"
		if o.Launcher != nil {
			o.Proxy = deadEnd
		}
		_, err := chromium.Launch(ctx, o)
		done <- err
	}()
	browsertest.Until(t, "the shell's result", func() bool {
		var err error
		text, err = os.ReadFile(filepath.Join(o.Dir, "home", "result"))
		return err == nil
	})
	then()
	cancel()
	if err := <-done; err == nil {
		t.Error("the program passed for a Chromium")
	}
	return text
}
