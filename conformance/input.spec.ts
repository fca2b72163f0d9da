// https://playwright.dev/docs/input
import { test, expect, type Page } from '@playwright/test';

const log = (page: Page) => page.evaluate('window.log') as Promise<unknown[]>;

// Returns a page that records an element's events in window.log.
const recorder = (html: string, events: string, of = '#t') => `${html}<script>window.log = []; for (const name of '${events}'.split(' '))
  document.querySelector('${of}').addEventListener(name, e => log.push(name + (e.key ? ':' + e.key : '') + (e.button > 0 ? ':' + e.button : '')));</script>`;

test.describe('text', () => {
  test('fill focuses, replaces and fires input', async ({ page }) => {
    await page.setContent(recorder('<input id="t" value="old">', 'focus input change blur keydown'));
    await page.locator('#t').fill('new');
    expect(await page.locator('#t').inputValue()).toBe('new');
    expect(await log(page)).toEqual(['focus', 'input']);
  });

  test('fill with nothing clears; clear does so too', async ({ page }) => {
    await page.setContent('<input id="a" value="x"><textarea id="b">y</textarea>');
    await page.locator('#a').fill('');
    await page.locator('#b').clear();
    expect(await page.locator('#a').inputValue() + await page.locator('#b').inputValue()).toBe('');
  });

  test('fill of date, time, color, range and contenteditable', async ({ page }) => {
    await page.setContent(`<input type="date"><input type="time"><input type="datetime-local"><input type="color"><input type="range" max="10"><div contenteditable>old</div>`);
    await page.locator('[type=date]').fill('2024-02-29');
    await page.locator('[type=time]').fill('13:15');
    await page.locator('[type=datetime-local]').fill('2024-02-29T13:15');
    await page.locator('[type=color]').fill('#ff0080');
    await page.locator('[type=range]').fill('7');
    await page.locator('div').fill('new');
    expect(await page.locator('input').evaluateAll(all => all.map(e => (e as HTMLInputElement).value))).toEqual(['2024-02-29', '13:15', '2024-02-29T13:15', '#ff0080', '7']);
    await expect(page.locator('div')).toHaveText('new');
  });

  test('fill of a range outside of it is held to it', async ({ page }) => {
    await page.setContent('<input type="range" max="10">');
    await page.locator('input').fill('700');
    await expect(page.locator('input')).toHaveValue('10');
  });

  test('fill reaches the control of a label', async ({ page }) => {
    await page.setContent('<label for="t">Name</label><input id="t">');
    await page.getByText('Name').fill('Ada');
    await expect(page.locator('input')).toHaveValue('Ada');
  });

  test('fill waits for editable', async ({ page }) => {
    await page.setContent('<input readonly>');
    await page.evaluate(() => setTimeout(() => { document.querySelector('input')!.readOnly = false; }, 100));
    await page.locator('input').fill('x');
    await expect(page.locator('input')).toHaveValue('x');
  });

  test('pressSequentially sends every key', async ({ page }) => {
    await page.setContent(recorder('<input id="t">', 'keydown keypress input keyup'));
    await page.locator('#t').pressSequentially('aB');
    expect(await log(page)).toEqual(['keydown:a', 'keypress:a', 'input', 'keyup:a', 'keydown:B', 'keypress:B', 'input', 'keyup:B']);
  });

  test('pressSequentially with delay takes its time', async ({ page }) => {
    await page.setContent('<input>');
    const started = Date.now();
    await page.locator('input').pressSequentially('abcd', { delay: 40 });
    expect(Date.now() - started).toBeGreaterThanOrEqual(120);
    await expect(page.locator('input')).toHaveValue('abcd');
  });

  test('characters that no key has', async ({ page }) => {
    await page.setContent('<textarea></textarea>');
    await page.locator('textarea').pressSequentially('é世😀\nx');
    await expect(page.locator('textarea')).toHaveValue('é世😀\nx');
  });
});

test.describe('keys', () => {
  test('press with chords', async ({ page }) => {
    await page.setContent('<textarea>one two</textarea>');
    const area = page.locator('textarea');
    await area.press('ControlOrMeta+a');
    await area.press('Shift+X');
    await expect(area).toHaveValue('X');
    await area.press('Backspace');
    await area.press('$');
    await expect(area).toHaveValue('$');
  });

  test('names of keys arrive as key and code', async ({ page }) => {
    await page.setContent(`<input onkeydown="(window.log ||= []).push(event.key + '/' + event.code + '/' + event.location)">`);
    for (const key of ['Enter', 'Tab', 'Escape', 'ArrowLeft', 'F5', 'KeyA', 'Digit1', 'ShiftLeft', ' ', 'NumpadAdd', 'Delete']) {
      await page.locator('input').focus();
      await page.keyboard.press(key);
    }
    expect(await log(page)).toEqual(['Enter/Enter/0', 'Tab/Tab/0', 'Escape/Escape/0', 'ArrowLeft/ArrowLeft/0', 'F5/F5/0', 'a/KeyA/0', '1/Digit1/0', 'Shift/ShiftLeft/1', ' /Space/0', '+/NumpadAdd/3', 'Delete/Delete/0']);
  });

  test('modifiers are seen by the page and let go', async ({ page }) => {
    await page.setContent(`<input onkeydown="(window.log ||= []).push([event.key, event.ctrlKey, event.shiftKey, event.altKey].join())">`);
    await page.locator('input').press('Control+Alt+Shift+k');
    await page.locator('input').press('q');
    const all = await log(page);
    expect(all.at(-1)).toBe('q,false,false,false');
    expect(all.at(-2)).toMatch(/^k,true,true,true$/i);
  });

  test('keyboard down and up, with text made upper case by Shift', async ({ page }) => {
    await page.setContent('<input autofocus>');
    await page.locator('input').focus();
    await page.keyboard.down('Shift');
    await page.keyboard.press('KeyA');
    await page.keyboard.up('Shift');
    await page.keyboard.press('KeyA');
    await expect(page.locator('input')).toHaveValue('Aa');
  });

  test('repeated down is auto-repeat', async ({ page }) => {
    await page.setContent(`<input onkeydown="(window.log ||= []).push(event.repeat)">`);
    await page.locator('input').focus();
    await page.keyboard.down('a');
    await page.keyboard.down('a');
    await page.keyboard.up('a');
    await page.keyboard.down('a');
    expect(await log(page)).toEqual([false, true, false]);
  });

  test('insertText fires input only', async ({ page }) => {
    await page.setContent(recorder('<input id="t">', 'keydown input keyup'));
    await page.locator('#t').focus();
    await page.keyboard.insertText('嗨 there');
    await expect(page.locator('#t')).toHaveValue('嗨 there');
    expect(await log(page)).toEqual(['input']);
  });

  test('unknown key is refused', async ({ page }) => {
    await expect(page.keyboard.press('Nokey')).rejects.toThrow('Unknown key: "Nokey"');
  });

  test('Enter submits, Tab moves the focus', async ({ page }) => {
    await page.setContent(`<form onsubmit="window.sent = true; return false"><input id="a"><input id="b"><button>Send</button></form>`);
    await page.locator('#a').press('Tab');
    await expect(page.locator('#b')).toBeFocused();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('window.sent')).toBe(true);
  });
});

test.describe('choices', () => {
  test('check, uncheck and setChecked', async ({ page }) => {
    await page.setContent(recorder('<input type="checkbox" id="t">', 'click input change'));
    const box = page.locator('#t');
    await box.check();
    await box.check();
    await expect(box).toBeChecked();
    await box.uncheck();
    await box.setChecked(true);
    expect(await log(page)).toEqual(['click', 'input', 'change', 'click', 'input', 'change', 'click', 'input', 'change']);
  });

  test('check by the label', async ({ page }) => {
    await page.setContent('<label for="t">Agree</label><input id="t" type="checkbox">');
    await page.getByText('Agree').check();
    await expect(page.getByRole('checkbox')).toBeChecked();
  });

  test('a box that refuses to change is told', async ({ page }) => {
    await page.setContent('<input type="checkbox" onclick="return false">');
    await expect(page.locator('input').check({ timeout: 5000 })).rejects.toThrow('Clicking the checkbox did not change its state');
  });

  test('uncheck of a radio button is refused', async ({ page }) => {
    await page.setContent('<input type="radio" checked>');
    await expect(page.locator('input').uncheck({ timeout: 5000 })).rejects.toThrow('Cannot uncheck radio button. Radio buttons can only be unchecked by selecting another radio button in the same group.');
  });

  test('selectOption by value, label, index and several', async ({ page }) => {
    await page.setContent(recorder('<select id="t"><option value="r">Red</option><option value="g">Green</option><option value="b">Blue</option></select>', 'input change'));
    const select = page.locator('#t');
    expect(await select.selectOption('b')).toEqual(['b']);
    expect(await select.selectOption('Red')).toEqual(['r']);
    expect(await select.selectOption({ label: 'Green' })).toEqual(['g']);
    expect(await select.selectOption({ index: 2 })).toEqual(['b']);
    expect(await log(page)).toHaveLength(8);
    await page.setContent('<select multiple><option>1</option><option>2</option><option>3</option></select>');
    expect(await page.locator('select').selectOption(['1', '3'])).toEqual(['1', '3']);
    await expect(page.locator('select')).toHaveValues(['1', '3']);
    expect(await page.locator('select').selectOption([])).toEqual([]);
  });

  test('selectOption waits for the option', async ({ page }) => {
    await page.setContent('<select></select>');
    await page.evaluate(() => setTimeout(() => document.querySelector('select')!.add(new Option('Late', 'late')), 100));
    expect(await page.locator('select').selectOption('late')).toEqual(['late']);
    await expect(page.locator('select').selectOption('never', { timeout: 300 })).rejects.toThrow('did not find some options');
  });

  test('selectOption of something else is refused', async ({ page }) => {
    await page.setContent('<p>x</p>');
    await expect(page.locator('p').selectOption('x', { timeout: 5000 })).rejects.toThrow('Element is not a <select> element');
  });
});

test.describe('mouse', () => {
  test('click sends the whole sequence, trusted', async ({ page }) => {
    await page.setContent(`<button id="t">x</button><script>window.log = []; for (const n of ['pointerdown','mousedown','pointerup','mouseup','click']) t.addEventListener(n, e => log.push(n + ':' + e.isTrusted + ':' + e.detail))</script>`);
    await page.locator('#t').click();
    expect(await log(page)).toEqual(['pointerdown:true:0', 'mousedown:true:1', 'pointerup:true:0', 'mouseup:true:1', 'click:true:1']);
  });

  test('right, middle, double, counted and slow clicks', async ({ page }) => {
    await page.setContent(recorder('<button id="t">x</button>', 'mousedown click dblclick contextmenu auxclick'));
    await page.locator('#t').click({ button: 'right' });
    await page.locator('#t').click({ button: 'middle' });
    expect(await log(page)).toEqual(['mousedown:2', 'contextmenu:2', 'auxclick:2', 'mousedown:1', 'auxclick:1']);
    await page.evaluate('window.log.length = 0');
    await page.locator('#t').dblclick();
    expect(await log(page)).toEqual(['mousedown', 'click', 'mousedown', 'click', 'dblclick']);
    await page.evaluate('window.log.length = 0');
    await page.locator('#t').click({ clickCount: 2, delay: 5 });
    expect(await log(page)).toEqual(['mousedown', 'click', 'mousedown', 'click', 'dblclick']);
  });

  test('modifiers of a click', async ({ page }) => {
    await page.setContent(`<button onclick="window.log = [event.shiftKey, event.altKey, event.ctrlKey]">x</button>`);
    await page.locator('button').click({ modifiers: ['Shift', 'Alt'] });
    expect(await log(page)).toEqual([true, true, false]);
    await page.locator('button').click();
    expect(await log(page)).toEqual([false, false, false]);
  });

  test('hover, and mouse position stays', async ({ page }) => {
    await page.setContent(`<style>p { display: none } button:hover + p { display: block }</style><button>x</button><p>tip</p>`);
    await expect(page.locator('p')).toBeHidden();
    await page.locator('button').hover();
    await expect(page.locator('p')).toBeVisible();
  });

  test('move with steps', async ({ page }) => {
    await page.setContent(`<body style="margin:0;height:500px"><script>window.log = []; addEventListener('mousemove', e => log.push([e.clientX, e.clientY]))</script>`);
    await page.mouse.move(100, 100);
    await page.evaluate('window.log.length = 0');
    await page.mouse.move(200, 140, { steps: 4 });
    expect(await log(page)).toEqual([[125, 110], [150, 120], [175, 130], [200, 140]]);
  });

  test('down, move, up selects text', async ({ page }) => {
    await page.setContent('<body style="margin:0"><p style="margin:0;font:20px monospace">some text to select</p>');
    await page.mouse.move(1, 10);
    await page.mouse.down();
    await page.mouse.move(400, 10);
    await page.mouse.up();
    expect(await page.evaluate(() => getSelection()!.toString())).toBe('some text to select');
  });

  test('wheel scrolls', async ({ page }) => {
    await page.setContent('<div style="height:5000px"></div>');
    await page.mouse.move(50, 50);
    await page.mouse.wheel(0, 300);
    await expect.poll(() => page.evaluate('scrollY')).toBe(300);
  });

  test('mouse.click and dblclick at a point', async ({ page }) => {
    await page.setContent(`<body style="margin:0"><div style="width:200px;height:200px" onclick="window.log = [event.clientX, event.clientY]" ondblclick="window.double = true"></div>`);
    await page.mouse.click(30, 40);
    expect(await log(page)).toEqual([30, 40]);
    await page.mouse.dblclick(30, 40);
    expect(await page.evaluate('window.double')).toBe(true);
  });
});

test.describe('drag and drop', () => {
  const html = `<style>div { position: absolute; width: 80px; height: 80px; top: 0 } #b { left: 300px }</style><div id="a" draggable="true">a</div><div id="b">b</div>
    <script>window.log = []; a.addEventListener('dragstart', e => e.dataTransfer.setData('text', 'hello')); b.addEventListener('dragover', e => e.preventDefault());
    b.addEventListener('drop', e => log.push('drop ' + e.dataTransfer.getData('text'))); a.addEventListener('dragend', () => log.push('end'))</script>`;

  test('dragTo of HTML drag and drop', async ({ page }) => {
    await page.setContent(html);
    await page.locator('#a').dragTo(page.locator('#b'));
    expect(await log(page)).toEqual(['drop hello', 'end']);
  });

  test('page.dragAndDrop', async ({ page }) => {
    await page.setContent(html);
    await page.dragAndDrop('#a', '#b');
    expect(await log(page)).toEqual(['drop hello', 'end']);
  });

  test('by hand with the mouse', async ({ page }) => {
    await page.setContent(html);
    await page.locator('#a').hover();
    await page.mouse.down();
    await page.locator('#b').hover();
    await page.locator('#b').hover();
    await page.mouse.up();
    expect(await log(page)).toEqual(['drop hello', 'end']);
  });

  test('a slider that listens to the mouse', async ({ page }) => {
    await page.setContent('<input type="range" min="0" max="100" value="0" style="width:200px">');
    await page.locator('input').dragTo(page.locator('input'), { sourcePosition: { x: 8, y: 8 }, targetPosition: { x: 100, y: 8 } });
    expect(Number(await page.locator('input').inputValue())).toBeGreaterThan(40);
  });
});

test.describe('focus, files, touch and other events', () => {
  test('focus and blur', async ({ page }) => {
    await page.setContent('<input>');
    await page.locator('input').focus();
    await expect(page.locator('input')).toBeFocused();
    await page.locator('input').blur();
    await expect(page.locator('input')).not.toBeFocused();
  });

  test('selectText', async ({ page }) => {
    await page.setContent('<textarea>some text</textarea><p>para</p>');
    await page.locator('textarea').selectText();
    expect(await page.evaluate(() => { const t = document.querySelector('textarea')!; return t.value.slice(t.selectionStart, t.selectionEnd); })).toBe('some text');
    await page.locator('p').selectText();
    expect(await page.evaluate(() => getSelection()!.toString())).toBe('para');
  });

  test('setInputFiles with buffers', async ({ page }) => {
    await page.setContent(recorder('<input type="file" id="t" multiple>', 'input change'));
    await page.locator('#t').setInputFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('alpha') }, { name: 'b.csv', mimeType: 'text/csv', buffer: Buffer.from('1,2') }]);
    expect(await page.locator('#t').evaluate(async e => Promise.all([...(e as HTMLInputElement).files!].map(async f => [f.name, f.type, await f.text()])))).toEqual([['a.txt', 'text/plain', 'alpha'], ['b.csv', 'text/csv', '1,2']]);
    expect(await log(page)).toEqual(['input', 'change']);
    await page.locator('#t').setInputFiles([]);
    expect(await page.locator('#t').evaluate(e => (e as HTMLInputElement).files!.length)).toBe(0);
  });

  test('setInputFiles of many into a single field is refused', async ({ page }) => {
    await page.setContent('<input type="file">');
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('x') });
    await expect(page.locator('input').setInputFiles([file('a'), file('b')], { timeout: 5000 })).rejects.toThrow('Non-multiple file input can only accept single file');
  });

  test('a file chooser takes files', async ({ page }) => {
    await page.setContent('<input type="file">');
    const chosen = page.waitForEvent('filechooser');
    await page.locator('input').click();
    const chooser = await chosen;
    expect(chooser.isMultiple()).toBe(false);
    expect(chooser.page()).toBe(page);
    expect(await chooser.element().evaluate(e => e.tagName)).toBe('INPUT');
    await chooser.setFiles({ name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    expect(await page.locator('input').evaluate(e => (e as HTMLInputElement).files![0].name)).toBe('x.txt');
  });

  test('dispatchEvent with data, even on hidden elements', async ({ page }) => {
    await page.setContent(`<button hidden onclick="window.log = ['click', event.isTrusted, event.bubbles]">x</button><p></p>`);
    await page.locator('button').dispatchEvent('click');
    expect(await log(page)).toEqual(['click', false, true]);
    await page.locator('p').evaluate(e => e.addEventListener('thing', x => { (window as any).log = [x.constructor.name, (x as CustomEvent).detail]; }));
    await page.locator('p').dispatchEvent('thing', { detail: 7 });
    expect(await log(page)).toEqual(['Event', undefined]);
    const transfer = await page.evaluateHandle(() => { const d = new DataTransfer(); d.setData('text', 'moved'); return d; });
    await page.locator('p').evaluate(e => e.addEventListener('drop', x => { (window as any).log = [(x as DragEvent).dataTransfer!.getData('text')]; }));
    await page.locator('p').dispatchEvent('drop', { dataTransfer: transfer });
    expect(await log(page)).toEqual(['moved']);
  });

  test('scrollIntoViewIfNeeded', async ({ page }) => {
    await page.setContent('<div style="height:3000px"></div><p>x</p>');
    await page.locator('p').scrollIntoViewIfNeeded();
    await expect(page.locator('p')).toBeInViewport();
  });

  test.describe('touch', () => {
    test.use({ hasTouch: true });

    test('tap', async ({ page }) => {
      await page.setContent(recorder('<button id="t">x</button>', 'touchstart touchend click'));
      await page.locator('#t').tap();
      expect(await log(page)).toEqual(['touchstart', 'touchend', 'click']);
      const box = (await page.locator('#t').boundingBox())!;
      await page.touchscreen.tap(box.x + 2, box.y + 2);
      expect(await log(page)).toHaveLength(6);
    });
  });

  test('tap without touch is refused', async ({ page }) => {
    await page.setContent('<button>x</button>');
    await expect(page.locator('button').tap()).rejects.toThrow('The page does not support tap. Use hasTouch context option to enable touch support.');
  });
});
