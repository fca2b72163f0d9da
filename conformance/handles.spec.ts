// https://playwright.dev/docs/handles
import { test, expect } from '@playwright/test';

test('evaluateHandle, evaluate with it, dispose', async ({ page }) => {
  const handle = await page.evaluateHandle(() => ({ list: [1, 2, 3] }));
  expect(await handle.evaluate(o => o.list.length)).toBe(3);
  expect(await handle.evaluate((o, n) => o.list[n], 1)).toBe(2);
  expect(await page.evaluate(o => o.list[0], handle)).toBe(1);
  await handle.dispose();
  await expect(handle.evaluate(o => o)).rejects.toThrow(/disposed|closed/);
});

test('handles nested in arguments', async ({ page }) => {
  const a = await page.evaluateHandle(() => ({ v: 1 }));
  const b = await page.evaluateHandle(() => ({ v: 2 }));
  expect(await page.evaluate(({ list: [x, { y }] }) => x.v + y.v, { list: [a, { y: b }] as const })).toBe(3);
});

test('getProperty, getProperties, jsonValue, asElement', async ({ page }) => {
  await page.setContent('<p>x</p>');
  const handle = await page.evaluateHandle(() => ({ n: 5, el: document.querySelector('p') }));
  expect(await (await handle.getProperty('n')).jsonValue()).toBe(5);
  const properties = await handle.getProperties();
  expect([...properties.keys()]).toEqual(['n', 'el']);
  expect(properties.get('n')!.asElement()).toBe(null);
  const element = properties.get('el')!.asElement()!;
  expect(await element.textContent()).toBe('x');
  expect(await (await page.evaluateHandle(() => [1, { a: 2 }])).jsonValue()).toEqual([1, { a: 2 }]);
});

test('what handles look like', async ({ page }) => {
  await page.setContent('<p id="a" class="b">x</p>');
  const text = async (expression: string) => String(await page.evaluateHandle(expression));
  expect(await text('1')).toBe('1');
  expect(await text('"s"')).toBe('s');
  expect(await text('true')).toBe('true');
  expect(await text('null')).toBe('null');
  expect(await text('undefined')).toBe('undefined');
  expect(await text('(() => { class Foo {} ; return new Foo })()')).toBe('Foo');
  expect(await text('[1,2]')).toBe('Array(2)');
  expect(await text('window')).toBe('Window');
  expect(String(await page.$('p'))).toContain('JSHandle@');
});

test('$, $$, $eval, $$eval', async ({ page }) => {
  await page.setContent('<p>a</p><p>b</p>');
  expect(await (await page.$('p'))!.textContent()).toBe('a');
  expect(await page.$('i')).toBe(null);
  expect(await page.$$('p')).toHaveLength(2);
  expect(await page.$eval('p', (e, s) => e.textContent + s, '!')).toBe('a!');
  expect(await page.$$eval('p', (all, n) => all.length + n, 1)).toBe(3);
  expect(await page.$$eval('i', all => all.length)).toBe(0);
  await expect(page.$eval('i', e => e)).rejects.toThrow('Failed to find element matching selector "i"');
});

test('queries under an element', async ({ page }) => {
  await page.setContent('<div><p>in</p><p>two</p></div><p>out</p>');
  const div = (await page.$('div'))!;
  expect(await (await div.$('p'))!.textContent()).toBe('in');
  expect(await div.$$('p')).toHaveLength(2);
  expect(await div.$eval('p', e => e.textContent)).toBe('in');
  expect(await div.$$eval('p', all => all.map(e => e.textContent))).toEqual(['in', 'two']);
});

test('actions of an element handle', async ({ page }) => {
  await page.setContent(`<button onclick="this.textContent = 'clicked'">x</button><input><input type="checkbox"><select><option>1</option><option>2</option></select>`);
  const button = (await page.$('button'))!;
  await button.click();
  expect(await button.innerText()).toBe('clicked');
  const input = (await page.$('input'))!;
  await input.fill('typed');
  await input.press('End');
  await input.type('!');
  expect(await input.inputValue()).toBe('typed!');
  const box = (await page.$('[type=checkbox]'))!;
  await box.check();
  expect(await box.isChecked()).toBe(true);
  await box.setChecked(false);
  expect(await box.isChecked()).toBe(false);
  expect(await (await page.$('select'))!.selectOption('2')).toEqual(['2']);
  await button.hover();
  await button.focus();
  await button.scrollIntoViewIfNeeded();
  expect((await button.boundingBox())!.width).toBeGreaterThan(10);
});

test('an element that left the document', async ({ page }) => {
  await page.setContent('<button>x</button>');
  const button = (await page.$('button'))!;
  await button.evaluate(e => e.remove());
  await expect(button.click({ timeout: 2000 })).rejects.toThrow('Element is not attached to the DOM');
  expect(await button.isVisible()).toBe(false);
  expect(await button.boundingBox()).toBe(null);
});

test('a handle does not survive navigation', async ({ page }) => {
  await page.goto('/one');
  const h1 = (await page.$('h1'))!;
  await page.goto('/two');
  await expect(h1.textContent()).rejects.toThrow(/Execution context was destroyed|JSHandles can be evaluated only in the context they were created/);
});

test('handles of a document that is gone', async ({ page }) => {
  await page.goto('/one');
  const h1 = (await page.$('h1'))!;
  const object = await page.evaluateHandle(() => ({ a: 1 }));
  await page.goto('/two');
  const gone = 'Execution context was destroyed, most likely because of a navigation';
  for (const call of [() => h1.evaluate(e => e.tagName), () => h1.getAttribute('id'), () => h1.isEnabled(), () => h1.dispatchEvent('click'), () => h1.ownerFrame(), () => object.jsonValue(), () => object.getProperties()])
    await expect(call()).rejects.toThrow(gone);
  for (const call of [() => h1.click(), () => h1.hover(), () => h1.focus(), () => h1.selectText(), () => h1.waitForElementState('hidden'), () => h1.contentFrame()])
    await expect(call()).rejects.toThrow('Element is not attached to the DOM');
  expect([await h1.boundingBox(), await h1.isVisible(), await h1.isHidden()]).toEqual([null, false, true]);
});

test('handles of a frame that was removed', async ({ page }) => {
  await page.goto('/framed');
  const text = (await page.frame('inner')!.$('#text'))!;
  await page.evaluate(() => document.querySelector('iframe')!.remove());
  await expect(text.textContent()).rejects.toThrow('Frame was detached');
  await expect(text.evaluate(e => e.tagName)).rejects.toThrow('Frame was detached');
  await expect(text.click()).rejects.toThrow('Frame has been detached.');
});

test('handles of an element that was removed', async ({ page }) => {
  await page.setContent('<div><p>x</p></div>');
  const div = (await page.$('div'))!;
  await div.evaluate(e => e.remove());
  await expect(div.waitForSelector('b')).rejects.toThrow('Element is not attached to the DOM');
  expect(await div.textContent()).toBe('x');
});

test('what was disposed is closed', async ({ page }) => {
  const object = await page.evaluateHandle(() => ({ a: 1 }));
  await object.dispose();
  await object.dispose();
  await expect(object.jsonValue()).rejects.toThrow('jsHandle.jsonValue: Target page, context or browser has been closed');
});

test('a handle of another frame is refused', async ({ page }) => {
  await page.goto('/framed');
  const body = (await page.frame('inner')!.$('body'))!;
  await expect(page.evaluate(e => e.tagName, await page.frame('inner')!.evaluateHandle(() => ({ tagName: 'x' })))).rejects.toThrow('JSHandles can be evaluated only in the context they were created');
  expect(await body.evaluate(e => e.tagName)).toBe('BODY');
});

test('waitForSelector of a handle', async ({ page }) => {
  await page.setContent('<div></div>');
  const div = (await page.$('div'))!;
  const waiting = div.waitForSelector('p');
  await div.evaluate(e => { e.innerHTML = '<p>x</p>'; });
  expect(await (await waiting).textContent()).toBe('x');
});

test('identity of elements over worlds', async ({ page }) => {
  await page.setContent('<p>x</p>');
  const p = (await page.$('p'))!;
  expect(await p.evaluate(e => e === document.querySelector('p'))).toBe(true);
  expect(await page.evaluate(([a, b]) => a === b, [p, (await page.$('p'))!])).toBe(true);
});

test('Symbol.asyncDispose exists on what can be disposed', async ({ page }) => {
  const handle = await page.evaluateHandle(() => ({}));
  expect(typeof (handle as any)[Symbol.asyncDispose]).toMatch(/function|undefined/);
  expect(typeof handle.dispose).toBe('function');
});
