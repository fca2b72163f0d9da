package scripting_test

import "testing"

func TestMoreOfLocators(t *testing.T) {
	const table = `
		await page.setContent('<table><tr><td>a<td>b<td>c<tr><td>d<td>e<td>f</table><button id=b1>Submit</button><p hidden>no</p><p>yes</p><div id=z style="width:100px;height:50px">drop</div>');
	`
	cases(t, []struct{ name, code, want string }{
		{"within and visible", table + `
			const third = page.getByRole('cell').nth(2).within(page.getByRole('row'));
			return [await third.allTextContents(), String(third), await page.locator('p').visible().allTextContents(), String(page.locator('p').visible())]`,
			`[["c","f"],"getByRole('row').locator(getByRole('cell').nth(2))",["yes"],"locator('p').visible()"]`},
		{"normalize", table + `
			const n = await page.locator('#b1').normalize();
			return [String(n), await n.textContent()]`,
			`["getByRole('button', { name: 'Submit' })","Submit"]`},
		{"aria snapshots", table + `
			const ai = await page.ariaSnapshot({ mode: 'ai' });
			const ref = /button "Submit" \[ref=(\w+)\]/.exec(ai)[1];
			const found = await page.getByRef(ref).textContent();
			const json = await page.locator('table').ariaSnapshotJSON();
			return [(await page.ariaSnapshot()).split('\n').slice(-3), found, json[0].role, (await page.ariaSnapshotJSON())[1], typeof (await page.locator('#b1').ariaSnapshotJSON({ boxes: true }))[0].box.width]`,
			`[["- button \"Submit\"","- paragraph: \"yes\"","- text: drop"],"Submit","table",{"role":"button","name":"Submit"},"number"]`},
		{"waitForFunction", table + `
			await page.evaluate(() => { setTimeout(() => { b1.outerHTML = '<button id=b1 data-x=5>New</button>' }, 100) });
			const out = [await page.locator('#b1').waitForFunction((e, x) => e.dataset.x === x, '5')];
			for (const [l, f] of [['#b1', () => false], ['#b1', () => { throw new Error('q') }], ['td', () => 1]])
				await page.locator(l).waitForFunction(f, undefined, { timeout: 300 }).catch(e => out.push(e.message.split('\n')[0]));
			return out`,
			`[null,"locator.waitForFunction: Timeout 300ms exceeded.","locator.waitForFunction: Error: q","locator.waitForFunction: Error: strict mode violation: locator('td') resolved to 6 elements:"]`},
		{"drop", table + `
			await page.evaluate(() => { window.ev = []; for (const t of ['dragenter', 'dragover', 'drop', 'dragleave']) z.addEventListener(t, async e => {
				if (window.ok) e.preventDefault();
				const f = e.dataTransfer.files[0];
				ev.push([t, [...e.dataTransfer.types].join(), e.dataTransfer.getData('text/plain'), f && f.name].join('|')); }) });
			const files = { name: 'n.txt', mimeType: 'text/plain', buffer: Buffer.from('x') };
			const refused = await page.locator('#z').drop({ files }).catch(e => e.message.split('\n')[0]);
			const first = await page.evaluate(() => ev.splice(0));
			await page.evaluate(() => { window.ok = true });
			await page.locator('#z').drop({ files: [files], data: { 'text/plain': 'hello' } }, { position: { x: 5, y: 5 } });
			return [refused, first, await page.evaluate(() => ev), await page.locator('#z').drop({}).catch(e => e.message)]`,
			`["locator.drop: Drop target did not accept the drop — its dragover handler did not call preventDefault()",["dragenter|Files||n.txt","dragover|Files||n.txt","dragleave|Files||n.txt"],` +
				`["dragenter|text/plain,Files|hello|n.txt","dragover|text/plain,Files|hello|n.txt","drop|text/plain,Files|hello|n.txt"],"locator.drop: At least one of \"files\" or \"data\" must be provided."]`},
		{"highlight", table + `
			const d = await page.locator('#b1').highlight({ style: { outlineColor: 'red' } });
			await page.waitForFunction(() => document.querySelector('x-pw-glass'));
			await d.dispose();
			await page.locator('#b1').highlight();
			await page.hideHighlight();
			return (await page.ariaSnapshot()).includes('Submit')`,
			`true`},
		{"handles", `
			const five = await page.evaluateHandle(() => 5);
			const o = await page.evaluateHandle(() => ({ a: 1, f: () => 2, n: null, u: undefined, [Symbol('s')]: 3 }));
			const out = [await five.evaluate((x, y) => x + y, 3), String(await five.getProperty('constructor')).slice(0, 15), (await five.getProperties()).size, String(o), [...await o.getProperties()].map(([k, v]) => k + ':' + v), String(await o.getProperty('none'))];
			await o.dispose();
			return [...out, await o.jsonValue().catch(e => e.message), String(await page.evaluateHandle(() => window)), String(await page.evaluateHandle(() => [1, 2])), String(await page.evaluateHandle(() => document.body))]`,
			`[8,"function Number",0,"Object",["a:1","f:() => 2","n:null","u:undefined","Symbol(s):3"],"undefined","jsHandle.jsonValue: Target page, context or browser has been closed","Window","Array(2)","JSHandle@node"]`},
	})
}
