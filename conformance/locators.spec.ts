// https://playwright.dev/docs/locators and /docs/other-locators
import { test, expect, type Locator } from '@playwright/test';

const texts = (l: Locator) => l.allTextContents();

test.describe('getByRole', () => {
  test('roles that elements have by themselves', async ({ page }) => {
    await page.setContent(`<h1>Title</h1><nav>n</nav><main>m</main><a href="#">link</a><a>no link</a><button>b</button><input type="checkbox"><textarea></textarea><select><option>o</option></select><ul><li>i</li></ul><table><tr><td>c</td></tr></table><img alt="pic">`);
    for (const role of ['heading', 'navigation', 'main', 'link', 'button', 'checkbox', 'textbox', 'combobox', 'option', 'list', 'listitem', 'table', 'row', 'cell', 'img'] as const)
      await expect(page.getByRole(role), role).toHaveCount(1);
  });

  test('name by substring without case, exact, regexp', async ({ page }) => {
    await page.setContent('<button>Save</button><button>Save as</button><button>autosave</button>');
    expect(await texts(page.getByRole('button', { name: 'save' }))).toEqual(['Save', 'Save as', 'autosave']);
    expect(await texts(page.getByRole('button', { name: 'Save', exact: true }))).toEqual(['Save']);
    expect(await texts(page.getByRole('button', { name: /^save/i }))).toEqual(['Save', 'Save as']);
  });

  test('name from aria-label, aria-labelledby, label, alt and title', async ({ page }) => {
    await page.setContent(`<button aria-label="one">x</button><span id="t">two</span><button aria-labelledby="t">x</button><button><img alt="three"></button><button title="four"></button><label>five <input></label>`);
    for (const name of ['one', 'two', 'three', 'four']) await expect(page.getByRole('button', { name })).toHaveCount(1);
    await expect(page.getByRole('textbox', { name: 'five' })).toHaveCount(1);
  });

  test('states: checked, pressed, expanded, selected, disabled', async ({ page }) => {
    await page.setContent(`<input type="checkbox" checked aria-label="a"><input type="checkbox" aria-label="b"><button aria-pressed="true">p</button><button aria-expanded="false">e</button><button disabled>d</button>
      <div role="tablist"><div role="tab" aria-selected="true">t1</div><div role="tab">t2</div></div>`);
    await expect(page.getByRole('checkbox', { checked: true })).toHaveAccessibleName('a');
    await expect(page.getByRole('checkbox', { checked: false })).toHaveAccessibleName('b');
    await expect(page.getByRole('button', { pressed: true })).toHaveText('p');
    await expect(page.getByRole('button', { expanded: false })).toHaveText('e');
    await expect(page.getByRole('button', { disabled: true })).toHaveText('d');
    await expect(page.getByRole('tab', { selected: true })).toHaveText('t1');
  });

  test('level of headings', async ({ page }) => {
    await page.setContent('<h1>a</h1><h2>b</h2><div role="heading" aria-level="2">c</div>');
    expect(await texts(page.getByRole('heading', { level: 2 }))).toEqual(['b', 'c']);
  });

  test('includeHidden', async ({ page }) => {
    await page.setContent('<button>a</button><button style="display:none">b</button><div aria-hidden="true"><button>c</button></div>');
    expect(await texts(page.getByRole('button'))).toEqual(['a']);
    expect(await texts(page.getByRole('button', { includeHidden: true }))).toEqual(['a', 'b', 'c']);
  });
});

test.describe('getBy…', () => {
  test('getByText: substring, exact, regexp, whitespace', async ({ page }) => {
    await page.setContent('<p>Hello   world</p><p>hello</p><p>Say hello world!</p>');
    expect(await page.getByText('hello world').count()).toBe(2);
    expect(await texts(page.getByText('hello', { exact: true }))).toEqual(['hello']);
    expect(await page.getByText('Hello world', { exact: true }).count()).toBe(1);
    expect(await texts(page.getByText(/^h/))).toEqual(['hello']);
  });

  test('getByText takes the smallest element and the value of buttons', async ({ page }) => {
    await page.setContent('<div><section><b>deep</b></section></div><input type="submit" value="Send it">');
    expect(await page.getByText('deep').evaluate(e => e.tagName)).toBe('B');
    expect(await page.getByText('Send it').evaluate(e => e.tagName)).toBe('INPUT');
  });

  test('getByLabel by label, wrapping label, aria-label, aria-labelledby', async ({ page }) => {
    await page.setContent(`<label for="a">Name</label><input id="a"><label>Mail <input id="b"></label><input id="c" aria-label="Phone"><span id="s">Town</span><input id="d" aria-labelledby="s">`);
    for (const [label, id] of [['Name', 'a'], ['Mail', 'b'], ['Phone', 'c'], ['Town', 'd']]) await expect(page.getByLabel(label)).toHaveId(id);
    await expect(page.getByLabel('name', { exact: true })).toHaveCount(0);
  });

  test('getByPlaceholder, getByAltText, getByTitle', async ({ page }) => {
    await page.setContent('<input placeholder="Your name"><img alt="A cat" src="data:,"><span title="Hint">x</span>');
    await expect(page.getByPlaceholder('your NAME')).toHaveCount(1);
    await expect(page.getByPlaceholder('Your', { exact: true })).toHaveCount(0);
    await expect(page.getByAltText(/cat$/)).toHaveCount(1);
    await expect(page.getByTitle('hint')).toHaveText('x');
  });

  test('getByTestId: exact, regexp, special characters', async ({ page }) => {
    await page.setContent(`<p data-testid="a-1">1</p><p data-testid="a-2">2</p><p data-testid='He"llo'>3</p>`);
    await expect(page.getByTestId('a-1')).toHaveText('1');
    await expect(page.getByTestId('a')).toHaveCount(0);
    await expect(page.getByTestId(/^a-/)).toHaveCount(2);
    await expect(page.getByTestId('He"llo')).toHaveText('3');
  });

  test('a name with quotes and backslashes', async ({ page }) => {
    await page.setContent(`<button>say "hi" \\ 'there'</button>`);
    await expect(page.getByRole('button', { name: `say "hi" \\ 'there'`, exact: true })).toHaveCount(1);
    await expect(page.getByText(`"hi" \\ 'th`)).toHaveCount(1);
  });
});

test.describe('filtering and combining', () => {
  const list = `<ul><li><h3>One</h3><button>Add</button></li><li><h3>Two</h3><button>Add</button><i>new</i></li><li><h3>Three</h3></li></ul>`;

  test('filter hasText and hasNotText', async ({ page }) => {
    await page.setContent(list);
    expect(await texts(page.getByRole('listitem').filter({ hasText: 'two' }).locator('h3'))).toEqual(['Two']);
    expect(await texts(page.getByRole('listitem').filter({ hasText: /T/ }).locator('h3'))).toEqual(['Two', 'Three']);
    expect(await texts(page.getByRole('listitem').filter({ hasNotText: 'Add' }).locator('h3'))).toEqual(['Three']);
  });

  test('filter has and hasNot', async ({ page }) => {
    await page.setContent(list);
    expect(await texts(page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'One' }) }).getByRole('button'))).toEqual(['Add']);
    expect(await page.getByRole('listitem').filter({ hasNot: page.getByRole('button') }).count()).toBe(1);
    expect(await texts(page.locator('li', { has: page.locator('i') }).locator('h3'))).toEqual(['Two']);
  });

  test('filter visible', async ({ page }) => {
    await page.setContent('<p>a</p><p hidden>b</p><p>c</p>');
    expect(await texts(page.locator('p').filter({ visible: true }))).toEqual(['a', 'c']);
    expect(await texts(page.locator('p').filter({ visible: false }))).toEqual(['b']);
  });

  test('and, or', async ({ page }) => {
    await page.setContent('<button title="t">a</button><button>b</button><p title="t">c</p>');
    expect(await texts(page.getByRole('button').and(page.getByTitle('t')))).toEqual(['a']);
    expect(await texts(page.getByRole('button').or(page.locator('p')))).toEqual(['a', 'b', 'c']);
  });

  test('first, last, nth, negative nth', async ({ page }) => {
    await page.setContent('<p>a</p><p>b</p><p>c</p>');
    const p = page.locator('p');
    expect([await p.first().textContent(), await p.last().textContent(), await p.nth(1).textContent(), await p.nth(-2).textContent()]).toEqual(['a', 'c', 'b', 'b']);
    expect(await p.nth(9).count()).toBe(0);
  });

  test('all, count, evaluateAll', async ({ page }) => {
    await page.setContent('<p>a</p><p>b</p>');
    const all = await page.locator('p').all();
    expect(all).toHaveLength(2);
    expect(await all[1].textContent()).toBe('b');
    expect(await page.locator('p').evaluateAll((els, suffix) => els.map(e => e.textContent + suffix), '!')).toEqual(['a!', 'b!']);
    expect(await page.locator('i').all()).toEqual([]);
  });

  test('locator inside locator', async ({ page }) => {
    await page.setContent('<div id="a"><p>in</p></div><p>out</p>');
    expect(await texts(page.locator('#a').locator('p'))).toEqual(['in']);
    expect(await texts(page.locator('#a').locator(page.locator('p')))).toEqual(['in']);
    expect(await texts(page.locator('#a').getByText('in'))).toEqual(['in']);
  });

  test('locator of another frame is refused', async ({ page }) => {
    await page.setContent('<iframe></iframe><p>x</p>');
    const inner = page.frames()[1].locator('p');
    expect(() => page.locator('div', { has: inner })).toThrow('Inner "has" locator must belong to the same frame.');
    expect(() => page.locator('p').and(inner)).toThrow('Locators must belong to the same frame.');
  });
});

test.describe('CSS, XPath and other engines', () => {
  test('css and xpath with and without prefix', async ({ page }) => {
    await page.setContent('<div><p class="x">a</p></div>');
    for (const selector of ['css=p.x', 'p.x', 'xpath=//p', '//p', 'div >> p', 'div >> xpath=./p'])
      await expect(page.locator(selector), selector).toHaveText('a');
  });

  test('text= selectors: quoted is exact, regexp, bare is substring', async ({ page }) => {
    await page.setContent('<p>Log in</p><p>Log in now</p>');
    expect(await page.locator('text=log').count()).toBe(2);
    expect(await page.locator('text="Log in"').count()).toBe(1);
    expect(await page.locator('text=/NOW$/i').count()).toBe(1);
    expect(await page.locator('"Log in"').count()).toBe(1);
  });

  test('CSS pseudo-classes: has-text, text, text-is, text-matches', async ({ page }) => {
    await page.setContent('<div><p>alpha</p><p>alphabet</p></div>');
    expect(await page.locator('p:has-text("ALPHA")').count()).toBe(2);
    expect(await page.locator('p:text-is("alpha")').count()).toBe(1);
    expect(await page.locator('p:text("bet")').count()).toBe(1);
    expect(await page.locator('p:text-matches("^al.*t$", "i")').count()).toBe(1);
    expect(await page.locator('div:has(p:text-is("alpha"))').count()).toBe(1);
  });

  test(':visible, :nth-match and nth=', async ({ page }) => {
    await page.setContent('<p hidden>a</p><p>b</p><p>c</p>');
    expect(await texts(page.locator('p:visible'))).toEqual(['b', 'c']);
    expect(await texts(page.locator(':nth-match(p, 3)'))).toEqual(['c']);
    expect(await texts(page.locator('p >> nth=1'))).toEqual(['b']);
    expect(await texts(page.locator('p >> visible=true >> nth=-1'))).toEqual(['c']);
  });

  test('layout: right-of, left-of, above, below, near', async ({ page }) => {
    await page.setContent(`<style>b, i { position: absolute; width: 20px; height: 20px }</style><b style="left:100px;top:100px"></b>
      <i id="r" style="left:160px;top:100px"></i><i id="l" style="left:20px;top:100px"></i><i id="u" style="left:100px;top:20px"></i><i id="d" style="left:100px;top:300px"></i>`);
    for (const [pseudo, id] of [['right-of', 'r'], ['left-of', 'l'], ['above', 'u'], ['below', 'd']])
      await expect(page.locator(`i:${pseudo}(b)`).first(), pseudo).toHaveId(id);
    expect(await page.locator('i:near(b, 50)').count()).toBe(1);
  });

  test('data-testid and id engines', async ({ page }) => {
    await page.setContent('<p id="a" data-testid="b" data-test-id="c" data-test="d">x</p>');
    for (const selector of ['id=a', 'data-testid=b', 'data-test-id=c', 'data-test=d']) await expect(page.locator(selector), selector).toHaveText('x');
  });

  test('CSS pierces open shadow roots, XPath does not', async ({ page }) => {
    await page.setContent('<my-el></my-el>');
    await page.evaluate(() => { document.querySelector('my-el')!.attachShadow({ mode: 'open' }).innerHTML = '<p>in the shadow</p>'; });
    await expect(page.locator('my-el p')).toHaveText('in the shadow');
    await expect(page.getByText('in the shadow')).toHaveCount(1);
    await expect(page.locator('//p')).toHaveCount(0);
  });

  test('unknown engine and bad CSS are refused', async ({ page }) => {
    await expect(page.locator('nothing=x').click({ timeout: 5000 })).rejects.toThrow('Unknown engine "nothing" while parsing selector nothing=x');
    await expect(page.locator('p[').click({ timeout: 5000 })).rejects.toThrow(/Unexpected token|unexpected/i);
  });
});

test.describe('strictness', () => {
  test('an action on two elements lists both', async ({ page }) => {
    await page.setContent('<button>One</button><button>Two</button>');
    const error = await page.getByRole('button').click({ timeout: 5000 }).catch((e: Error) => e) as Error;
    expect(error.message).toContain(`locator.click: Error: strict mode violation: getByRole('button') resolved to 2 elements:`);
    expect(error.message).toContain(`1) <button>One</button> aka getByRole('button', { name: 'One' })`);
    expect(error.message).toContain(`2) <button>Two</button> aka getByRole('button', { name: 'Two' })`);
  });

  test('reading from two elements is refused as well', async ({ page }) => {
    await page.setContent('<p>1</p><p>2</p>');
    await expect(page.locator('p').textContent()).rejects.toThrow(`strict mode violation: locator('p') resolved to 2 elements`);
    await expect(page.locator('p').isVisible()).rejects.toThrow('strict mode violation');
    expect(await page.locator('p').count()).toBe(2);
  });

  test('page methods are not strict unless asked', async ({ page }) => {
    await page.setContent('<p>1</p><p>2</p>');
    expect(await page.textContent('p')).toBe('1');
    await expect(page.textContent('p', { strict: true })).rejects.toThrow('strict mode violation');
  });

  test('expect on two elements fails at once', async ({ page }) => {
    await page.setContent('<p>1</p><p>2</p>');
    await expect(expect(page.locator('p')).toHaveText('1', { timeout: 3000 })).rejects.toThrow('strict mode violation');
  });
});

test.describe('members of Locator', () => {
  test('reading: textContent, innerText, innerHTML, inputValue, getAttribute', async ({ page }) => {
    await page.setContent('<div data-x="1">a <b>b</b><i style="display:none">c</i></div><input value="v">');
    const div = page.locator('div');
    expect([await div.textContent(), await div.innerText(), await div.innerHTML(), await div.getAttribute('data-x'), await div.getAttribute('no'), await page.locator('input').inputValue()])
      .toEqual(['a bc', 'a b', 'a <b>b</b><i style="display:none">c</i>', '1', null, 'v']);
  });

  test('allInnerTexts and allTextContents do not wait', async ({ page }) => {
    await page.setContent('<p>a<b hidden>b</b></p>');
    expect(await page.locator('p').allInnerTexts()).toEqual(['a']);
    expect(await page.locator('p').allTextContents()).toEqual(['ab']);
    expect(await page.locator('li').allInnerTexts()).toEqual([]);
  });

  test('boundingBox, null when invisible', async ({ page }) => {
    await page.setContent('<div style="position:absolute;left:10px;top:20px;width:30px;height:40px"></div><p hidden>x</p>');
    expect(await page.locator('div').boundingBox()).toEqual({ x: 10, y: 20, width: 30, height: 40 });
    expect(await page.locator('p').boundingBox()).toBe(null);
  });

  test('waitFor: attached, detached, visible, hidden', async ({ page }) => {
    await page.setContent('<p>x</p>');
    await page.locator('p').waitFor();
    await page.evaluate(() => setTimeout(() => { document.querySelector('p')!.hidden = true; }, 50));
    await page.locator('p').waitFor({ state: 'hidden' });
    await page.locator('p').waitFor({ state: 'attached' });
    await page.evaluate(() => setTimeout(() => document.querySelector('p')!.remove(), 50));
    await page.locator('p').waitFor({ state: 'detached' });
    await expect(page.locator('p').waitFor({ timeout: 150 })).rejects.toThrow('locator.waitFor: Timeout 150ms exceeded.');
  });

  test('toString and description', async ({ page }) => {
    expect(String(page.getByRole('button', { name: 'Go' }).first())).toBe(`getByRole('button', { name: 'Go' }).first()`);
    expect(String(page.locator('li').filter({ hasText: 'x' }).nth(2))).toBe(`locator('li').filter({ hasText: 'x' }).nth(2)`);
    expect(String(page.getByTestId('t').getByLabel(/l/i))).toBe(`getByTestId('t').getByLabel(/l/i)`);
  });

  test('describe names a locator, and leaves errors as they are', async ({ page }) => {
    const locator = page.locator('button').describe('The big button');
    expect(locator.description()).toBe('The big button');
    await expect(locator.click({ timeout: 150 })).rejects.toThrow(`waiting for locator('button')`);
  });

  test('page() gives the page, contentFrame() the frame inside', async ({ page }) => {
    await page.setContent('<iframe srcdoc="<p>in</p>"></iframe>');
    const frame = page.locator('iframe');
    expect(frame.page()).toBe(page);
    await expect(frame.contentFrame().locator('p')).toHaveText('in');
    await expect(page.frameLocator('iframe').owner()).toHaveAttribute('srcdoc', '<p>in</p>');
  });

  test('elementHandle and elementHandles', async ({ page }) => {
    await page.setContent('<p>a</p><p>b</p>');
    expect(await (await page.locator('p').first().elementHandle())!.textContent()).toBe('a');
    expect(await page.locator('p').elementHandles()).toHaveLength(2);
  });

  test('highlight does not disturb the page', async ({ page }) => {
    await page.setContent('<p>a</p>');
    await page.locator('p').highlight();
    await expect(page.locator('p')).toHaveText('a');
  });

  test('locators are evaluated anew each time', async ({ page }) => {
    await page.setContent('<p>a</p>');
    const p = page.locator('p');
    expect(await p.textContent()).toBe('a');
    await page.setContent('<p>b</p>');
    expect(await p.textContent()).toBe('b');
  });
});

test('locators are written as a person would', async ({ page }) => {
  const p = page.locator('p');
  for (const [locator, text] of [
    [page.locator('p', { hasText: 'x', has: page.getByText('y') }), `locator('p').filter({ hasText: 'x' }).filter({ has: getByText('y') })`],
    [p.filter({ visible: true }), `locator('p').visible()`],
    [p.filter({ visible: false }), `locator('p').filter({ visible: false })`],
    [p.nth(0), `locator('p').first()`],
    [p.nth(-1), `locator('p').last()`],
    [page.locator('css=p >> nth=2'), `locator('p').nth(2)`],
    [page.locator('xpath=//p'), `locator('//p')`],
    [page.getByText('a', { exact: false }), `getByText('a')`],
    [page.getByText(/a\/b/i), `getByText(/a\\/b/i)`],
    [page.getByText(`it's`), `getByText('it\\'s')`],
    [page.getByRole('heading', { level: 2, name: 'x', exact: true }), `getByRole('heading', { name: 'x', exact: true, level: 2 })`],
    [page.getByRole('button', { pressed: true, disabled: false }), `getByRole('button', { disabled: false, pressed: true })`],
    [p.and(page.getByTitle('t')), `locator('p').and(getByTitle('t'))`],
    [page.frameLocator('iframe').frameLocator('#in').getByText('x'), `locator('iframe').contentFrame().locator('#in').contentFrame().getByText('x')`],
  ] as [Locator, string][]) expect(String(locator)).toBe(text);
});
