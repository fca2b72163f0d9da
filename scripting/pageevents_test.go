package scripting_test

import "testing"

func TestConsoleAndErrors(t *testing.T) {
	cases(t, []struct{ name, code, want string }{
		{"console", `
			const seen = [];
			page.on('console', m => seen.push(m.type() + ': ' + m.text()));
			const from = new Promise(r => context.once('console', r));
			await page.evaluate(() => { console.log('a', 1, null, undefined, { a: 1, b: 'x', c: {} }, [1, , 3], new Map([[1, 2]])); console.warn('careful'); console.error('%s', 'x'); });
			const m = await from;
			return [seen, m.page() === page, m.args().length, await m.args()[4].jsonValue(), Object.keys(m.location()).join(), m.constructor.name, Math.abs(m.timestamp() - Date.now()) < 60000]`,
			`[["log: a 1 null undefined {a: 1, b: x, c: Object} [1, empty, 3] Map(1)","warning: careful","error: %s x"],true,7,{"a":1,"b":"x","c":{}},"url,line,column,lineNumber,columnNumber","ConsoleMessage",true]`},
		{"what Chromium says", `
			await page.goto(args.url);
			const [m] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => fetch('/missing'))]);
			return [m.type(), m.text(), m.location().url === args.url + '/missing', m.args().length]`,
			`["error","Failed to load resource: the server responded with a status of 404 (Not Found)",true,0]`},
		{"remembered", `
			await page.goto(args.url);
			await page.evaluate(() => { console.log('one'); setTimeout(() => { throw new TypeError('late') }) });
			await page.waitForFunction(() => new Promise(r => setTimeout(() => r(true), 20)));
			const first = [(await page.consoleMessages()).map(m => m.text()), (await page.pageErrors()).map(String)];
			await page.reload();
			await page.evaluate(() => console.log('two'));
			const second = [(await page.consoleMessages()).map(m => m.text()), (await page.consoleMessages({ filter: 'all' })).map(m => m.text()), (await page.pageErrors()).length];
			await page.clearConsoleMessages();
			return [first, second, (await page.consoleMessages({ filter: 'all' })).length]`,
			`[[["one"],["TypeError: late"]],[["two"],["one","two"],0],0]`},
		{"page errors", `
			const errors = [], web = [];
			page.on('pageerror', e => errors.push([e instanceof Error, e.name, e.message, /^\w+: .*\n    at /.test(e.stack)]));
			context.on('weberror', w => web.push(w.page() === page && w.error() instanceof Error));
			for (const code of ["throw new Error('boom')", "throw 'text'", "throw new RangeError('r')", "Promise.reject(new Error('rejected'))", "throw { a: 1 }"]) {
				const told = page.waitForEvent('pageerror');
				await page.evaluate(c => { setTimeout(c, 0); }, code);
				await told;
			}
			return [errors, web]`,
			`[[[true,"Error","boom",true],[true,"","text",false],[true,"RangeError","r",true],[true,"Error","rejected",true],[true,"","Object",false]],[true,true,true,true,true]]`},
	})
}

func TestWorkers(t *testing.T) {
	cases(t, []struct{ name, code, want string }{
		{"web worker", `
			await page.goto(args.url);
			const [worker] = await Promise.all([page.waitForEvent('worker'), page.evaluate(() => { window.w = new Worker(URL.createObjectURL(new Blob(['self.x = 5; onmessage = e => console.log("got", e.data)']))) })]);
			const message = worker.waitForEvent('console');
			await page.evaluate(() => w.postMessage({ a: 1 }));
			const h = await worker.evaluateHandle(() => ({ x: self.x }));
			const out = [page.workers()[0] === worker, worker.url().startsWith('blob:'), await worker.evaluate(n => self.x + n, 2), await h.evaluate(o => o.x), (await message).text(), (await message).worker() === worker];
			const closed = worker.waitForEvent('close');
			await page.evaluate(() => w.terminate());
			await closed;
			return [...out, page.workers().length, await worker.evaluate('1').catch(e => e.message)]`,
			`[true,true,7,5,"got {a: 1}",true,0,"worker.evaluate: Target page, context or browser has been closed"]`},
		{"gone with the document", `
			await page.goto(args.url);
			const told = page.waitForEvent('worker');
			await page.evaluate(() => { new Worker('data:text/javascript,1') });
			const closed = (await told).waitForEvent('close');
			await page.goto('about:blank');
			await closed;
			return page.workers().length`,
			`0`},
	})
}

func TestInitScriptsAndBindings(t *testing.T) {
	cases(t, []struct{ name, code, want string }{
		{"before the page's scripts", `
			await page.addInitScript(a => { window.given = a.list; }, { list: [1, 2] });
			await context.addInitScript('window.second = 2');
			const third = await page.addInitScript({ content: 'window.third = 3' });
			await page.goto(args.url);
			const all = () => page.evaluate(() => [window.given, window.second, window.third, document.querySelector('iframe').contentWindow.given]);
			const first = await all();
			await third.dispose();
			await page.reload();
			const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { window.open('/popup') })]);
			return [first, await all(), await popup.evaluate(() => [window.second, window.given])]`,
			`[[[1,2],2,3,[1,2]],[[1,2],2,null,[1,2]],[2,null]]`},
		{"refusals", `
			const messages = [];
			for (const a of [[{}], [{ content: '' }, 5], [{ path: 'none.js' }]])
				await page.addInitScript(...a).catch(e => messages.push(e.message));
			return messages`,
			`["page.addInitScript: Either path or content property must be present","page.addInitScript: Cannot evaluate a string with arguments","page.addInitScript: ENOENT: no such file or directory, open 'none.js' (paths are names of the session's files)"]`},
		{"exposed functions", `
			await page.goto(args.url);
			await page.exposeFunction('add', async (a, b) => a + b);
			await context.exposeBinding('who', (source, x) => [source.page === page, source.context === context, source.frame.name(), x instanceof Date]);
			const now = await page.evaluate(() => add(1, 2));
			await page.reload();
			const frame = page.frame('inner');
			return [now, await page.evaluate(() => add('a', 'b')), await frame.evaluate(() => who(new Date())), await page.evaluate(() => who(1)),
				await page.evaluate(() => Object.getOwnPropertyNames(window).filter(n => /binding/.test(n)))]`,
			`[3,"ab",[true,true,"inner",true],[true,true,"",false],[]]`},
		{"errors cross", `
			await page.exposeFunction('fail', kind => { if (kind === 'null') throw null; throw new TypeError('inner ' + kind); });
			return await page.evaluate(async () => {
				const out = [];
				for (const kind of ['a', 'null'])
					await fail(kind).catch(e => out.push(e && [e instanceof Error, e.name, e.message, typeof e.stack]));
				return out;
			})`,
			`[[true,"TypeError","inner a","string"],null]`},
		{"names are taken once", `
			await page.exposeFunction('f', () => 1);
			const messages = [];
			await page.exposeFunction('f', () => 2).catch(e => messages.push(e.message));
			await context.exposeFunction('f', () => 2).catch(e => messages.push(e.message));
			await context.exposeBinding('g', () => 1);
			await page.exposeBinding('g', () => 2).catch(e => messages.push(e.message));
			return messages`,
			`["page.exposeFunction: Function \"f\" has been already registered","browserContext.exposeFunction: Function \"f\" has been already registered in one of the pages",` +
				`"page.exposeBinding: Function \"g\" has been already registered in the browser context"]`},
		{"disposed", `
			const d = await page.exposeFunction('gone', () => 1);
			await d.dispose();
			const now = await page.evaluate(() => typeof gone);
			await page.goto(args.url);
			await page.exposeFunction('gone', () => 2);
			return [now, await page.evaluate(() => gone())]`,
			`["undefined",2]`},
		{"functions as arguments", `
			let seen;
			const sum = await page.evaluate(async ({ f, list }) => { let s = 0; for (const x of list) s += await f(x); return s }, { f: x => { seen = x; return x * 2 }, list: [1, 2, 3] }, { exposeFunctions: true });
			await page.addInitScript(o => { window.up = o.up }, { up: x => x + 1 }, { exposeFunctions: true });
			await page.goto(args.url);
			const refused = await page.evaluate(o => o, { cb: x => x + 1 }).catch(e => e.message);
			return [sum, seen, await page.evaluate(() => up(4)), refused]`,
			`[12,3,5,"page.evaluate: Attempting to serialize unexpected value at position \"cb\": (x) => x + 1"]`},
		{"from a popup's first script", `
			await context.exposeFunction('report', x => x);
			await page.goto(args.url);
			const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { const w = window.open(''); w.document.write('<script>report(7).then(x => { window.got = x })</script>') })]);
			await popup.waitForFunction(() => window.got);
			return popup.evaluate(() => window.got)`,
			`7`},
	})
}

func TestDownloadsAndChoosers(t *testing.T) {
	cases(t, []struct{ name, code, want string }{
		{"download", `
			await page.goto(args.url);
			const begin = () => page.evaluate(() => { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['hello'])); a.download = 're/port.txt'; a.click() });
			const [download] = await Promise.all([page.waitForEvent('download'), begin()]);
			const path = await download.path(); // a name belongs to the download that is complete first
			const [again] = await Promise.all([context.waitForEvent('download'), begin()]);
			const other = await again.path();
			await download.saveAs('copies/copy.txt');
			const chunks = [];
			for await (const c of await download.createReadStream())
				chunks.push(c.toString());
			await page.setContent('<input type=file multiple>');
			await page.setInputFiles('input', [path, 'copy.txt', other]);
			const read = await page.locator('input').evaluate(async i => Promise.all([...i.files].map(async f => f.name + ':' + await f.text())));
			await download.delete();
			return [download.suggestedFilename(), path, other, download.url().startsWith('blob:'), download.page() === page, await download.failure(), chunks, read,
				await page.setInputFiles('input', path).catch(e => e.message.includes('ENOENT'))]`,
			`["re_port.txt","re_port.txt","re_port (1).txt",true,true,null,["hello"],["re_port.txt:hello","copy.txt:hello","re_port (1).txt:hello"],true]`},
		{"file chooser", `
			await page.setContent('<input type=file multiple id=a><button onclick="a.click()">x</button>');
			const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click('button')]);
			await chooser.setFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('A') }, { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('B') }]);
			const names = await page.evaluate(() => [...a.files].map(f => f.name));
			await chooser.setFiles([]);
			return [chooser.isMultiple(), chooser.page() === page, await chooser.element().getAttribute('id'), names, await page.evaluate(() => a.files.length)]`,
			`[true,true,"a",["a.txt","b.txt"],0]`},
		{"dialogs", `
			const seen = [];
			page.on('dialog', async d => { seen.push([d.type(), d.message(), d.defaultValue(), d.page() === page]); await (d.message() === 'no' ? d.dismiss() : d.accept('given')) });
			context.on('dialogclosed', d => seen.push('closed ' + d.type()));
			const out = await page.evaluate(() => [prompt('q', 'def'), confirm('no'), confirm('yes'), alert('a')]);
			const d = await Promise.all([page.waitForEvent('dialog'), page.evaluate(() => alert('b'))]);
			return [out, seen, await d[0].accept().catch(e => e.message)]`,
			`[["given",false,true,null],[["prompt","q","def",true],"closed prompt",["confirm","no","",true],"closed confirm",["confirm","yes","",true],"closed confirm",["alert","a","",true],"closed alert",["alert","b","",true],"closed alert"],"dialog.accept: Cannot accept dialog which is already handled!"]`},
		{"leaving a page that asks", `
			await page.setContent('<button>x</button><script>onbeforeunload = e => { e.preventDefault(); return "stay" }</script>');
			await page.click('button');
			const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
			const closed = page.waitForEvent('close');
			await dialog.accept();
			await closed;
			return [dialog.type(), page.isClosed()]`,
			`["beforeunload",true]`},
	})
}
