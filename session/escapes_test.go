package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/egress"
)

// escapePage has a function for each way in which a page may try to reach an
// address, and answers of its own for the workers.
const escapePage = `<!doctype html><title>ways</title><body><script>
const add = (tag, more) => document.body.append(Object.assign(document.createElement(tag), more));
const ignore = () => {};
const ways = {
	image: url => add('img', {src: url}),
	frame: url => add('iframe', {src: url}),
	script: url => add('script', {src: url}),
	style: url => add('link', {rel: 'stylesheet', href: url}),
	font: url => new FontFace('x', 'url(' + url + ')').load().catch(ignore),
	video: url => add('video', {src: url, preload: 'auto'}),
	object: url => add('object', {data: url}),
	form: url => { const f = Object.assign(document.createElement('form'), {action: url, method: 'post', target: '_blank'}); document.body.append(f); f.submit(); },
	fetch: url => void fetch(url, {mode: 'no-cors'}).catch(ignore),
	keepalive: url => void fetch(url, {mode: 'no-cors', keepalive: true, method: 'POST', body: 'x'}).catch(ignore),
	xhr: url => { const x = new XMLHttpRequest(); x.open('GET', url); x.onerror = ignore; x.send(); },
	beacon: url => void navigator.sendBeacon(url, 'x'),
	events: url => void new EventSource(url),
	socket: url => void new WebSocket(url.replace('http', 'ws')),
	redirect: url => void fetch('/redirect?to=' + encodeURIComponent(url), {mode: 'no-cors'}).catch(ignore),
	worker: url => void new Worker('/worker.js?to=' + encodeURIComponent(url)),
	shared: url => void new SharedWorker('/worker.js?shared&to=' + encodeURIComponent(url)),
	service: url => void navigator.serviceWorker.register('/service.js?to=' + encodeURIComponent(url), {scope: '/' + Math.random()}).catch(ignore),
	popup: url => void open(url),
	turn: url => {
		const {host} = new URL(url);
		const peer = new RTCPeerConnection({iceServers: [{urls: 'turn:' + host + '?transport=tcp', username: 'a', credential: 'b'}]});
		peer.createDataChannel('x');
		peer.createOffer().then(offer => peer.setLocalDescription(offer));
	},
};
</script>`

// waysOfScripts are those of a script: code in which TO is the address.
var waysOfScripts = map[string]string{
	"goto":            `await page.goto(TO)`,
	"request":         `await page.request.get(TO)`,
	"own request":     `await request.get(TO)`,
	"plain fetch":     `await fetch(TO)`,
	"request's proxy": `const { request: api } = require('playwright'); const c = await api.newContext({proxy: {server: TO}}); await c.get('http://elsewhere.test/')`,
	"context's proxy": `const c = await browser.newContext({proxy: {server: TO}}); await (await c.newPage()).goto('http://elsewhere.test/')`,
	"socks proxy":     `const c = await browser.newContext({proxy: {server: TO.replace('http', 'socks5')}}); await (await c.newPage()).goto('http://elsewhere.test/')`,
	"continue":        `await page.route('**/x', r => r.continue({url: TO})); await page.evaluate(() => fetch('/x'))`,
}

// forbidden opens a listener at an address that the session may not reach, and
// returns its port. A connection fails the test.
func forbidden(t *testing.T, what string) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			t.Errorf("%s reached an address that it may not reach", what)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		served.Wait()
	})
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}

// TestEscapes tries every way in which pages and scripts could reach an address that
// the session may not reach: by the address itself, and by a name that resolves to
// it. Each is refused with an event.
func TestEscapes(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		case "/worker.js", "/service.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "fetch(%q, {mode: 'no-cors'}).catch(() => {})", to)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, escapePage)
		}
	}))
	t.Cleanup(page.Close)
	policy, err := egress.NewPolicy(egress.Options{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	if err != nil {
		t.Fatal(err)
	}
	m := startManager(t, Options{WarmBrowsers: -1, Egress: policy, Resolver: alwaysResolver(t, [4]byte{127, 0, 0, 2})})
	s := create(t, m, CreateOptions{})
	if _, err := s.StartCapture(browsertest.Context(t, "capture"), capture.Config{}); err != nil {
		t.Fatal(err)
	}
	refused := refusals(t, s)
	names := resultOf[[]string](t, startRun(t, s, fmt.Sprintf(`await page.goto(%q); return await page.evaluate('Object.keys(ways)')`, page.URL)))
	if len(names) < 20 {
		t.Fatalf("the page knows %q", names)
	}
	for _, host := range []string{"127.0.0.2", "rebind.test"} {
		for _, name := range names {
			if name == "service" && host == "rebind.test" {
				continue // the browser runs an identical worker once
			}
			t.Run("page/"+name+"/"+host, func(t *testing.T) {
				port := forbidden(t, name)
				code := fmt.Sprintf(`const [page] = context.pages(); await page.evaluate(([way, to]) => ways[way](to), [%q, %q])`, name, "http://"+net.JoinHostPort(host, port)+"/x")
				if info := endOf(t, startRun(t, s, code)); info.Status != RunSucceeded {
					t.Fatalf("%+v", info.Error)
				}
				refused(t, port, host)
			})
		}
		for name, code := range waysOfScripts {
			t.Run("script/"+name+"/"+host, func(t *testing.T) {
				port := forbidden(t, name)
				to, _ := json.Marshal("http://" + net.JoinHostPort(host, port))
				code = fmt.Sprintf("await page.goto(%q); %s", page.URL, strings.ReplaceAll(code, "TO", string(to)))
				_ = endOf(t, startRun(t, s, code)) // it may fail in its own way
				refused(t, port, host)
			})
		}
	}
	t.Run("udp", func(t *testing.T) { noDatagrams(t, s, page.URL) })
}

// refusals returns a function that waits for the event of a refused port.
func refusals(t *testing.T, s *Session) func(t *testing.T, port, host string) {
	t.Helper()
	reader := s.Monitor().Ring().Read(0).Filter(capture.Filter{Types: []string{capture.TypeEgressBlocked}})
	return func(t *testing.T, port, host string) {
		t.Helper()
		for {
			ev, err := reader.Next(browsertest.Context(t, "egress_blocked"))
			if err != nil {
				t.Fatal(err)
			}
			var data struct {
				Host, Address, Reason string
				Port                  json.Number
			}
			if err := json.Unmarshal(ev.Data, &data); err != nil {
				t.Fatal(err)
			}
			if data.Port.String() != port {
				continue // Chromium repeats some requests
			}
			if data.Host != host || data.Address != "127.0.0.2" || data.Reason != string(egress.ReasonLoopback) {
				t.Errorf("event %s", ev.Data)
			}
			return
		}
	}
}

// noDatagrams checks that WebRTC sends no datagram, even to an address that the
// session may reach.
func noDatagrams(t *testing.T, s *Session, address string) {
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	found := resultOf[string](t, startRun(t, s, fmt.Sprintf(`await page.goto(%q); return await page.evaluate(async server => {
		const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:' + server}, {urls: 'turn:' + server, username: 'a', credential: 'b'}]});
		peer.createDataChannel('x');
		const gathered = new Promise(done => peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done());
		await peer.setLocalDescription(await peer.createOffer());
		await gathered;
		return peer.localDescription.sdp;
	}, %q)`, address, conn.LocalAddr().String())))
	if strings.Contains(found, "a=candidate") {
		t.Errorf("candidates: %s", found)
	}
	if err := conn.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, from, err := conn.ReadFrom(make([]byte, 1500)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes from %v, %v", n, from, err)
	}
}

// alwaysResolver returns a resolver for which every name has the same address.
func alwaysResolver(t *testing.T, ip [4]byte) *net.Resolver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: ip}}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	})
	t.Cleanup(func() {
		_ = conn.Close()
		served.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestProxyOfContext gives contexts of a script proxies with a password.
func TestProxyOfContext(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s for %s</title>", r.URL, r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(proxy.Close)
	near := site(t)
	s := borrow(t, "")
	u, err := url.Parse(near)
	if err != nil {
		t.Fatal(err)
	}
	got := resultOf[[]string](t, startRun(t, s, fmt.Sprintf(`
		const own = await browser.newContext({proxy: {server: %q, username: 'ann', password: 'pass', bypass: %q}});
		const page2 = await own.newPage();
		const titles = [];
		for (const at of ['http://far.test/x', %q]) {
			await page2.goto(at);
			titles.push(await page2.title());
		}
		titles.push(await (await own.request.get('http://far.test/y')).text());
		await page.goto(%[3]q);
		titles.push(await page.title());
		return titles;
	`, proxy.URL, u.Hostname(), near+"/near")))
	want := []string{"http://far.test/x for Basic YW5uOnBhc3M=", "Page near", "<title>http://far.test/y for Basic YW5uOnBhc3M=</title>", "Page near"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestProxyOfContextEnds checks that the address of a context's proxy is closed with
// the context, also when the script leaves that to its end.
func TestProxyOfContextEnds(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>by proxy</title>")
	}))
	t.Cleanup(proxy.Close)
	s := borrow(t, "")
	code := `
		const open = async name => {
			const own = await browser.newContext({proxy: {server: '` + proxy.URL + `', username: name}});
			const page = await own.newPage();
			await page.goto('http://far.test/');
			if (await page.title() !== 'by proxy') throw Error(await page.title());
			return own;
		};
		const first = await open('ann'), second = await open('ann');
		await first.close();
		await (await second.newPage()).goto('http://far.test/'); // it has the same proxy
		await second.close();
		await open('bob');
		console.log('opened');
	`
	run := startRun(t, s, code+"await new Promise(() => {})")
	logged(t, run)
	if open := furtherListeners(t); len(open) != 1 {
		t.Errorf("while one context is open, these are: %v", open)
	}
	run.Cancel()
	endOf(t, run)
	if open := furtherListeners(t); len(open) != 0 {
		t.Errorf("after the script these are open: %v", open)
	}
}

// furtherListeners returns the addresses of loopback besides 127.0.0.1 on which this
// process listens. It asks the sockets: the kernel's table is not one moment's.
func furtherListeners(t *testing.T) (found []netip.AddrPort) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		fd, err := strconv.Atoi(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		address, err := unix.Getsockname(fd)
		if err != nil {
			continue // it is no socket, or was closed meanwhile
		}
		at, ok := address.(*unix.SockaddrInet4)
		listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		if ok && err == nil && listens == 1 && at.Addr[0] == 127 && at.Addr != [4]byte{127, 0, 0, 1} {
			found = append(found, netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port)))
		}
	}
	return found
}

// TestHostsOfSession narrows what one session may reach.
func TestHostsOfSession(t *testing.T) {
	near := site(t)
	named := strings.Replace(near, "127.0.0.1", "localhost", 1)
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{Hosts: egress.Hosts{Allowed: []string{"localhost", "*.test"}, Denied: []string{"bad.test"}}})
	for address, why := range map[string]string{named + "/x": "", near + "/x": "only hosts on a list", "http://bad.test/": "on a list of hosts that are not opened"} {
		info := endOf(t, startRun(t, s, fmt.Sprintf(`await page.goto(%q)`, address)))
		if why == "" && info.Status != RunSucceeded || why != "" && (info.Error == nil || !strings.Contains(info.Error.Message, why)) {
			t.Errorf("%s: %s %+v", address, info.Status, info.Error)
		}
	}
	if _, err := m.Create(browsertest.Context(t, "create"), CreateOptions{URL: near, Hosts: egress.Hosts{Denied: []string{"127.0.0.0/8"}}}); err == nil || !strings.Contains(err.Error(), "url") {
		t.Errorf("a first address on the session's own list: %v", err)
	}
}
