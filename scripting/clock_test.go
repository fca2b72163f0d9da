package scripting_test

import "testing"

func TestClock(t *testing.T) {
	cases(t, []struct{ name, code, want string }{
		{"time stands and runs", `
			await page.clock.install({ time: new Date('2024-02-02T10:00:00Z') });
			await page.goto(args.url);
			await page.clock.pauseAt('2024-02-02T11:00:00Z');
			const now = () => page.evaluate(() => new Date().toISOString());
			const out = [await now()];
			await page.evaluate(() => { window.fired = []; setTimeout(() => fired.push('a'), 1000); setInterval(() => fired.push('i'), 600); });
			await page.clock.runFor(1300);
			out.push(await page.evaluate(() => fired.join('')));
			await page.clock.fastForward('01:00');
			out.push(await page.evaluate(() => fired.join('')), await now());
			await page.waitForFunction(() => true);
			await page.locator('h1').click();
			await page.reload();
			out.push(await now());
			return [...out, page.clock === context.clock]`,
			`["2024-02-02T11:00:00.000Z","iai","iaii","2024-02-02T11:01:01.300Z","2024-02-02T11:01:01.300Z",true]`},
		{"fixed and set", `
			await page.clock.setFixedTime(100000);
			const fixed = await page.evaluate(async () => { const a = Date.now(); await new Promise(r => setTimeout(r, 30)); return [a, Date.now()] });
			await page.clock.setSystemTime(new Date(5000000));
			const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { window.open('about:blank') })]);
			return [fixed, await page.evaluate(() => Math.floor(Date.now() / 100000)), await popup.evaluate(() => Math.floor(Date.now() / 100000))]`,
			`[[100000,100000],50,50]`},
		{"refusals", `
			const messages = [];
			for (const f of [() => page.clock.fastForward('1:2:3:4'), () => page.clock.runFor('99'), () => page.clock.setFixedTime('garbage'), () => page.clock.runFor(-5)])
				await f().catch(e => messages.push(e.message.split('\n')[0]));
			return messages`,
			`["clock.fastForward: Clock only understands numbers, 'mm:ss' and 'hh:mm:ss'","clock.runFor: Invalid time 99","clock.setFixedTime: Invalid date: garbage","clock.runFor: TypeError: Negative ticks are not supported"]`},
	})
}

func TestContent(t *testing.T) {
	cases(t, []struct{ name, code, want string }{
		{"content with shadow roots", `
			await page.setContent('<div id=h></div>');
			await page.evaluate(() => { h.attachShadow({ mode: 'open' }).innerHTML = '<i>in</i>' });
			return [(await page.content()).includes('<i>in</i>'), (await page.content({ includeShadow: true })).includes('<template shadowrootmode="open"><i>in</i>')]`,
			`[false,true]`},
	})
}
