package scripting_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"takeover/scripting"
)

// netSite serves the requests of the scripts below. It is one site as 127.0.0.1
// and another as localhost.
func netSite(t *testing.T) *httptest.Server {
	t.Helper()
	page := func(html string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, html)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", page(`<title>Start</title><body></body>`))
	mux.HandleFunc("/sub", page(`<link rel=stylesheet href=/a.css><script src=/a.js></script><img src=/none.png><iframe src=/inner></iframe>`))
	mux.HandleFunc("/inner", page(`<p>inside</p>`))
	mux.HandleFunc("/a.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		_, _ = io.WriteString(w, "a{}")
	})
	mux.HandleFunc("/a.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, "1")
	})
	mux.HandleFunc("/r1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("Location", "/r2")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/r2", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusMovedPermanently) })
	mux.HandleFunc("/204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="a.bin"`)
		_, _ = io.WriteString(w, "abc")
	})
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"a":1}`)
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s|%s|%s|%s", r.Method, r.URL, body, r.Header.Get("X-A"), r.Header.Get("X-B"), r.Header.Get("Referer"))
	})
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "ada" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		page(`<title>In</title>`)(w, r)
	})
	mux.HandleFunc("/socket", func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for {
			kind, data, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			if err := conn.Write(r.Context(), kind, append([]byte("echo "), data...)); err != nil {
				return
			}
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// netCase is a script that returns lines, and the expected lines.
type netCase struct{ name, code, want string }

// runNetwork runs scripts with args.url, the site; args.other, the same server as
// another site; and get(url), which fetches in the page.
func runNetwork(t *testing.T, cases []netCase) {
	t.Helper()
	s := netSite(t)
	other := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			code := fmt.Sprintf("const url = %q, other = %q;\n", s.URL, other) +
				"const get = u => page.evaluate(u => fetch(u).then(r => r.text(), e => e.message), u);\n" + c.code
			res := runIn(t, code)
			got := strings.NewReplacer(s.URL, "URL", other, "OTHER").Replace(string(res.Value))
			if res.Status != scripting.StatusSucceeded || got != c.want {
				t.Errorf("%s %v\n got %s\nwant %s", res.Status, res.Err, got, c.want)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	runNetwork(t, []netCase{
		{"redirects", `
			const seen = [];
			page.on('request', r => seen.push('request ' + r.url()));
			page.on('response', r => seen.push('response ' + r.status() + ' ' + (r.request().existingResponse() === r)));
			context.on('requestfinished', r => seen.push('finished ' + r.resourceType()));
			const response = await page.goto(url + '/r1#top');
			const last = response.request(), middle = last.redirectedFrom(), first = middle.redirectedFrom();
			await response.finished();
			return [...seen.slice(0, 8), response.url(), page.url(), last.redirectedTo(), middle.redirectedTo() === last, first.redirectedFrom(), (await first.response()).status(),
				(await (await first.response()).headersArray()).filter(h => h.name === 'Set-Cookie').map(h => h.value).join(), await (await first.response()).headerValue('set-cookie'),
				await (await first.response()).body().catch(e => e.message), last.isNavigationRequest(), last.frame() === page.mainFrame()]`,
			`["request URL/r1","response 302 true","finished document","request URL/r2","response 301 true","finished document","request URL/","response 200 true","URL/","URL/#top",null,true,null,302,` +
				`"a=1,b=2","a=1\nb=2","response.body: Response body is unavailable for redirect responses",true,true]`},
		{"navigations that bring nothing", `
			const out = [];
			page.on('requestfailed', r => out.push(r.failure().errorText));
			for (const path of ['/204', '/file'])
				await page.goto(url + path).catch(e => out.push(e.message.split('\n')[0]));
			out.push(await page.goto('about:blank'));
			await page.goto(url);
			out.push(await page.goto(url + '/#x'), await page.goto('data:text/html,hi'));
			return out`,
			`["net::ERR_ABORTED","page.goto: net::ERR_ABORTED at URL/204","net::ERR_ABORTED","page.goto: Download is starting",null,null,null]`},
		{"waitForNavigation gives the response of the event", `
			await page.goto(url);
			let heard;
			page.on('response', r => { heard = r; });
			const [response] = await Promise.all([page.waitForNavigation(), page.evaluate(() => { location.href = '/json'; })]);
			const [same] = await Promise.all([page.waitForNavigation(), page.evaluate(() => { location.hash = 'x'; })]);
			const again = await page.reload();
			return [response === heard || again === heard, response.url(), await again.json(), same, (await page.goBack())?.url() ?? null]`,
			`[true,"URL/json",{"a":1},null,null]`},
		{"what a request sends", `
			await page.goto(url);
			const [request] = await Promise.all([page.waitForRequest('**/echo'),
				page.evaluate(() => fetch('/echo', { method: 'POST', headers: { 'X-A': 'a', 'content-type': 'application/x-www-form-urlencoded' }, body: 'p=1&q=two' }))]);
			const response = await request.response();
			const sizes = await request.sizes();
			return [request.method(), request.resourceType(), request.headers()['x-a'], await request.headerValue('X-A'), (await request.allHeaders())['content-length'],
				request.postData(), request.postDataJSON(), request.postDataBuffer().length, request.failure(), response.status(), await response.text(),
				sizes.requestBodySize, sizes.responseBodySize > 20, sizes.responseHeadersSize > 50, request.timing().responseStart > 0, request.timing().responseEnd >= request.timing().responseStart,
				(await response.serverAddr()).ipAddress, await response.httpVersion(), response.fromServiceWorker(), await response.finished()]`,
			`["POST","fetch","a","a","9","p=1&q=two",{"p":"1","q":"two"},9,null,200,"POST /echo p=1&q=two|a||URL/",9,true,true,true,true,"127.0.0.1","HTTP/1.1",false,null]`},
		{"a page's requests", `
			await page.goto(url + '/sub', { waitUntil: 'networkidle' });
			const list = await page.requests();
			const inner = list.find(r => r.url().endsWith('/inner'));
			return [list.map(r => r.resourceType()).sort().join(), inner.frame() === page.frames()[1], (await inner.response()).status()]`,
			`["document,document,image,script,stylesheet",true,200]`},
		{"waiting", `
			await page.goto(url);
			const out = [];
			const wait = async p => { try { out.push((await p).url()); } catch (e) { out.push(e.name + ' ' + e.message); } };
			await wait(page.waitForRequest('**/x', { timeout: 50 }));
			await wait(page.waitForResponse(/nothing/, { timeout: 50 }));
			await wait(page.waitForRequest(async () => false, { timeout: 50 }));
			await Promise.all([wait(page.waitForRequest(() => { throw new Error('boo'); })), get('/json')]);
			await Promise.all([wait(page.waitForResponse(async r => (await r.text()).includes('"a":1'))), get('/echo'), get('/json')]);
			await Promise.all([wait(context.waitForEvent('requestfinished')), get('/json')]);
			return out`,
			`["TimeoutError page.waitForRequest: Timeout 50ms exceeded while waiting for event \"request\"\n=========================== logs ===========================\nwaiting for request \"**/x\"\n============================================================",` +
				`"TimeoutError page.waitForResponse: Timeout 50ms exceeded while waiting for event \"response\"\n=========================== logs ===========================\nwaiting for response /nothing/\n============================================================",` +
				`"TimeoutError page.waitForRequest: Timeout 50ms exceeded while waiting for event \"request\"","Error page.waitForRequest: boo","URL/json","URL/json"]`},
		{"bodies that are gone", `
			await page.goto(url);
			const [response] = await Promise.all([page.waitForResponse('**/json'), get('/json')]);
			await page.goto('about:blank');
			const second = await context.newPage();
			const closed = await second.goto(url);
			await second.close();
			return [await response.text().catch(e => e.message.split('\n')[1]), await closed.text().catch(e => e.message)]`,
			`["Response body is not available for a response that was navigated away from. Read response.body() before triggering any navigation.",` +
				`"response.text: Target page, context or browser has been closed"]`},
		{"headers, offline, credentials", `
			await context.setExtraHTTPHeaders({ 'x-a': 'context', 'X-B': 'context' });
			await page.setExtraHTTPHeaders({ 'x-b': 'page' });
			await page.goto(url);
			const out = [await get('/echo')];
			await context.setOffline(true);
			out.push(await get('/echo'), await page.evaluate(() => navigator.onLine), await page.goto(url).catch(e => e.message.split('\n')[0]));
			await context.setOffline(false);
			await context.setHTTPCredentials([{ username: 'x', password: 'y', origin: other }, { username: 'ada', password: 'secret' }]);
			out.push((await page.goto(url + '/auth')).status(), await page.title());
			return out`,
			`["GET /echo |context|page|URL/","Failed to fetch",false,"page.goto: net::ERR_INTERNET_DISCONNECTED at URL/",200,"In"]`},
	})
}

// TestAuthorizationStaysAtItsOrigin continues requests with headers of the
// script's own. A redirect to the same origin gets all of them, and one to another
// origin all but Authorization and Cookie, also behind further redirects.
func TestAuthorizationStaysAtItsOrigin(t *testing.T) {
	type hit struct{ path, authorization, cookie, own string }
	hits := make(chan hit, 100)
	var first, second string
	target := func(w http.ResponseWriter, r *http.Request) {
		hits <- hit{r.URL.Path + " " + r.URL.RawQuery, r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("X-Own")}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "x-own, authorization")
		_, _ = io.WriteString(w, "<p>arrived")
	}
	to := func(target *string, path string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			http.Redirect(w, r, *target+path+"?"+r.URL.RawQuery, http.StatusFound)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "start") })
	mux.HandleFunc("/target", target)
	mux.HandleFunc("/go/same", to(&first, "/target"))
	mux.HandleFunc("/go/other", to(&second, "/target"))
	mux.HandleFunc("/go/back", to(&second, "/back"))
	mux.HandleFunc("/back", to(&first, "/target"))
	one, other := httptest.NewUnstartedServer(mux), httptest.NewUnstartedServer(mux)
	first, second = "http://"+one.Listener.Addr().String(), "http://"+other.Listener.Addr().String() // before a handler reads them
	for _, server := range []*httptest.Server{one, other} {
		server.Start()
		t.Cleanup(server.Close)
	}
	res := runIn(t, fmt.Sprintf("const url = %q, other = %q;\n", first, second)+`
		await page.route('**/go/*', route => route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer mine', cookie: 'c=mine', 'x-own': 'mine' } }));
		for (const way of ['same', 'other', 'back']) {
			await page.goto(url + '/go/' + way + '?page');
			await page.goto(url);
			await page.evaluate(way => fetch('/go/' + way + '?fetch', { mode: 'no-cors' }).then(r => r.text()), way);
			await page.evaluate(way => new Promise(done => {
				const frame = document.createElement('iframe');
				frame.src = '/go/' + way + '?frame';
				frame.onload = done;
				document.body.append(frame);
			}), way);
		}
		await page.route('**/swap', route => route.continue({ url: other + '/back?swap', headers: { ...route.request().headers(), authorization: 'Bearer for the other one' } }));
		await page.goto(url + '/swap');`)
	if res.Status != scripting.StatusSucceeded {
		t.Fatal(res.Err)
	}
	for _, way := range []string{"same", "other", "back"} {
		for _, kind := range []string{"page", "fetch", "frame"} {
			got := <-hits
			want := hit{"/target " + kind, "", "", "mine"}
			if way == "same" {
				want.authorization = "Bearer mine"
			}
			if got != want {
				t.Errorf("%s: got %+v, want %+v", way, got, want)
			}
		}
	}
	if got, want := <-hits, (hit{"/target swap", "", "", ""}); got != want {
		t.Errorf("with another address: got %+v, want %+v", got, want)
	}
}

func TestRoutes(t *testing.T) {
	runNetwork(t, []netCase{
		{"fulfill", `
			await page.goto(url);
			await page.route('**/x', route => route.fulfill({ status: 201, headers: { 'X-A': 'b' }, contentType: 'text/plain', body: 'hello' }));
			await page.route('**/y', route => route.fulfill({ json: { a: [1] } }));
			const [response, text] = await Promise.all([page.waitForResponse('**/x'), get('/x')]);
			const [json] = await Promise.all([page.waitForResponse('**/y'), get('/y')]);
			return [text, response.status(), response.statusText(), response.headers(), await response.text(), json.headers(), await json.json()]`,
			`["hello",201,"Created",{"content-type":"text/plain","x-a":"b","content-length":"5"},"hello",{"content-type":"application/json","content-length":"9"},{"a":[1]}]`},
		{"abort", `
			await page.goto(url);
			const out = [];
			for (const code of [undefined, 'aborted', 'accessdenied', 'timedout', 'connectionreset', 'blockedbyclient']) {
				await page.route('**/x', route => route.abort(code), { times: 1 });
				const [request] = await Promise.all([page.waitForEvent('requestfailed'), get('/x')]);
				out.push(request.failure().errorText);
			}
			await page.route('**/y', route => route.abort());
			return [...out, await page.goto(url + '/y').catch(e => e.message.split('\n')[0])]`,
			`["net::ERR_FAILED","net::ERR_ABORTED","net::ERR_ACCESS_DENIED","net::ERR_TIMED_OUT","net::ERR_CONNECTION_RESET","net::ERR_BLOCKED_BY_CLIENT.Inspector","page.goto: net::ERR_FAILED at URL/y"]`},
		{"continue", `
			await page.goto(url);
			await page.route('**/x', route => route.continue({ url: url + '/echo?y', method: 'POST', postData: { z: 1 }, headers: { ...route.request().headers(), 'X-A': 'added', referer: 'no' } }));
			const out = [];
			await page.route('**/bad', async route => {
				await route.continue({ url: 'https://localhost/' }).catch(e => out.push(e.message));
				await route.continue().catch(e => out.push(e.message));
			});
			get('/bad').catch(() => {});
			await page.waitForEvent('request');
			const [response, text] = await Promise.all([page.waitForResponse('**/echo?y'), get('/x')]);
			return [text, response.request().method(), response.request().postData(), ...out]`,
			`["POST /echo?y {\"z\":1}|added||URL/","POST","{\"z\":1}","route.continue: New URL must have same protocol as overridden URL","route.continue: Route is already handled!"]`},
		{"order, fallback and times", `
			await page.goto(url);
			const order = [];
			await context.route('**/x', route => { order.push('context'); return route.fulfill({ body: route.request().method() + ' ' + route.request().postData() }); });
			await page.route('**/x', route => { order.push('first'); return route.fallback({ method: 'PUT', postData: 'changed' }); });
			await page.route(u => u.pathname === '/x', route => { order.push('predicate'); return route.fallback(); });
			await page.route(/x$/, (route, request) => { order.push('once ' + (request === route.request())); return route.fallback(); }, { times: 1 });
			const first = await get('/x');
			const second = await get('/x');
			await page.unrouteAll();
			return [first, second, await get('/x'), order]`,
			`["PUT changed","PUT changed","GET null",["once true","predicate","first","context","predicate","first","context","context"]]`},
		{"handled twice", `
			await page.goto(url);
			const out = [];
			await page.route('**/x', async route => {
				await route.fulfill({ body: 'a' });
				for (const method of ['fulfill', 'continue', 'abort', 'fallback'])
					await route[method]().catch(e => out.push(e.message));
			});
			return [await get('/x'), ...out]`,
			`["a","Route is already handled!","Route is already handled!","Route is already handled!","Route is already handled!"]`},
		{"redirects are not routed, their headers are", `
			const seen = [];
			await page.route('**/*', route => { seen.push(route.request().url()); return route.continue({ headers: { ...route.request().headers(), 'x-a': '1' } }); });
			const response = await page.goto(url + '/r1');
			return [response.url(), seen, (await response.request().allHeaders())['x-a']]`,
			`["URL/",["URL/r1"],"1"]`},
		{"another site", `
			await page.goto(url);
			await page.route('**/x', route => route.fulfill({ body: 'answered' }));
			const put = await page.evaluate(u => fetch(u, { method: 'PUT', headers: { 'x-a': '1' } }).then(r => r.text(), e => e.message), other + '/x');
			return [await get(other + '/x'), put]`,
			`["answered","answered"]`},
		{"popups and frames of other sites from the first request", `
			const kinds = [];
			await context.route('**/page', route => {
				kinds.push(route.request().isNavigationRequest());
				return route.fulfill({ contentType: 'text/html', body: '<title>Routed</title><script>fetch("/x").then(r => r.text()).then(t => { document.title += t; })</script>' });
			});
			await context.route('**/x', route => route.fulfill({ body: ' twice' }));
			await page.goto(url);
			const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { window.open('/page'); })]);
			await popup.waitForFunction(() => document.title === 'Routed twice');
			await page.evaluate(u => { const f = document.createElement('iframe'); f.src = u; document.body.append(f); return new Promise(r => { f.onload = r; }); }, other + '/page');
			await page.frames()[1].waitForFunction(() => document.title === 'Routed twice');
			return kinds`,
			`[true,true]`},
		{"unroute", `
			await page.goto(url);
			const out = [];
			const handler = route => route.fulfill({ body: 'routed' });
			await page.route('**/json', handler);
			await page.route(/json$/, handler);
			await page.unroute('**/json', () => {});
			out.push(await get('/json'));
			await page.unroute(/json$/);
			out.push(await get('/json'));
			await page.unroute('**/json', handler);
			out.push(await get('/json'));
			let began, go;
			const started = new Promise(resolve => { began = resolve; });
			const gate = new Promise(resolve => { go = resolve; });
			await page.route('**/json', async route => { began(); await gate; await route.fulfill({ body: 'late' }); out.push('filled'); });
			const text = get('/json');
			await started;
			const unrouted = page.unrouteAll({ behavior: 'wait' }).then(() => out.push('unrouted'));
			go();
			await unrouted;
			out.push(await text);
			await page.route('**/json', async route => { await route.fallback(); throw new Error('ignored'); });
			const last = get('/json');
			await page.waitForRequest('**/json');
			await page.unrouteAll({ behavior: 'ignoreErrors' });
			return [...out, await last]`,
			`["routed","routed","{\"a\":1}","filled","unrouted","late","{\"a\":1}"]`},
		{"a page that closes", `
			const second = await context.newPage();
			let say;
			const said = new Promise(resolve => { say = resolve; });
			await second.route('**/*', async route => { await second.close(); await route.continue(); say('no error'); });
			second.goto(url).catch(() => {});
			return said`,
			`"no error"`},
	})
}

func TestWebSockets(t *testing.T) {
	const talk = `
			const talk = (address, ...messages) => page.evaluate(([address, messages]) => new Promise(resolve => {
				const heard = [];
				const ws = new WebSocket(address);
				ws.binaryType = 'arraybuffer';
				ws.onopen = () => messages.forEach(m => ws.send(m));
				ws.onmessage = e => {
					heard.push(typeof e.data === 'string' ? e.data : e.data.byteLength);
					if (heard.length === messages.length)
						ws.close(1000, 'enough');
				};
				ws.onclose = e => resolve([...heard, 'closed ' + e.code]);
			}), [address, messages]);
			const socket = url.replace('http', 'ws') + '/socket';
			await page.goto(url);
`
	runNetwork(t, []netCase{
		{"events", talk + `
			const out = [];
			page.on('websocket', ws => {
				out.push(ws.url() === socket, ws.isClosed());
				ws.on('framesent', ({ payload }) => out.push('sent ' + payload));
				ws.on('framereceived', ({ payload }) => out.push('received ' + payload));
			});
			const [ws] = await Promise.all([page.waitForEvent('websocket').then(async ws => { await ws.waitForEvent('close'); return ws; }), talk(socket, 'a')]);
			return [...out, ws.isClosed(), await ws.waitForEvent('framesent', { timeout: 20 }).catch(e => e.message)]`,
			`[true,false,"sent a","received echo a",true,"webSocket.waitForEvent: Timeout 20ms exceeded while waiting for event \"framesent\""]`},
		{"a mocked server", talk + `
			const out = [];
			await page.routeWebSocket('**/mocked', ws => {
				out.push(ws.url(), ws.protocols());
				ws.onMessage(m => ws.send(m === 'bytes' ? Buffer.from([1, 2, 3]) : 'got ' + m));
				ws.onClose((code, reason) => { out.push(code, reason); ws.close({ code, reason }); });
			});
			return [await talk('ws://none.test/mocked', 'x', 'bytes'), ...out, await talk(socket, 'passed through')]`,
			`[["got x",3,"closed 1000"],"ws://none.test/mocked",[],1000,"enough",1000,"enough",["echo passed through","closed 1000"]]`},
		{"between page and server", talk + `
			await context.routeWebSocket(/socket$/, ws => {
				const server = ws.connectToServer();
				ws.onMessage(m => server.send(m + '!'));
				server.onMessage(m => ws.send(m + '?'));
			});
			await context.routeWebSocket(/never$/, () => {});
			return talk(socket, 'a', 'b')`,
			`["echo a!?","echo b!?","closed 1000"]`},
	})
}
