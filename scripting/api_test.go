package scripting

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSelectors checks that locators become Playwright's selectors.
func TestSelectors(t *testing.T) {
	p := newPool(t, Limits{})
	cases := []struct{ code, want string }{
		{`page.locator('#a')`, `#a`},
		{`page.locator('#a', { hasText: 'x "y"' })`, `#a >> internal:has-text="x \"y\""i`},
		{`page.locator('#a', { hasText: /x\/"y">>z/i })`, `#a >> internal:has-text=/x\/\"y\"\>\>z/i`},
		{`page.locator('#a', { hasNotText: 'n', has: page.locator('b'), hasNot: page.getByText('c') })`, `#a >> internal:has-not-text="n"i >> internal:has="b" >> internal:has-not="internal:text=\"c\"i"`},
		{`page.locator('a').locator('b')`, `a >> b`},
		{`page.locator('a').locator(page.locator('b'))`, `a >> internal:chain="b"`},
		{`page.locator('a').filter({ hasText: 'x', visible: true })`, `a >> internal:has-text="x"i >> visible=true`},
		{`page.locator('a').and(page.locator('b')).or(page.getByTestId('c'))`, `a >> internal:and="b" >> internal:or="internal:testid=[data-testid=\"c\"s]"`},
		{`page.locator('a').first().last().nth(3)`, `a >> nth=0 >> nth=-1 >> nth=3`},
		{`page.getByText('Hello')`, `internal:text="Hello"i`},
		{`page.getByText('Hello', { exact: true })`, `internal:text="Hello"s`},
		{`page.getByText(/he"llo/u)`, `internal:text=/he"llo/u`},
		{`page.getByLabel('Name')`, `internal:label="Name"i`},
		{`page.getByPlaceholder('a "b" \\c')`, `internal:attr=[placeholder="a \"b\" \\c"i]`},
		{`page.getByAltText('x', { exact: true })`, `internal:attr=[alt="x"s]`},
		{`page.getByTitle(/x/)`, `internal:attr=[title=/x/]`},
		{`page.getByTestId(/x/)`, `internal:testid=[data-testid=/x/]`},
		{`page.getByRole('button')`, `internal:role=button`},
		{`page.getByRole('heading', { name: 'A "b"', exact: true, level: 2, includeHidden: true })`, `internal:role=heading[include-hidden=true][level=2][name="A \"b\""s]`},
		{`page.getByRole('checkbox', { checked: false, disabled: true, expanded: true, selected: false, pressed: true, name: /n/i })`, `internal:role=checkbox[checked=false][disabled=true][selected=false][expanded=true][name=/n/i][pressed=true]`},
		{`page.getByRole('row').getByText('x').getByRole('cell')`, `internal:role=row >> internal:text="x"i >> internal:role=cell`},
		{`page.frameLocator('#f').locator('a')`, `#f >> internal:control=enter-frame >> a`},
		{`page.frameLocator('#f').first().frameLocator('iframe').getByText('x')`, `#f >> nth=0 >> internal:control=enter-frame >> iframe >> internal:control=enter-frame >> internal:text="x"i`},
		{`page.locator('#f').contentFrame().getByLabel('l')`, `#f >> internal:control=enter-frame >> internal:label="l"i`},
		{`page.frameLocator('#f').owner()`, `#f`},
		{`page.mainFrame().getByText('x')`, `internal:text="x"i`},
		{`page.locator('a').describe('The link')`, `a >> internal:describe="The link"`},
	}
	var code strings.Builder
	code.WriteString("return [\n")
	for _, c := range cases {
		fmt.Fprintf(&code, "%s._selector,\n", c.code)
	}
	code.WriteString("]")
	var got []string
	if err := json.Unmarshal([]byte(mustSucceed(t, p, newWorld(), code.String())), &got); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if got[i] != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.code, got[i], c.want)
		}
	}
}

// TestOperations checks that methods become operations with the right parameters.
func TestOperations(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ code, op, want string }{
		{`await page.goto('/x', { waitUntil: 'commit', referer: 'r' })`, "frame.goto", `{"frame":"frame@1","referer":"r","timeout":30000,"url":"/x","waitUntil":"commit"}`},
		{`page.setDefaultTimeout(7); await page.locator('a').click({ button: 'right', modifiers: ['Shift'], position: { x: 1, y: 2 }, nonsense: 1 })`, "frame.click", `{"button":"right","frame":"frame@1","modifiers":["Shift"],"position":{"x":1,"y":2},"selector":"a","strict":true,"timeout":7}`},
		{`context.setDefaultNavigationTimeout(9); await page.reload()`, "page.reload", `{"page":"page@1","timeout":9}`},
		{`await page.fill('a', 'v', { timeout: 0 })`, "frame.fill", `{"frame":"frame@1","selector":"a","timeout":0,"value":"v"}`},
		{`await page.getByLabel('l').pressSequentially('abc', { delay: 5 })`, "frame.type", `{"delay":5,"frame":"frame@1","selector":"internal:label=\"l\"i","strict":true,"text":"abc","timeout":30000}`},
		{`await page.press('a', 'Enter')`, "frame.press", `{"frame":"frame@1","key":"Enter","selector":"a","timeout":30000}`},
		{`await page.selectOption('a', ['x', { label: 'y' }])`, "frame.selectOption", `{"elements":[],"frame":"frame@1","options":[{"valueOrLabel":"x"},{"label":"y"}],"selector":"a","timeout":30000}`},
		{`await page.setInputFiles('a', { name: 'f.txt', mimeType: 'text/plain', buffer: Buffer.from('hi') })`, "frame.setInputFiles", `{"files":[{"buffer":"aGk=","mimeType":"text/plain","name":"f.txt"}],"frame":"frame@1","selector":"a","timeout":30000}`},
		{`await page.locator('a').isVisible()`, "frame.isVisible", `{"frame":"frame@1","selector":"a","strict":true}`},
		{`await page.locator('a').count()`, "frame.count", `{"frame":"frame@1","selector":"a"}`},
		{`await page.locator('a').getAttribute('href')`, "frame.getAttribute", `{"frame":"frame@1","name":"href","selector":"a","strict":true,"timeout":30000}`},
		{`await page.locator('a').waitFor({ state: 'hidden' })`, "frame.waitForSelector", `{"frame":"frame@1","omitReturnValue":true,"selector":"a","state":"hidden","strict":true,"timeout":30000}`},
		{`await page.evaluate((x) => x.a, { a: [1, null] })`, "frame.evaluate", `{"arg":{"handles":[],"value":{"id":1,"o":[{"k":"a","v":{"a":[{"n":1},{"v":"null"}],"id":2}}]}},"expression":"(x) => x.a","frame":"frame@1","isFunction":true}`},
		{`await page.evaluate('1 + 1')`, "frame.evaluate", `{"arg":{"handles":[],"value":{"v":"undefined"}},"expression":"1 + 1","frame":"frame@1","isFunction":false}`},
		{`await page.keyboard.type('x', { delay: 1 })`, "keyboard.type", `{"delay":1,"page":"page@1","text":"x"}`},
		{`await page.mouse.move(1, 2, { steps: 3 })`, "mouse.move", `{"page":"page@1","steps":3,"x":1,"y":2}`},
		{`await page.mouse.wheel(0, 100)`, "mouse.wheel", `{"deltaX":0,"deltaY":100,"page":"page@1"}`},
		{`await page.setViewportSize({ width: 3, height: 4 }); if (page.viewportSize().width !== 3) throw 1`, "page.setViewportSize", `{"height":4,"page":"page@1","width":3}`},
		{`await page.dragAndDrop('a', 'b')`, "frame.dragAndDrop", `{"frame":"frame@1","sourceSelector":"a","targetSelector":"b","timeout":30000}`},
		{`await page.locator('a').dispatchEvent('click', { x: 1 })`, "frame.dispatchEvent", `{"eventInit":{"handles":[],"value":{"id":1,"o":[{"k":"x","v":{"n":1}}]}},"frame":"frame@1","selector":"a","strict":true,"timeout":30000,"type":"click"}`},
		{`await page.setContent('<p>', { waitUntil: 'load' })`, "frame.setContent", `{"frame":"frame@1","html":"<p>","timeout":30000,"waitUntil":"load"}`},
		{`await page.waitForSettled({ timeout: 9 })`, "page.waitForSettled", `{"page":"page@1","timeout":9}`},
		{`await page.waitForFunction(() => true, null, { polling: 50 })`, "frame.waitForFunction", `{"arg":{"handles":[],"value":{"v":"null"}},"expression":"() => true","frame":"frame@1","isFunction":true,"polling":50,"timeout":30000}`},
		{`await expect(page.locator('a')).toHaveText(/x/i, { timeout: 3 })`, "frame.expect", `{"expectedText":[{"normalizeWhiteSpace":true,"regexFlags":"i","regexSource":"x"}],"expression":"to.have.text","frame":"frame@1","isNot":false,"selector":"a","strict":true,"timeout":3}`},
		{`await expect(page.locator('a')).not.toBeVisible()`, "frame.expect", `{"expression":"to.be.visible","frame":"frame@1","isNot":true,"selector":"a","strict":true,"timeout":5000}`},
		{`await expect(page).toHaveURL('x')`, "frame.expect", `{"expectedText":[{"string":"x"}],"expression":"to.have.url","frame":"frame@1","isNot":false,"timeout":5000}`},
		{`await requestTakeover('why', { timeout: 5, until: '**/welcome', note: 'n' })`, "takeover.request", `{"note":"n","reason":"why","timeout":5,"until":"**/welcome"}`},
	} {
		w := newWorld()
		w.handlers["frame.expect"] = func(_ context.Context, params json.RawMessage) (any, error) {
			return map[string]any{"matches": !strings.Contains(string(params), `"isNot":true`), "log": []string{}}, nil
		}
		mustSucceed(t, p, w, c.code)
		got, err := json.Marshal(w.last(t, c.op))
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		canonical, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(canonical) {
			t.Errorf("%s\n got %s\nwant %s", c.code, got, canonical)
		}
	}
}

func TestAnswers(t *testing.T) {
	p := newPool(t, Limits{})
	w := newWorld().
		answer("frame.goto", json.RawMessage(`{"request":{"id":"request@1","page":"page@1","frame":"frame@1","url":"https://a.test/","method":"GET","headers":[],
			"response":{"url":"https://a.test/","status":404,"statusText":"Not Found","headers":[{"name":"Content-Type","value":"text/html"}]}}}`)).
		answer("page.goBack", map[string]any{"request": nil}).
		answer("frame.evaluate", json.RawMessage(`{"value":{"o":[{"k":"d","v":{"d":"1970-01-01T00:00:00.000Z"}},{"k":"n","v":{"v":"NaN"}}],"id":1}}`)).
		answer("frame.evaluateHandle", json.RawMessage(`{"handle":"handle@1","preview":"JSHandle@object","element":false}`)).
		answer("frame.querySelector", json.RawMessage(`{"handle":"handle@2","preview":"JSHandle@<a>","element":true}`)).
		answer("frame.querySelectorAll", json.RawMessage(`{"handles":[{"handle":"handle@3","element":true},{"handle":"handle@4","element":true}]}`)).
		answer("frame.waitForSelector", json.RawMessage(`{"handle":null}`)).
		answer("page.screenshot", map[string]any{"data": "aGk="}).
		answer("frame.textContent", map[string]any{"value": "t"}).
		answer("handle.click", map[string]any{})
	got := mustSucceed(t, p, w, `
		const r = await page.goto('https://a.test/');
		const v = await page.evaluate(() => 1);
		const h = await page.evaluateHandle(() => window);
		const e = await page.$('a');
		await e.click();
		await page.evaluate(x => x, [h, e]);
		const shot = await page.screenshot({ path: 'shot.png' });
		return [r.status(), r.ok(), r.headers()['content-type'], await page.goBack(), v.d.getTime(), Number.isNaN(v.n),
			String(h), h.asElement(), String(e), e.asElement() === e, (await page.$$('a')).length, await page.waitForSelector('a', { state: 'hidden' }),
			shot.toString(), Buffer.isBuffer(shot), await page.locator('a').textContent(),
			page.constructor.name, page.locator('a').constructor.name, e.constructor.name, page === page.locator('a').page(), page.mainFrame().page() === page,
			page.url(), page.context() === context, browser.contexts().length, context.pages()[0] === page, String(page.getByRole('button', { name: 'x' }).first())]`)
	want := `[404,false,"text/html",null,0,true,"JSHandle@object",null,"JSHandle@<a>",true,2,null,"hi",true,"t","Page","Locator","ElementHandle",true,true,` +
		`"https://example.test/start",true,1,true,"getByRole('button', { name: 'x' }).first()"]`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if arg := fmt.Sprint(w.last(t, "frame.evaluate")["arg"]); !strings.Contains(arg, "handles:[handle@1 handle@2]") {
		t.Errorf("handles went as %s", arg)
	}
	if name := w.last(t, "files.write")["name"]; name != "shot.png" {
		t.Errorf("the picture was saved as %v", name)
	}
}

// emitter runs a script, and sends events when the script logs a given word.
type emitter struct {
	*world
	run    chan *Run
	events map[string][][2]string
}

func (e *emitter) Log(l Log) {
	e.world.Log(l)
	r := <-e.run
	e.run <- r
	for _, ev := range e.events[l.Text] {
		r.Emit(ev[0], json.RawMessage(ev[1]))
	}
}

func runWithEvents(t *testing.T, p *Pool, w *world, code string, events map[string][][2]string) Result {
	t.Helper()
	e := &emitter{world: w, run: make(chan *Run, 1), events: events}
	r, err := p.Start(t.Context(), Script{Code: code}, w, e)
	if err != nil {
		t.Fatal(err)
	}
	e.run <- r
	return r.Wait()
}

// TestMirror checks that pages, frames and URLs follow the server's events.
func TestMirror(t *testing.T) {
	p := newPool(t, Limits{})
	res := runWithEvents(t, p, newWorld(), `
		const seen = [];
		page.on('framenavigated', f => seen.push('nav ' + f.url()));
		page.on('load', () => seen.push('load'));
		page.once('popup', q => seen.push('popup ' + q.url()));
		context.on('page', q => seen.push('page'));
		page.on('close', () => seen.push('close'));
		const popup = page.waitForEvent('popup');
		const url = page.waitForURL('**/two?x=*');
		console.log('go');
		await url; await popup;
		const [p1, p2] = context.pages();
		const frames = page.frames().map(f => f.name() + ' ' + f.url());
		const child = page.frame('inner'), opener = await p2.opener() === p1;
		console.log('end');
		await page.waitForEvent('close');
		return { seen, frames, pages: context.pages().length, opener, closed: p1.isClosed(), detached: child.isDetached(), parent: child.parentFrame() === page.mainFrame() }`,
		map[string][][2]string{
			"go": {
				{"frame.navigated", `{"frame":"frame@1","url":"https://example.test/one","name":""}`},
				{"frame.navigated", `{"frame":"frame@1","url":"https://example.test/two?x=1","name":"top"}`},
				{"frame.loadstate", `{"frame":"frame@1","remove":"load"}`},
				{"frame.attached", `{"page":"page@1","frame":"frame@2","parent":"frame@1","name":"inner","url":"about:blank"}`},
				{"frame.loadstate", `{"frame":"frame@1","add":"load"}`},
				{"page.created", `{"id":"page@2","context":"context@1","opener":"page@1","mainFrame":{"id":"frame@3","url":"about:blank","name":""}}`},
			},
			"end": {
				{"frame.detached", `{"frame":"frame@2"}`},
				{"page.closed", `{"page":"page@1"}`},
			},
		})
	want := `{"seen":["nav https://example.test/one","nav https://example.test/two?x=1","load","page","popup about:blank","close"],` +
		`"frames":["top https://example.test/two?x=1","inner about:blank"],"pages":1,"opener":true,"closed":true,"detached":true,"parent":true}`
	if string(res.Value) != want {
		t.Errorf("got %s %v\nwant %s", res.Value, res.Err, want)
	}
}

func TestWaits(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ code, want string }{
		{`await page.waitForURL('**/start'); await page.waitForLoadState(); await page.waitForLoadState('domcontentloaded'); return 1`, ""},
		{`await page.waitForURL(/star/); await page.waitForURL(u => u.pathname === '/start'); return 1`, ""},
		{`await page.waitForURL('https://example.test/{other,start}'); return 1`, ""},
		{`await page.waitForURL('**/never', { timeout: 20 })`, "page.waitForURL: Timeout 20ms exceeded.\n=========================== logs ===========================\nwaiting for navigation to \"**/never\" until \"load\"\n============================================================"},
		{`await page.waitForLoadState('networkidle', { timeout: 20 })`, "page.waitForLoadState: Timeout 20ms exceeded."},
		{`await page.waitForLoadState('ready')`, "page.waitForLoadState: state: expected one of (load|domcontentloaded|networkidle|commit)"},
		{`await page.waitForEvent('popup', { timeout: 20 })`, "page.waitForEvent: Timeout 20ms exceeded while waiting for event \"popup\""},
		{`const t = performance.now(); await page.waitForTimeout(30); return performance.now() - t >= 29 || fail`, ""},
		{`await page.fill('a', 1)`, "page.fill: value: expected string, got number"},
		{`await page.goto()`, "page.goto: url: expected string, got undefined"},
	} {
		res := run(t, p, newWorld(), c.code)
		if c.want == "" && res.Status != StatusSucceeded || c.want != "" && (res.Err == nil || !strings.HasPrefix(res.Err.Message, c.want)) {
			t.Errorf("%s: %s %v, want %q", c.code, res.Status, res.Err, c.want)
		}
	}
}

func TestExpect(t *testing.T) {
	p := newPool(t, Limits{})
	w := newWorld()
	w.handlers["frame.expect"] = func(context.Context, json.RawMessage) (any, error) {
		return json.RawMessage(`{"matches":false,"timedOut":true,"received":{"value":{"s":"actual"}},"log":["  - waiting for locator('a')"]}`), nil
	}
	res := run(t, p, w, "\nawait expect(page.locator('a')).toHaveText('wanted', { timeout: 50 });")
	want := "expect(locator).toHaveText(expected) failed\n\nLocator:  locator('a')\nExpected: \"wanted\"\nReceived: \"actual\"\nTimeout:  50ms\n\n" +
		"Call log:\n  - Expect \"toHaveText\" locator('a') with timeout 50ms\n  - waiting for locator('a')\n"
	if res.Err == nil || res.Err.Message != want || res.Err.Line != 2 {
		t.Errorf("got %+v\nwant %s", res.Err, want)
	}
	got := mustSucceed(t, p, w, `
		const failing = [];
		const no = (f) => { try { f(); failing.push(String(f)) } catch (e) { if (!/^expect\(received\)/.test(e.message)) failing.push(e.message) } };
		expect(1).toBe(1); expect({ a: [1] }).toEqual({ a: [1] }); expect({ a: 1, b: undefined }).toEqual({ a: 1 }); expect([1, 2]).toContain(2);
		expect('hello').toMatch(/ell/); expect({ a: { b: 1 }, c: 2 }).toMatchObject({ a: { b: 1 } }); expect([1]).toHaveLength(1);
		expect({ a: { b: 2 } }).toHaveProperty('a.b', 2); expect(() => { throw new Error('boom') }).toThrow('boom'); expect(0.1 + 0.2).toBeCloseTo(0.3);
		expect({ id: 'x1', n: 3 }).toEqual({ id: expect.stringMatching(/^x/), n: expect.any(Number) }); expect(1).not.toBe(2);
		await expect(Promise.resolve(3)).resolves.toBe(3); await expect(Promise.reject(new Error('r'))).rejects.toThrow('r');
		let n = 0; await expect.poll(() => ++n, { intervals: [1] }).toBe(3); await expect(() => { if (++n < 6) throw 1 }).toPass({ intervals: [1] });
		no(() => expect(1).toBe(2)); no(() => expect({ a: 1 }).toEqual({ a: 2 })); no(() => expect({ a: 1, b: undefined }).toStrictEqual({ a: 1 })); no(() => expect([1]).not.toContain(1));
		return failing`)
	if got != `[]` {
		t.Errorf("failing: %s", got)
	}
}

func TestTakeoverOutcomes(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct {
		name   string
		fields map[string]any
		want   string
	}{
		{"TakeoverFailedError", map[string]any{"reason": "no phone"}, `["TakeoverFailedError",true,"no phone"]`},
		{"TakeoverTimeoutError", nil, `["TakeoverTimeoutError",true,null]`},
		{"TakeoverCancelledError", nil, `["TakeoverCancelledError",true,null]`},
	} {
		w := newWorld()
		w.handlers["takeover.request"] = func(context.Context, json.RawMessage) (any, error) {
			return nil, &namedError{c.name, "m", c.fields}
		}
		if got := mustSucceed(t, p, w, `try { await requestTakeover('x') } catch (e) { return [e.name, e instanceof `+c.name+`, e.reason] }`); got != c.want {
			t.Errorf("%s: got %s", c.name, got)
		}
	}
}

// TestTakeoverUntil checks that a condition that the script watches ends the
// takeover.
func TestTakeoverUntil(t *testing.T) {
	p := newPool(t, Limits{})
	for _, code := range []string{
		`let asked = 0; return (await requestTakeover('x', { until: async () => { asked++; return await page.locator('#in').isVisible() } })).by`,
		`return (await requestTakeover('x', { until: /st[a]rt$/ })).by`,
	} {
		w := newWorld().answer("frame.isVisible", map[string]any{"value": true})
		satisfied := make(chan struct{}, 10)
		w.handlers["takeover.satisfy"] = func(context.Context, json.RawMessage) (any, error) {
			satisfied <- struct{}{}
			return map[string]any{}, nil
		}
		w.handlers["takeover.request"] = func(_ context.Context, _ json.RawMessage) (any, error) {
			select {
			case <-satisfied:
			case <-time.After(20 * time.Second):
				return nil, &namedError{name: "TakeoverTimeoutError", message: "nobody satisfied it"}
			}
			return map[string]any{"outcome": "done", "by": "condition"}, nil
		}
		if got := mustSucceed(t, p, w, code); got != `"condition"` {
			t.Errorf("%s returned %s", code, got)
		}
	}
	w := newWorld()
	done := make(chan struct{}, 10)
	w.handlers["takeover.satisfy"] = func(context.Context, json.RawMessage) (any, error) {
		done <- struct{}{}
		return map[string]any{}, nil
	}
	w.handlers["takeover.request"] = func(context.Context, json.RawMessage) (any, error) {
		<-done
		return map[string]any{"outcome": "done"}, nil
	}
	if res := run(t, p, w, `await requestTakeover('x', { until: () => { throw new Error('mine') } })`); res.Err == nil || !strings.HasSuffix(res.Err.Message, "mine") {
		t.Errorf("an error of the condition came as %v", res.Err)
	}
}
