package scripting_test

import "testing"

// harPrelude gives scripts two functions: store(name, text) creates a session
// file as a download would, and recorded(method, path, status, text, more)
// returns an entry of a HAR.
const harPrelude = `
	const store = async (name, text) => {
		const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(text => {
			const a = document.createElement('a');
			a.download = 'made';
			a.href = URL.createObjectURL(new Blob([text]));
			a.click();
		}, text)]);
		await download.saveAs(name);
	};
	const html = [{ name: 'Content-Type', value: 'text/html' }];
	const recorded = (method, path, status, text, { asked = [], postData, headers = [], content } = {}) => ({
		request: { method, url: url + path, headers: asked, postData },
		response: { status, headers, content: { text, ...content } },
	});
	const record = (name, ...entries) => store(name, JSON.stringify({ log: { version: '1.2', entries } }));
	const post = (path, body, headers = {}) => page.evaluate(([u, body, headers]) => fetch(u, { method: 'POST', body, headers }).then(r => r.text(), e => e.message), [url + path, body, headers]);
	await page.goto(url);
`

func TestRouteFromHAR(t *testing.T) {
	list := []netCase{
		{"answers", `
			await store('body.txt', 'attached');
			await record('some/site.har',
				recorded('GET', '/page', 200, '<title>Recorded</title>', { headers: [...html, { name: 'Set-Cookie', value: 'a=1' }, { name: 'set-cookie', value: 'b=2' }] }),
				recorded('GET', '/bytes', 201, Buffer.from('häh').toString('base64'), { content: { encoding: 'base64' } }),
				recorded('GET', '/attached', 200, undefined, { content: { _file: 'folder/body.txt' } }),
				recorded('GET', '/zero', 0, 'no status'), recorded('get', '/lower', 200, 'of another method'));
			const nothing = await page.routeFromHAR('site.har');
			const response = await page.goto(url + '/page');
			return [nothing, response.status(), response.statusText(), response.headers()['content-length'], await page.title(), await page.evaluate('document.cookie'),
				await get('/bytes'), await get('/attached'), await get('/zero'), await get('/lower'), await get('/json')]`,
			`[null,200,"OK","23","Recorded","a=1; b=2","häh","attached","no status","Failed to fetch","Failed to fetch"]`},
		{"what is not found", `
			await record('a.har', recorded('GET', '/json', 200, 'recorded'), recorded('GET', '/echo', 200, undefined, { content: { _file: 'none' } }),
				recorded('GET', '/r1', 302, '', { headers: [{ name: 'location', value: '/nowhere' }] }), recorded('GET', '/204', 302, '', { headers: [{ name: 'location', value: '/204' }] }));
			await context.route('**/json', route => route.fulfill({ body: 'the context\'s' }));
			await page.routeFromHAR('a.har', { notFound: 'fallback' });
			const out = [await get('/json'), await get('/echo'), await get('/r1'), (await get('/204')) === ''];
			await page.unrouteAll();
			await page.routeFromHAR('a.har', { notFound: 'fallback', url: '**/else' });
			out.push(await get('/json'));
			await page.routeFromHAR('a.har', { url: /nowhere/ });
			out.push(await get('/nowhere'), await get('/json'));
			await page.unrouteAll();
			await context.routeFromHAR('a.har', { url: '**/{json,x}' });
			out.push(await get('/json'), await get('/x'), (await get('/')).includes('Start'));
			await page.route('**/json', route => route.fallback({ url: url + '/echo?changed' }));
			return [...out, await get('/json')]`,
			`["recorded","GET /echo |||URL/","<title>Start</title><body></body>",true,"the context's","Failed to fetch","the context's","recorded","Failed to fetch",true,"GET /echo?changed |||URL/"]`},
		{"bodies and headers choose", `
			const part = b => '--' + b + '\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--' + b + '--\r\n';
			await record('a.har', recorded('POST', '/x', 200, 'one', { postData: { text: '1' } }), recorded('POST', '/x', 200, 'two', { postData: { text: '2' } }), recorded('POST', '/any', 200, 'any'),
				recorded('POST', '/form', 200, 'form', { asked: [{ name: 'content-type', value: 'multipart/form-data; boundary=then' }], postData: { text: part('then') } }),
				recorded('GET', '/h', 200, 'none'), recorded('GET', '/h', 200, 'a', { asked: [{ name: 'X-A', value: '1' }] }),
				recorded('GET', '/h', 200, 'ab', { asked: [{ name: 'x-a', value: '1' }, { name: 'x-b', value: '2' }] }), recorded('GET', '/h', 200, 'later', { asked: [{ name: 'x-b', value: '3' }] }));
			await page.routeFromHAR('a.har');
			const h = headers => page.evaluate(headers => fetch('/h', { headers }).then(r => r.text()), headers);
			const kind = b => ({ 'content-type': 'multipart/form-data; boundary=' + b });
			return [await post('/x', '2'), await post('/x', '1'), await post('/x', '3'), await post('/x', null), await post('/any', 'some'), await post('/form', part('now'), kind('now')), await post('/form', part('now'), kind('other')),
				await h({}), await h({ 'x-a': '1' }), await h({ 'x-a': '1', 'x-b': '2' }), await h({ 'x-a': '1', 'x-b': '3' }), await h({ 'x-b': '3' })]`,
			`["two","one","Failed to fetch","one","any","form","Failed to fetch","none","a","ab","a","later"]`},
		{"redirects", `
			const to = value => ({ headers: [{ name: 'Location', value }] });
			await record('a.har', recorded('GET', '/one', 302, '', to('/two')), recorded('GET', '/two', 301, '', to(url + '/end#part')), recorded('GET', '/end', 200, '<title>End</title>', { headers: html }),
				recorded('POST', '/one', 303, '', to('/end')), recorded('POST', '/same', 307, '', to('/end')), recorded('POST', '/end', 200, '<title>Posted</title>', { headers: html }),
				recorded('GET', '/no', 302, ''), recorded('GET', '/loop', 302, '', to('/loop')), recorded('GET', '/abroad', 302, '', to('file:///etc/passwd')));
			await page.routeFromHAR('a.har');
			const response = await page.goto(url + '/one');
			const out = [response.url(), response.status(), page.url(), await page.title(), await get('/one'), await post('/one', 'x'), await post('/same', 'x'), await get('/loop'), await get('/abroad')];
			for (const [action, title] of [['/one', 'End'], ['/same', 'Posted']]) {
				await page.setContent('<form method=post action="' + url + action + '"><button>Send</button></form>');
				await page.click('button');
				await expect(page).toHaveTitle(title);
			}
			await page.setContent('<iframe src="' + url + '/one"></iframe>');
			out.push(page.frames()[1].url(), await page.frames()[1].title());
			return [...out, await page.evaluate(() => fetch('/no').then(r => r.status))]`,
			`["URL/end",200,"URL/end#part","End","<title>End</title>","<title>End</title>","<title>Posted</title>","Failed to fetch","Failed to fetch","URL/end#part","End",302]`},
		{"what was never answered waits", `
			await record('a.har', recorded('GET', '/stalled', -1, ''));
			await page.routeFromHAR('a.har');
			const [request] = await Promise.all([page.waitForRequest('**/stalled'), page.evaluate(() => { fetch('/stalled').then(() => { window.came = true; }, () => { window.came = false; }); })]);
			const meanwhile = await get('/json');
			const came = await page.evaluate('typeof came');
			await page.unrouteAll({ behavior: 'wait' });
			return [meanwhile, came, request.failure(), await get('/json')]`,
			`["Failed to fetch","undefined",null,"{\"a\":1}"]`},
		{"refusals", `
			await store('bad.har', '{"log":');
			const out = [];
			for (const [on, ...a] of [[page, 'none.har'], [context, 'some/none.har'], [page, 'none.zip']])
				await on.routeFromHAR(...a).catch(e => out.push(e.message));
			await store('a.zip', 'no archive');
			return [...out, await page.routeFromHAR('a.zip').catch(e => e.message), await page.routeFromHAR('bad.har').catch(e => e.name)]`,
			`["page.routeFromHAR: ENOENT: no such file or directory, open 'none.har' (paths are names of the session's files)",` +
				`"browserContext.routeFromHAR: ENOENT: no such file or directory, open 'some/none.har' (paths are names of the session's files)",` +
				`"page.routeFromHAR: ENOENT: no such file or directory, open 'none.zip' (paths are names of the session's files)",` +
				`"page.routeFromHAR: a.zip: zip: not a valid zip file","SyntaxError"]`},
	}
	for i := range list {
		list[i].code = harPrelude + list[i].code
	}
	runNetwork(t, list)
}

// recordPrelude gives scripts two functions: read(name) reads a HAR from the
// session's files in the session's own page, and visit(context) makes requests of all kinds in that
// context.
const recordPrelude = `
	const read = async name => {
		await page.setContent('<input type=file>');
		await page.setInputFiles('input', name);
		return JSON.parse(await page.locator('input').evaluate(i => i.files[0].text())).log;
	};
	const visit = async context => {
		const page = await context.newPage();
		await page.route('**/refused', r => r.abort());
		await page.goto(url + '/json?a=1&b=x%20y');
		await page.evaluate(async () => {
			await fetch('/r1').catch(() => {});
			await fetch('/echo', { method: 'POST', body: 'k=v&l=w', headers: { 'content-type': 'application/x-www-form-urlencoded' } }).then(r => r.text());
			await fetch('/refused').catch(() => {});
		});
		return page;
	};
	const path = e => e.request.url.replace(url, '');
`

func TestRecordHAR(t *testing.T) {
	list := []netCase{
		{"full", `
			const context = await browser.newContext({ recordHar: { path: 'sub/made.har' } });
			await visit(context);
			await context.close();
			const log = await read('made.har');
			const [first, ...more] = log.entries;
			const { request, response } = first;
			const post = more.find(e => e.request.method === 'POST'), redirect = more.find(e => path(e) === '/r1'), refused = more.find(e => path(e) === '/refused');
			return [log.version, log.browser.name, log.pages.length, log.pages[0].id === first.pageref, log.pages[0].pageTimings.onLoad >= 0, request.queryString, response.status, response.statusText,
				response.content.text, response.content.mimeType, response.content.size, response.bodySize > 0, request.headersSize > 100, first.time > 0, first.timings.wait >= 0, first.serverIPAddress, first._resourceType,
				Math.abs(Date.parse(first.startedDateTime) - Date.now()) < 60000, redirect.response.status, redirect.response.redirectURL, redirect.response.cookies.map(c => c.name + c.value), redirect.response.content.text === undefined,
				post.request.postData, post.request.cookies.some(c => c.name === 'a'), post.request.bodySize, refused._wasAborted, refused.response.status, refused.response._failureText, '_wasContinued' in first]`,
			`["1.2","chromium",1,true,true,[{"name":"a","value":"1"},{"name":"b","value":"x y"}],200,"OK",` +
				`"{\"a\":1}","application/json",7,true,true,true,true,"127.0.0.1","document",` +
				`true,302,"URL/r2",["a1","b2"],true,` +
				`{"mimeType":"application/x-www-form-urlencoded","text":"k=v&l=w","params":[{"name":"k","value":"v"},{"name":"l","value":"w"}]},true,7,true,-1,"net::ERR_FAILED",false]`},
		{"minimal, omitted, filtered", `
			const logs = [];
			for (const [i, o] of [{ mode: 'minimal' }, { content: 'omit' }, { urlFilter: '**/echo' }, { urlFilter: /\/R[12]$/i }].entries()) {
				const context = await browser.newContext({ recordHar: { path: i + '.har', ...o } });
				await visit(context);
				await context.close();
				logs.push(await read(i + '.har'));
			}
			const [minimal, omitted, glob, pattern] = logs;
			const bad = await browser.newContext({ recordHar: { path: 'x.har', urlFilter: /(?=x)/ } }).catch(e => e.message.split(':').slice(0, 3).join(':'));
			return [minimal.pages, minimal.entries[0].response.content, minimal.entries[0].response.bodySize, minimal.entries[0].serverIPAddress, omitted.entries[0].response.content.text, omitted.entries[0].response.content.size,
				glob.entries.map(path), pattern.entries.map(path), bad]`,
			`[null,{"size":-1,"mimeType":"application/json","text":"{\"a\":1}"},-1,null,null,7,["/echo"],["/r1","/r2"],"browser.newContext: urlFilter: this regular expression cannot be used here"]`},
		{"attached, and answered from", `
			const context = await browser.newContext({ recordHar: { path: 'made.zip' } });
			await visit(context);
			await context.close();
			const second = await browser.newContext();
			await second.routeFromHAR('updated.har', { update: true, url: '**/json*' });
			await visit(second);
			await second.close();
			const out = [];
			for (const name of ['made.zip', 'updated.har']) {
				const context = await browser.newContext({ offline: true });
				await context.routeFromHAR(name);
				const page = await context.newPage();
				await page.goto(url + '/json?a=1&b=x%20y');
				out.push(await page.locator('body').innerText(), await page.evaluate(() => fetch('/r1').then(r => r.status, () => 'refused')));
				await context.close();
			}
			return [...out, (await read('updated.har')).entries[0].response.content._file]`,
			`["{\"a\":1}",200,"{\"a\":1}","refused","9f89c740ceb46d7418c924a78ac57941d5e96520.json"]`},
		{"of one page, and by tracing", `
			const context = await browser.newContext();
			const first = await context.newPage(), second = await context.newPage();
			await first.routeFromHAR('page.har', { update: true, updateContent: 'embed', updateMode: 'full' });
			await context.tracing.startHar('both.har', { mode: 'minimal' });
			const twice = await context.tracing.startHar('again.har').catch(e => e.message);
			await first.goto(url + '/json');
			await second.goto(url + "/echo");
			await context.tracing.stopHar();
			const none = await context.tracing.stopHar().catch(e => e.message);
			await context.close();
			return [twice, none, (await read('both.har')).entries.map(path), (await read('page.har')).entries.map(path), (await read('page.har')).entries[0].response.content.text]`,
			`["tracing.startHar: HAR recording has already been started","tracing.stopHar: HAR recording has not been started",["/json","/echo"],["/json"],"{\"a\":1}"]`},
		{"of the session's own context", `
			await page.routeFromHAR('own.har', { update: true, updateContent: 'embed' });
			await page.goto(url + '/json');
			await context.close();
			await page.goto(url + '/echo');
			return (await read('own.har')).entries.map(path)`,
			`["/json"]`},
	}
	for i := range list {
		list[i].code = recordPrelude + list[i].code
	}
	runNetwork(t, list)
}
