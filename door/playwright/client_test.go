package playwright

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/confine/confinetest"
	"takeover/door/doortest"
	"takeover/door/socket"
	"takeover/egress"
	"takeover/limits"
	"takeover/session"
)

// site is a site for the tests.
var site = map[string]string{
	"/": `<title>site</title><button onclick="document.querySelector('output').textContent = 'clicked'">Press</button><output></output>
		<label>Name <input></label><button id=popup onclick="window.open('/other')">Open</button><a id=download href="/report.txt" download>Get</a>
		<input type=file onchange="document.title = this.files[0].name">`,
	"/other":      `<title>other</title>`,
	"/report.txt": "the report\n",
}

// mustSayDone fails the test unless a program came to its end.
func mustSayDone(t *testing.T, out string) {
	t.Helper()
	if out != "done\n" {
		t.Errorf("the program printed %q", out)
	}
}

// TestClient drives a session with the real client.
func TestClient(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	t.Cleanup(func() { // after everything has ended
		if left := leftFolders(t); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
	mustSayDone(t, run(t, "client.mjs", serve(t, newDoor(Options{}), s), doortest.Site(t, site), t.TempDir()))
	if s.Status().Ended() {
		t.Error("the session ended with the client")
	}
}

// TestLongTemporaryFolder serves a client by a server whose folder for temporary files
// has a name that is too long for a socket in it.
func TestLongTemporaryFolder(t *testing.T) {
	s := doortest.Borrow(t, "")
	long, err := os.MkdirTemp("", strings.Repeat("long-", 20))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(long); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(long, 0o711); err != nil { // the process passes through it
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	dial(t, serve(t, newDoor(Options{}), s))
}

// leftFolders returns the folders of processes.
func leftFolders(t *testing.T) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// TestTakeover lets a client ask for a person. What it does meanwhile waits until the
// person, who opens a tab, has handed back.
func TestTakeover(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	address, pages := serve(t, newDoor(Options{}), s), doortest.Site(t, site)
	v, err := s.Join(session.ViewerOptions{Role: session.RoleControl, Name: "a person"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Leave()
	printed := make(chan string, 1)
	go func() { printed <- run(t, "takeover.mjs", address, pages) }()
	var asked *session.TakeoverInfo
	for asked == nil {
		m, err := v.NextMessage(browsertest.Context(t, "the takeover"))
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := m.(session.TakeoverMessage); ok {
			asked = m.Takeover
		}
	}
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	if err := v.OpenTab(t.Context(), pages+"/other"); err != nil {
		t.Fatal(err)
	}
	open, err := s.Takeover(asked.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	if err := open.Done("a person", ""); err != nil {
		t.Fatal(err)
	}
	mustSayDone(t, <-printed)
}

// systemPlaces are folders in which a server may keep files: that of temporary files, and
// those of programs and libraries.
var systemPlaces = []string{"", "/opt", "/usr/local/lib", "/usr/share"}

// serverFiles makes files that a server might keep, and returns what of them it hides.
// Everybody may read them, so that only the confinement holds the process back.
func serverFiles(t *testing.T) (files, hide []string) {
	t.Helper()
	for _, place := range confinetest.Places(t, systemPlaces...) {
		data, key := filepath.Join(place, "data"), filepath.Join(place, "key")
		if err := os.Mkdir(data, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{filepath.Join(data, "link-key"), key} {
			if err := os.WriteFile(file, []byte(`{"log":{"entries":[]}}`), 0o644); err != nil { // what the process would open
				t.Fatal(err)
			}
			files = append(files, file)
		}
		if !strings.HasPrefix(place, "/usr/share/") { // of which the process gets too little to read them
			hide = append(hide, data, key)
		}
	}
	return files, hide
}

// TestHostileClientAsOrdinaryUser repeats TestHostileClient as a server that has the same
// user as its processes.
func TestHostileClientAsOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, systemPlaces, "TestHostileClient")
}

// TestHostileClient asks the process for the server's files and network.
func TestHostileClient(t *testing.T) {
	reached := make(chan string, 100)
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.URL.Path }))
	var err error
	if service.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	service.Start()
	defer service.Close()
	files, hide := serverFiles(t)
	s := doortest.Session(t, session.CreateOptions{Hosts: egress.Hosts{Denied: []string{"denied.test", "127.0.0.1"}}})
	mustSayDone(t, run(t, "hostile.mjs", append([]string{serve(t, newDoor(Options{Hide: hide}), s), service.URL}, files...)...))
	select {
	case path := <-reached:
		t.Errorf("the process reached the server's loopback: %s", path)
	default:
	}
}

// dial connects a bare client.
func dial(t *testing.T, address string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(browsertest.Context(t, "connect"), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// closeOf reads until the connection ends and returns its close code and reason.
func closeOf(t *testing.T, conn *websocket.Conn) (websocket.StatusCode, string) {
	t.Helper()
	for {
		_, _, err := conn.Read(browsertest.Context(t, "the end of the connection"))
		if end, ok := errors.AsType[websocket.CloseError](err); ok {
			return end.Code, end.Reason
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMalformedMessages sends what is not Playwright's protocol.
func TestMalformedMessages(t *testing.T) {
	s := doortest.Borrow(t, "")
	address := serve(t, newDoor(Options{}), s)
	for message, want := range map[string]websocket.StatusCode{
		"{\"id\":1}\x00{\"id\":2}":             websocket.StatusInvalidFramePayloadData,
		"not JSON":                             websocket.StatusInternalError,
		strings.Repeat("[", 100_000):           websocket.StatusInternalError,
		"\xff\xfe":                             websocket.StatusInternalError,
		`{"id":1,"guid":"","method":"nothing"`: websocket.StatusInternalError,
	} {
		conn := dial(t, address)
		if err := conn.Write(t.Context(), websocket.MessageBinary, []byte(message)); err != nil {
			t.Fatal(err)
		}
		if code, reason := closeOf(t, conn); code != want {
			t.Errorf("%.40q: closed with %d %s, want %d", message, code, reason, want)
		}
	}
	if s.Status().Ended() {
		t.Error("the session ended")
	}
}

// TestEndOfSession releases the session of a client.
func TestEndOfSession(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	conn := dial(t, serve(t, newDoor(Options{}), s))
	if err := s.Release("enough"); err != nil {
		t.Fatal(err)
	}
	if code, reason := closeOf(t, conn); code != websocket.StatusNormalClosure || !strings.Contains(reason, "enough") {
		t.Errorf("closed with %d %q", code, reason)
	}
}

// TestProcessDies kills the process of a client. The session goes on, and other clients
// come.
func TestProcessDies(t *testing.T) {
	s := doortest.Borrow(t, "")
	address := serveWith(t, newDoor(Options{}), s, func(c *Client) { c.process.kill() })
	for range 2 {
		if code, reason := closeOf(t, dial(t, address)); code != websocket.StatusInternalError || reason != errProcess.Reason {
			t.Errorf("closed with %d %q", code, reason)
		}
	}
	if s.Status().Ended() {
		t.Error("the session ended")
	}
}

// TestBrowserDies kills the Chromium of a client, which may then connect again.
func TestBrowserDies(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	conn := dial(t, serve(t, newDoor(Options{}), s))
	doortest.KillChromium(t)
	if code, reason := closeOf(t, conn); code != websocket.StatusServiceRestart || reason != session.ErrBrowserLost.Error() {
		t.Errorf("closed with %d %q", code, reason)
	}
}

// TestStuckProcess stops a process, which then answers no ping.
func TestStuckProcess(t *testing.T) {
	s := doortest.Borrow(t, "")
	// On a busy machine, a process that is not stopped answers a ping late, too.
	address := serveWith(t, newDoor(Options{StallLimit: 10 * time.Second}), s, func(c *Client) {
		c.process.mu.Lock()
		defer c.process.mu.Unlock()
		if err := syscall.Kill(-c.process.pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
	})
	if code, reason := closeOf(t, dial(t, address)); code != socket.CloseStalled {
		t.Errorf("closed with %d %q", code, reason)
	}
}

// TestTooManyFiles lets a process have more files than it may.
func TestTooManyFiles(t *testing.T) {
	hits := limits.New()
	s := doortest.Borrow(t, "")
	address := serveWith(t, newDoor(Options{Files: 1 << 20, Limits: hits}), s, func(c *Client) {
		if err := c.folder.add("recording", io.LimitReader(rand.Reader, 2<<20)); err != nil {
			t.Error(err)
		}
	})
	if code, reason := closeOf(t, dial(t, address)); code != CloseFull || hits.Count(limits.PlaywrightFiles) != 1 {
		t.Errorf("closed with %d %q, counted %d", code, reason, hits.Count(limits.PlaywrightFiles))
	}
}

// TestClients checks how many clients may be connected, and that a client that has left
// makes room for another.
func TestClients(t *testing.T) {
	hits := limits.New()
	s := doortest.Borrow(t, "")
	d := newDoor(Options{Clients: 1, Limits: hits})
	first, err := d.Open(browsertest.Context(t, "the first client"), s, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(t.Context(), s, ""); !errors.Is(err, ErrFull) || hits.Count(limits.Playwright) != 1 {
		t.Errorf("a second client: %v", err)
	}
	first.Close()
	third, err := d.Open(browsertest.Context(t, "another client"), s, "")
	if err != nil {
		t.Fatal(err)
	}
	third.Close()
}

// TestNotInstalled checks what is said without Node, without the package, and with a
// package that cannot be used.
func TestNotInstalled(t *testing.T) {
	broken := t.TempDir()
	for path, mode := broken, os.FileMode(0o755); path != "/tmp" && path != "/"; path = filepath.Dir(path) {
		_ = os.Chmod(path, mode) // the process must reach it; folders of others may refuse
	}
	if err := os.WriteFile(filepath.Join(broken, "package.json"), []byte(`{"name":"playwright-core","version":"1.2.3"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s := doortest.Borrow(t, "")
	for _, tt := range []struct {
		name    string
		options Options
		want    error
	}{
		{"no Node", Options{Node: "/no/such/node"}, ErrNoNode},
		{"no package", Options{Folders: []string{t.TempDir()}}, ErrNoPackage},
		{"a broken package", Options{Folders: []string{broken}}, ErrUnusable},
	} {
		d := newDoor(tt.options)
		if _, err := d.Open(browsertest.Context(t, tt.name), s, ""); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := Check(tt.options.Node, d.options.Folders); !errors.Is(tt.want, ErrUnusable) && !errors.Is(err, tt.want) {
			t.Errorf("check with %s: %v", tt.name, err)
		}
	}
	if left := leftFolders(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestUnreadablePackage names a package that only root may read.
func TestUnreadablePackage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has files that the process's user may not read")
	}
	folder, err := os.MkdirTemp("/opt", "takeover-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"name":"playwright-core","version":"1.2.3"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDoor(Options{Folders: []string{folder}})
	_, err = d.Open(browsertest.Context(t, "the process"), doortest.Borrow(t, ""), "")
	if !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), "may not read "+folder) {
		t.Error(err)
	}
}

// TestChoose checks which installed package serves which client.
func TestChoose(t *testing.T) {
	root := t.TempDir()
	for folder, version := range map[string]string{"a": "1.64.2", "b": "1.65.1", "c": "1.65.0-beta-1", "d": "1.9.0", "e": "nonsense"} {
		path := filepath.Join(root, folder, "node_modules", packageName)
		if err := errors.Join(os.MkdirAll(path, 0o700), os.WriteFile(filepath.Join(path, "package.json"), []byte(`{"name":"playwright-core","version":"`+version+`"}`), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	packages := FindPackages([]string{root, root, "/no/such/folder"})
	var versions []string
	for _, p := range packages {
		versions = append(versions, p.Version)
	}
	if want := []string{"1.65.1", "1.65.0-beta-1", "1.64.2", "1.9.0"}; !slices.Equal(versions, want) {
		t.Fatalf("found %q, want %q", versions, want)
	}
	for agent, want := range map[string]string{
		"": "1.65.1", "curl/8": "1.65.1", "Playwright/unknown": "1.65.1",
		"Playwright/1.65.1 (x64; debian 13) node/20.20": "1.65.1", "Playwright/1.64.0 (arm64; macOS 15) python/3.13": "1.64.2", "Playwright/1.9.1": "1.9.0",
		"Playwright/1.6.0": "", "Playwright/1.66.0-next": "", "Playwright/2.65.0": "",
	} {
		got, err := choose(packages, agent)
		if mismatch, ok := errors.AsType[*VersionError](err); got.Version != want || (want == "") != ok || ok && !slices.Equal(mismatch.Installed, []string{"1.65", "1.64", "1.9"}) {
			t.Errorf("%q: %q, %v", agent, got.Version, err)
		}
	}
	if _, err := choose(nil, "Playwright/1.65.1"); !errors.Is(err, ErrNoPackage) {
		t.Errorf("without packages: %v", err)
	}
}
