package scripting_test

import (
	"net/http"
	"testing"
)

// storageSite returns a site that stores data in the browser.
func storageSite() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<title>Storage</title><button onclick="this.textContent = 'clicked'" ontouchstart="document.title = 'touched'">Press</button>
			<script>window.seen = localStorage.getItem('name')</script>`))
	})
	return mux
}

func TestStorageState(t *testing.T) {
	evaluates(t, storageSite(), `
		const store = p => p.evaluate(async () => {
			localStorage.setItem('name', 'ä "1"'); document.cookie = 'visible=1';
			await new Promise((f, r) => { const q = indexedDB.open('db', 2); q.onerror = r; q.onupgradeneeded = () => q.result.createObjectStore('things', { keyPath: 'id' });
				q.onsuccess = () => { const t = q.result.transaction('things', 'readwrite'); t.objectStore('things').put({ id: 1, when: new Date(5), list: [1, 'b'] }); t.oncomplete = () => { q.result.close(); f(); } } });
		});
		const thing = p => p.evaluate(() => new Promise((f, r) => { const q = indexedDB.open('db'); q.onerror = r; q.onsuccess = () => {
			const g = q.result.transaction('things').objectStore('things').get(1); g.onsuccess = () => f(g.result) } }));
		const far = args.url.replace('127.0.0.1', 'localhost');
		await page.goto(args.url); await store(page);
		await page.goto(far); await page.evaluate(() => localStorage.setItem('name', 'far'));
		const state = await context.storageState();
		const whole = await context.storageState({ indexedDB: true, path: 'state.json' });
		const second = await browser.newContext({ storageState: whole });
		const two = await second.newPage();
	`, [][2]string{
		{`state.cookies.map(c => c.name + '=' + c.value)`, `["visible=1"]`},
		{`state.origins.map(o => [o.origin.replace(args.url, 'near').replace(far, 'far'), o.localStorage]).sort()`, `[["far",[{"name":"name","value":"far"}]],["near",[{"name":"name","value":"ä \"1\""}]]]`},
		{`Object.keys(state.origins[0]).sort()`, `["localStorage","origin"]`},
		{`whole.origins.find(o => o.origin === args.url).indexedDB[0].stores[0].records.length`, `1`},
		{`context.pages().length`, `1`},
		{`await two.goto(args.url).then(() => two.evaluate(() => [window.seen, document.cookie]))`, `["ä \"1\"","visible=1"]`},
		{`await thing(two).then(t => [t.id, t.when.getTime(), t.list])`, `[1,5,[1,"b"]]`},
		{`await two.goto(far).then(() => two.evaluate(() => window.seen))`, `"far"`},
		{`await second.setStorageState({ cookies: [], origins: [{ origin: args.url, localStorage: [{ name: 'name', value: 'new' }] }] }).then(async () => [
			await two.goto(args.url).then(() => two.evaluate(() => window.seen)), await two.goto(far).then(() => two.evaluate(() => window.seen)), (await second.cookies()).length])`, `["new",null,0]`},
		{`await browser.newContext({ storageState: 'state.json' }).then(async c => { const n = (await c.cookies()).length; await c.close(); return n })`, `1`},
		{`await fails(() => browser.newContext({ storageState: { cookies: [], origins: [{ origin: 'file:///etc', localStorage: [] }] } }))`, `"Error: browser.newContext: Error setting storage state:\nInvalid URL: file:///etc"`},
		{`await page.request.storageState().then(s => s.origins.length)`, `2`},
	})
}

func TestContextOptions(t *testing.T) {
	evaluates(t, storageSite(), `
		const { devices } = require('playwright');
		const phone = await browser.newContext({ ...devices['Pixel 7'], locale: 'de-DE', timezoneId: 'Europe/Berlin', colorScheme: 'dark', baseURL: args.url, strictSelectors: true,
			permissions: ['geolocation'], geolocation: { latitude: 1, longitude: 2 } });
		const p = await phone.newPage();
		await p.goto('/');
	`, [][2]string{
		{`p.viewportSize()`, `{"width":412,"height":839}`},
		{`await p.evaluate(() => [screen.width, devicePixelRatio, 'ontouchstart' in window, navigator.userAgent.includes('Pixel 7'), navigator.language, matchMedia('(prefers-color-scheme: dark)').matches])`,
			`[412,2.625,true,true,"de-DE",true]`},
		{`await p.evaluate(() => new Promise((f, r) => navigator.geolocation.getCurrentPosition(g => f(g.coords.latitude), r)))`, `1`},
		{`await p.getByRole('button').tap().then(() => p.evaluate(() => [document.title, document.querySelector('button').textContent]))`, `["touched","clicked"]`},
		{`await p.evaluate(() => { document.title = '' }).then(() => p.touchscreen.tap(20, 20)).then(() => p.title())`, `"touched"`},
		{`(await fails(async () => { await p.setContent('<b>1</b><b>2</b>'); await p.click('b') })).split('\n')[0]`, `"Error: page.click: Error: strict mode violation: locator('b') resolved to 2 elements:"`},
		{`[browser.contexts().length, phone.browser() === browser, browser.isConnected(), /^\d+\./.test(browser.version()), phone.isClosed()]`, `[2,true,true,true,false]`},
		{`await (async () => { const events = []; phone.on('close', c => events.push(c === phone)); p.on('close', () => events.push('page')); await phone.close(); return [events, phone.isClosed(), p.isClosed(), browser.contexts().length] })()`, `[["page",true],true,true,1]`},
		{`await browser.newPage({ viewport: { width: 300, height: 200 } }).then(async q => { const c = q.context(); const e = await fails(() => c.newPage()); await q.close(); return [e, c.isClosed()] })`, `["Error: browserContext.newPage: Please use browser.newContext()",true]`},
		{`await browser.newContext({ viewport: null }).then(async c => { const q = await c.newPage(); const v = q.viewportSize(); await c.close(); return v })`, `null`},
		{`await (async () => { await page.emulateMedia({ media: 'print', colorScheme: 'dark' }); const on = await page.evaluate(() => [matchMedia('print').matches, matchMedia('(prefers-color-scheme: dark)').matches]); await page.emulateMedia({ media: null, colorScheme: null }); return [on, await page.evaluate(() => matchMedia('print').matches)] })()`, `[[true,true],false]`},
		{`await fails(() => page.emulateMedia({ colorScheme: 'pink' }))`, `"Error: page.emulateMedia: colorScheme: expected one of (dark|light|no-preference|no-override)"`},
		{`Object.keys(devices).length > 100`, `true`},
	})
}

func TestCDPSession(t *testing.T) {
	evaluates(t, storageSite(), `
		await page.goto(args.url);
		const session = await context.newCDPSession(page);
		const heard = []; session.on('Runtime.consoleAPICalled', e => heard.push(e.args[0].value)); session.once('event', e => heard.push(e.method)); session.on('close', s => heard.push(s === session));
	`, [][2]string{
		{`(await session.send('Runtime.evaluate', { expression: '6 * 7' })).result.value`, `42`},
		{`await session.send('Runtime.enable').then(() => page.evaluate(() => console.log('hey'))).then(() => heard.slice(0, 2))`, `["Runtime.executionContextCreated","hey"]`},
		{`(await session.send('Browser.getVersion')).product.split('/')[0]`, `"Chrome"`},
		{`await fails(() => session.send('Foo.bar'))`, `"Error: cdpSession.send: Protocol error (Foo.bar): 'Foo.bar' wasn't found"`},
		{`await fails(() => session.send('DOM.setFileInputFiles', { files: ['/etc/passwd'], nodeId: 1 }))`, `"Error: cdpSession.send: DOM.setFileInputFiles is not available in Takeover: it reads files of the machine; use locator.setInputFiles()"`},
		{`await session.detach().then(() => [heard.at(-1), session.constructor.name])`, `[true,"CDPSession"]`},
		{`await fails(() => session.send('Runtime.enable'))`, `"Error: cdpSession.send: Target page, context or browser has been closed"`},
		{`await fails(() => context.newCDPSession({}))`, `"Error: browserContext.newCDPSession: page: expected Page or Frame"`},
		{`await fails(() => browser.newBrowserCDPSession())`, `"Error: browser.newBrowserCDPSession is not available in Takeover: it would reach every page; use context.newCDPSession(page)"`},
	})
}

func TestSelectorsRegister(t *testing.T) {
	evaluates(t, storageSite(), `
		const { selectors } = require('playwright');
		await page.goto(args.url);
		await page.evaluate(() => { window.mine = 'button'; });
		const engine = () => ({ query: (root, s) => root.querySelector(s), queryAll: (root, s) => [...root.querySelectorAll(s)] });
		const byGlobal = () => ({ query: () => document.querySelector(window.mine), queryAll: () => window.mine ? [...document.querySelectorAll(window.mine)] : [] });
		await selectors.register('tag', engine);
		await selectors.register('inside', byGlobal);
		await selectors.register('outside', byGlobal, { contentScript: true });
		await selectors.register('text-of', '({ queryAll: (root, s) => [...root.querySelectorAll("*")].filter(e => e.textContent === s), query: (root, s) => [...root.querySelectorAll("*")].find(e => e.textContent === s) })');
	`, [][2]string{
		{`await page.locator('tag=button').textContent()`, `"Press"`},
		{`await page.locator('body >> tag=button').count()`, `1`},
		{`await page.locator('text-of=Press').evaluate(e => e.tagName)`, `"BUTTON"`},
		{`[await page.locator('inside=x').count(), await page.locator('outside=x').count()]`, `[1,0]`},
		{`await page.click('inside=x').then(() => page.textContent('tag=button'))`, `"clicked"`},
		{`await fails(() => selectors.register('tag', engine))`, `"Error: selectors.register: \"tag\" selector engine has been already registered"`},
		{`await fails(() => selectors.register('css', engine))`, `"Error: selectors.register: \"css\" is a predefined selector engine"`},
		{`await fails(() => selectors.register('$', engine))`, `"Error: selectors.register: Selector engine name may only contain [a-zA-Z0-9_] characters"`},
	})
}

func TestBrowsers(t *testing.T) {
	evaluates(t, storageSite(), `
		const { chromium } = require('playwright');
	`, [][2]string{
		{`await (async () => { const b = await chromium.launch(); const events = []; b.on('context', () => events.push('context')); b.on('disconnected', x => events.push(x === b));
			const before = b.contexts().length; const c = await b.newContext(); const p = await c.newPage(); await p.goto(args.url); const during = [b.contexts().length, c.browser() === b, await p.title()];
			await b.close(); return [before, during, b.isConnected(), b.contexts().length, p.isClosed(), events, await fails(() => b.newContext()), await page.title() === ''] })()`,
			`[0,[1,true,"Storage"],false,0,true,["context",true],"Error: browser.newContext: Target page, context or browser has been closed",true]`},
		{`(await chromium.connectOverCDP('http://localhost:9222')).contexts()[0] === context`, `true`},
		{`(await chromium.launchPersistentContext('/tmp/profile', { headless: true })) === context`, `true`},
		{`await chromium.launchPersistentContext('', { viewport: { width: 200, height: 100 } }).then(async c => { const n = [c === context, c.pages().length, c.pages()[0].viewportSize()]; await c.close(); return n })`, `[false,1,{"width":200,"height":100}]`},
		{`await fails(async () => (await browser.newContext({ timezoneId: 'Foo/Bar' })).newPage())`, `"Error: browserContext.newPage: Invalid timezone ID: Foo/Bar"`},
		{`await fails(async () => (await browser.newContext({ locale: '123' })).newPage())`, `"Error: browserContext.newPage: Protocol error (Emulation.setLocaleOverride): Invalid locale name"`},
		{`await (async () => { const c = await browser.newContext(); const seen = []; for (const e of ['page', 'pageload', 'framenavigated', 'pageclose', 'close']) c.on(e, x => seen.push(e + ':' + x.constructor.name)); const p = await c.newPage(); await p.goto(args.url); await p.close(); await c.close(); return seen })()`,
			`["page:Page","framenavigated:Frame","pageload:Page","pageclose:Page","close:BrowserContext"]`},
	})
}
