package scripting_test

import "testing"

func TestLocatorHandlers(t *testing.T) {
	const overlay = `
		await page.setContent('<div id=o style="position:fixed;inset:0;background:red"><button id=close onclick="o.remove()">close</button></div><button id=t onclick="window.n=(window.n||0)+1">t</button>');
	`
	cases(t, []struct{ name, code, want string }{
		{"before an action", overlay + `
			let calls = 0, given;
			await page.addLocatorHandler(page.locator('#o'), async l => { calls++; given = String(l); await page.locator('#close').click(); });
			await page.locator('#t').click();
			await page.locator('#t').click();
			return [calls, given, await page.evaluate(() => window.n)]`,
			`[1,"locator('#o')",2]`},
		{"that comes while an action waits", `
			await page.setContent('<button id=t disabled onclick="window.n=1">t</button><script>setTimeout(() => { const o = document.createElement("div"); o.id = "o"; o.textContent = "x"; document.body.append(o) }, 50)</script>');
			await page.addLocatorHandler(page.locator('#o'), async () => { await page.evaluate(() => { o.remove(); t.disabled = false }); });
			await page.locator('#t').click({ timeout: 10000 });
			return page.evaluate(() => window.n)`,
			`1`},
		{"before an expectation", overlay + `
			await page.addLocatorHandler(page.locator('#o'), async () => { await page.evaluate(() => { o.remove(); t.textContent = 'clear' }); });
			await expect(page.locator('#t')).toHaveText('clear');
			return 'ok'`,
			`"ok"`},
		{"that does not go away", overlay + `
			await page.addLocatorHandler(page.locator('#o'), () => {});
			return (await page.locator('#t').click({ timeout: 800 }).catch(e => e.message)).split('\n').slice(0, 5)`,
			`["locator.click: Timeout 800ms exceeded.","Call log:","  - waiting for locator('#t')","    - found locator('#o'), intercepting action to run the handler","    - locator handler has finished, waiting for locator('#o') to be hidden"]`},
		{"times, noWaitAfter, removal", overlay + `
			let calls = 0;
			await page.addLocatorHandler(page.locator('#o'), () => { calls++ }, { times: 1, noWaitAfter: true });
			await page.locator('#close').focus();
			await page.locator('#close').focus();
			const once = calls;
			await page.addLocatorHandler(page.locator('#o'), () => { calls += 10 }, { noWaitAfter: true });
			await page.removeLocatorHandler(page.locator('#o'));
			await page.locator('#close').focus();
			await page.addLocatorHandler(page.locator('#o'), () => { calls += 100 }, { times: 0 });
			await page.locator('#close').click({ force: true });
			return [once, calls]`,
			`[1,1]`},
	})
}
