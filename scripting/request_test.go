package scripting_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"takeover/scripting"
)

// apiSite answers each request with a description of it.
func apiSite() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("X-Twice", "1")
		w.Header().Add("X-Twice", "2")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"method": r.Method, "url": r.URL.String(), "body": string(body), "type": r.Header.Get("Content-Type"),
			"cookie": r.Header.Get("Cookie"), "own": r.Header.Get("X-Own"), "agent": r.UserAgent(), "auth": r.Header.Get("Authorization"),
		})
	})
	mux.HandleFunc("/set", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "a=1; Path=/")
		w.Header().Add("Set-Cookie", "b=2; Path=/; HttpOnly; SameSite=Strict")
		http.Redirect(w, r, "/after", http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(`{"zipped":true}`))
		_ = z.Close()
	})
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("plain é")) })
	mux.HandleFunc("/500", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("broken"))
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("0123456789", 50_000)))
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	return mux
}

// evaluates runs cases in one script. Each is an expression with its value as
// JSON.
func evaluates(t *testing.T, handler http.Handler, setup string, cases [][2]string) {
	t.Helper()
	var code strings.Builder
	code.WriteString(`const fails = async f => { try { return ['no error', await f()] } catch (e) { return e.name + ': ' + e.message.replaceAll(args.url, 'URL') } };
		const show = async f => { try { return await f() } catch (e) { return 'threw ' + e } };
		` + setup + "\nreturn [\n")
	for _, c := range cases {
		fmt.Fprintf(&code, "await show(async () => (%s)),\n", c[0])
	}
	code.WriteString("]")
	res := runOn(t, handler, code.String(), &logs{})
	if res.Status != scripting.StatusSucceeded {
		t.Fatalf("%s: %+v", res.Status, res.Err)
	}
	var got []json.RawMessage
	if err := json.Unmarshal(res.Value, &got); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if string(got[i]) != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got[i], c[1])
		}
	}
}

func TestRequestBodies(t *testing.T) {
	evaluates(t, apiSite(), `
		const sent = async (options, method = 'post') => { const r = await (await request[method](args.url + '/x', options)).json(); return [r.method, r.type, r.body] };
		const url = async (path, options) => (await (await request.get(args.url + path, options)).json()).url;
		const form = new FormData(); form.append('a', '1'); form.append('f', new File(['abc'], 'q"q.txt', { type: 'text/x' }));
		const parts = async options => { const [, type, body] = await sent(options); const b = type.split('boundary=')[1]; return [type.split(';')[0], body.replaceAll(b, 'B').replaceAll('\r\n', '|')] };
	`, [][2]string{
		{`await sent({ data: { a: [1] } })`, `["POST","application/json","{\"a\":[1]}"]`},
		{`await sent({ data: 'text' }, 'put')`, `["PUT","application/octet-stream","text"]`},
		{`await sent({ data: 'text', headers: { 'Content-Type': 'application/json' } }, 'patch')`, `["PATCH","application/json","\"text\""]`},
		{`await sent({ data: '{"a":1}', headers: { 'content-type': 'application/json; charset=utf-8' } }, 'delete')`, `["DELETE","application/json; charset=utf-8","{\"a\":1}"]`},
		{`await sent({ data: Buffer.from('bytes') })`, `["POST","application/octet-stream","bytes"]`},
		{`await sent({ data: 5 })`, `["POST","application/json","5"]`},
		{`await sent({ data: null })`, `["POST","application/json","null"]`},
		{`await sent({ form: { a: 1, b: 'x y&', c: true } })`, `["POST","application/x-www-form-urlencoded","a=1&b=x+y%26&c=true"]`},
		{`await parts({ multipart: { a: 1, f: { name: 'f.txt', mimeType: 'text/plain', buffer: Buffer.from('hi') } } })`,
			`["multipart/form-data","--B|content-disposition: form-data; name=\"a\"||1|--B|content-disposition: form-data; name=\"f\"; filename=\"f.txt\"|content-type: text/plain||hi|--B--|"]`},
		{`await parts({ multipart: form })`,
			`["multipart/form-data","--B|content-disposition: form-data; name=\"a\"||1|--B|content-disposition: form-data; name=\"f\"; filename=\"q%22q.txt\"|content-type: text/x||abc|--B--|"]`},
		{`await url('/x?z=1', { params: { a: 1, b: 'x y', c: true, d: undefined } })`, `"/x?z=1&a=1&b=x+y&c=true"`},
		{`await url('/x', { params: '?a=1&b=2' })`, `"/x?a=1&b=2"`},
		{`await url('/x?z=1', { params: new URLSearchParams([['q', '1'], ['q', '2 3']]) })`, `"/x?z=1&q=1&q=2+3"`},
		{`(await request.head(args.url + '/x')).status()`, `200`},
		{`await fails(() => request.post(args.url, { data: 'a', form: { b: 1 } }))`, `"Error: apiRequestContext.post: Only one of 'data', 'form' or 'multipart' can be specified"`},
		{`await fails(() => request.post(args.url, { data: () => 1 }))`, `"Error: apiRequestContext.post: Unexpected 'data' type"`},
		{`await fails(() => request.post(args.url, { form }))`, `"Error: apiRequestContext.post: Expected string for options.form[\"f\"], found File. Please use options.multipart instead."`},
		{`await fails(() => request.get('/relative'))`, `"TypeError: apiRequestContext.get: Invalid URL"`},
		{`await fails(() => request.get())`, `"Error: apiRequestContext.get: First argument must be either URL string or Request"`},
		{`await fails(() => request.get(args.url, { headers: { a: 1 } }))`, `"Error: apiRequestContext.get: headers[0].value: expected string, got number"`},
		{`await fails(() => request.get(args.url, { maxRedirects: -1 }))`, `"Error: apiRequestContext.get: 'maxRedirects' must be greater than or equal to '0'"`},
	})
}

func TestRequestResponses(t *testing.T) {
	evaluates(t, apiSite(), ``, [][2]string{
		{`await request.get(args.url + '/text').then(async r => [r.constructor.name, r.status(), r.statusText(), r.ok(), r.url().replace(args.url, ''), await r.text(), (await r.body()).length, Buffer.isBuffer(await r.body())])`,
			`["APIResponse",200,"OK",true,"/text","plain é",8,true]`},
		{`(await (await request.get(args.url + '/gzip')).json()).zipped`, `true`},
		{`(await (await request.get(args.url + '/big')).text()).length`, `500000`},
		{`await request.get(args.url + '/x').then(r => [r.headers()['x-twice'], r.headersArray().filter(h => h.name === 'X-Twice').map(h => h.value)])`, `["1, 2",["1","2"]]`},
		{`await request.get(args.url + '/500').then(r => [r.status(), r.statusText(), r.ok()])`, `[500,"Internal Server Error",false]`},
		{`await request.get(args.url + '/x').then(async r => [(await r.serverAddr()).ipAddress, await r.securityDetails(), Object.keys(r.timing()).length, r.timing().responseEnd > 0])`, `["127.0.0.1",null,9,true]`},
		{`(await fails(() => request.get(args.url + '/500', { failOnStatusCode: true }))).split('\nCall log:\n')[0]`, `"Error: apiRequestContext.get: 500 Internal Server Error\nResponse text:\nbroken"`},
		{`await fails(async () => { const r = await request.get(args.url + '/text'); await r.dispose(); await r.text() })`, `"Error: apiResponse.text: Response has been disposed"`},
		{`(await fails(() => request.get(args.url + '/loop', { maxRedirects: 2 }))).split('\n').slice(0, 3)`, `["Error: apiRequestContext.get: Max redirect count exceeded","Call log:","  - → GET URL/loop"]`},
		{`(await request.get(args.url + '/loop', { maxRedirects: 0 })).status()`, `302`},
		{`(await fails(() => request.get(args.url + '/hang', { timeout: 1000 }))).split('\n').slice(0, 3)`, `["TimeoutError: apiRequestContext.get: Timeout 1000ms exceeded.","Call log:","  - → GET URL/hang"]`},
		{`(await fails(() => request.get('http://127.0.0.1:1/'))).split('\n')[0]`, `"Error: apiRequestContext.get: connect ECONNREFUSED 127.0.0.1:1"`},
		{`(await fails(async () => (await request.get(args.url + '/text')).json())).split(':')[0]`, `"SyntaxError"`},
	})
}

func TestRequestContexts(t *testing.T) {
	evaluates(t, apiSite(), `
		const { request: api } = require('playwright');
		const names = async c => (await c.cookies()).map(c => c.name + '=' + c.value + (c.httpOnly ? ' httpOnly' : '') + ' ' + c.sameSite);
		await context.addCookies([{ name: 'mine', value: '0', url: args.url }]);
	`, [][2]string{
		{`[request === context.request, request === page.request, request.constructor.name]`, `[true,true,"APIRequestContext"]`},
		{`(await (await request.get(args.url + '/set')).json()).cookie`, `"mine=0; a=1; b=2"`},
		{`await names(context)`, `["mine=0 Lax","a=1 Lax","b=2 httpOnly Strict"]`},
		{`await page.goto(args.url + '/text').then(() => page.evaluate(() => document.cookie))`, `"mine=0; a=1"`},
		{`await page.evaluate(() => { document.cookie = 'page=3' }).then(async () => (await (await page.request.get(args.url + '/x')).json()).cookie)`, `"mine=0; a=1; b=2; page=3"`},
		{`await context.clearCookies({ name: /^(a|page)$/ }).then(() => names(context))`, `["mine=0 Lax","b=2 httpOnly Strict"]`},
		{`await context.clearCookies().then(() => names(context))`, `[]`},
		{`await api.newContext({ baseURL: args.url, extraHTTPHeaders: { 'x-own': 'v' }, userAgent: 'me', httpCredentials: { username: 'u', password: 'p', send: 'always' } }).then(async c => {
			const got = await (await c.get('/set')).json(); return [got.cookie, got.own, got.agent, got.auth, (await c.storageState()).cookies.length, await names(c), (await context.cookies()).length] })`,
			`["a=1; b=2","v","me","Basic dTpw",2,["a=1 Lax","b=2 httpOnly Strict"],0]`},
		{`await fails(async () => { const c = await api.newContext(); await c.dispose(); await c.get(args.url) })`, `"Error: apiRequestContext.get: Target page, context or browser has been closed"`},
		{`await fails(async () => { const c = await api.newContext(); await c.dispose({ reason: 'enough' }); await c.get(args.url) })`, `"Error: apiRequestContext.get: enough"`},
		{`await fails(() => context.addCookies([{ name: 'a', value: 'b' }]))`, `"Error: browserContext.addCookies: Cookie should have a url or a domain/path pair"`},
		{`await fails(() => context.addCookies([{ name: 'a', value: 'b', url: 'about:blank' }]))`, `"Error: browserContext.addCookies: Blank page can not have cookie \"a\""`},
		{`await fails(() => context.addCookies([{ name: 'a', value: 1, url: 'about:blank' }]))`, `"Error: browserContext.addCookies: cookies[0].value: expected string, got number"`},
	})
}

func TestFetchGlobal(t *testing.T) {
	evaluates(t, apiSite(), ``, [][2]string{
		{`await fetch(args.url + '/text').then(async r => [r.constructor.name, r.status, r.ok, r.redirected, r.headers.get('content-type'), await r.text(), r.bodyUsed])`, `["Response",200,true,false,"text/plain; charset=utf-8","plain é",true]`},
		{`await fetch(args.url + '/x', { method: 'post', body: JSON.stringify({ a: 1 }), headers: { 'Content-Type': 'application/json', 'X-Own': 'o' } }).then(r => r.json()).then(r => [r.method, r.type, r.body, r.own, r.cookie])`, `["POST","application/json","{\"a\":1}","o",""]`},
		{`await fetch(new Request(args.url + '/x', { method: 'PUT', body: new URLSearchParams({ a: 'b c' }) })).then(r => r.json()).then(r => [r.method, r.type, r.body])`, `["PUT","application/x-www-form-urlencoded;charset=UTF-8","a=b+c"]`},
		{`await fetch(args.url + '/set').then(r => [r.redirected, r.url.replace(args.url, '')])`, `[true,"/after"]`},
		{`await fetch(args.url + '/set', { redirect: 'manual' }).then(r => [r.status, r.headers.getSetCookie().length])`, `[302,2]`},
		{`(await (await fetch(args.url + '/big')).arrayBuffer()).byteLength`, `500000`},
		{`await fails(() => fetch('http://127.0.0.1:1/'))`, `"TypeError: fetch failed"`},
		{`await fails(() => fetch('/relative'))`, `"TypeError: Failed to parse URL from /relative"`},
		{`await fails(() => fetch(args.url + '/hang', { signal: AbortSignal.timeout(30) }))`, `"TimeoutError: The operation was aborted due to timeout"`},
		{`await new Response(new Blob(['a', new Uint8Array([98])])).text()`, `"ab"`},
		{`[...new Headers([['B', '2'], ['a', '1'], ['b', '3']])]`, `[["a","1"],["b","2, 3"]]`},
	})
}
