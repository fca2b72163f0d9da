// https://playwright.dev/docs/test-assertions and /docs/api/class-locatorassertions
import { test, expect } from '@playwright/test';

// Returns the message of an assertion that must fail, without colours.
async function messageOf(assertion: Promise<void>) {
  const error = await assertion.then(() => undefined, (e: Error) => e);
  expect(error, 'the assertion held').toBeTruthy();
  return error!.message.replace(/\x1b\[\d+m/g, '');
}

const soon = { timeout: 700 };

test.describe('locator assertions', () => {
  test('toBeAttached', async ({ page }) => {
    await page.setContent('<p hidden>x</p>');
    await expect(page.locator('p')).toBeAttached();
    await expect(page.locator('i')).not.toBeAttached();
    await expect(page.locator('i')).toBeAttached({ attached: false });
    expect(await messageOf(expect(page.locator('i')).toBeAttached(soon))).toContain('toBeAttached');
  });

  test('toBeVisible and toBeHidden', async ({ page }) => {
    await page.setContent('<p>x</p><i hidden>y</i>');
    await expect(page.locator('p')).toBeVisible();
    await expect(page.locator('i')).toBeHidden();
    await expect(page.locator('b')).toBeHidden();
    await expect(page.locator('i')).not.toBeVisible();
    await expect(page.locator('i')).toBeVisible({ visible: false });
  });

  test('toBeChecked', async ({ page }) => {
    await page.setContent('<input type="checkbox" checked id="a"><input type="checkbox" id="b">');
    await expect(page.locator('#a')).toBeChecked();
    await expect(page.locator('#b')).not.toBeChecked();
    await expect(page.locator('#b')).toBeChecked({ checked: false });
    await page.locator('#b').evaluate(e => { (e as HTMLInputElement).indeterminate = true; });
    await expect(page.locator('#b')).toBeChecked({ indeterminate: true });
  });

  test('toBeEnabled, toBeDisabled, toBeEditable', async ({ page }) => {
    await page.setContent('<input id="a"><input id="b" disabled><input id="c" readonly>');
    await expect(page.locator('#a')).toBeEnabled();
    await expect(page.locator('#b')).toBeDisabled();
    await expect(page.locator('#b')).toBeEnabled({ enabled: false });
    await expect(page.locator('#a')).toBeEditable();
    await expect(page.locator('#c')).not.toBeEditable();
    await expect(page.locator('#c')).toBeEditable({ editable: false });
  });

  test('toBeEmpty and toBeFocused', async ({ page }) => {
    await page.setContent('<input id="a"><p></p><div> </div><b>x</b>');
    await expect(page.locator('#a')).toBeEmpty();
    await expect(page.locator('p')).toBeEmpty();
    await expect(page.locator('b')).not.toBeEmpty();
    await page.locator('#a').focus();
    await expect(page.locator('#a')).toBeFocused();
    await expect(page.locator('b')).not.toBeFocused();
  });

  test('toBeInViewport with ratio', async ({ page }) => {
    await page.setContent('<body style="margin:0"><div style="height:1440px"></div><p>low</p>');
    await expect(page.locator('div')).toBeInViewport();
    await expect(page.locator('div')).toBeInViewport({ ratio: 0.4 });
    await expect(page.locator('div')).not.toBeInViewport({ ratio: 0.9 });
    await expect(page.locator('p')).not.toBeInViewport();
  });

  test('toHaveText: string, regexp, whitespace, case, list', async ({ page }) => {
    await page.setContent('<ul><li>  One\n item </li><li>Two</li></ul>');
    const items = page.locator('li');
    await expect(items.first()).toHaveText('One item');
    await expect(items.first()).toHaveText(/^\s*One/);
    await expect(items.first()).toHaveText('ONE ITEM', { ignoreCase: true });
    await expect(items.first()).not.toHaveText('One');
    await expect(items).toHaveText(['One item', /two/i]);
    await expect(items).not.toHaveText(['One item']);
    await expect(page.locator('b')).toHaveText([]);
  });

  test('toContainText: substring, list in order', async ({ page }) => {
    await page.setContent('<ul><li>Text 1</li><li>Text 2</li><li>Text 3</li></ul>');
    await expect(page.locator('ul')).toContainText('2');
    await expect(page.locator('li')).toContainText(['Text 1', '3']);
    await expect(page.locator('li')).not.toContainText(['3', '1']);
    await expect(page.locator('ul')).toContainText(/\d Text/.source.length ? /Text/ : 'x');
  });

  test('useInnerText', async ({ page }) => {
    await page.setContent('<p>a<b style="display:none">b</b></p>');
    await expect(page.locator('p')).toHaveText('ab');
    await expect(page.locator('p')).toHaveText('a', { useInnerText: true });
  });

  test('toHaveAttribute, toHaveClass, toContainClass, toHaveId', async ({ page }) => {
    await page.setContent('<p id="i" class="a b" data-x="1">x</p><p class="c">y</p>');
    const p = page.locator('p').first();
    await expect(p).toHaveAttribute('data-x', '1');
    await expect(p).toHaveAttribute('data-x', /\d/);
    await expect(p).toHaveAttribute('data-x');
    await expect(p).not.toHaveAttribute('title');
    await expect(p).toHaveAttribute('class', 'A B', { ignoreCase: true });
    await expect(p).toHaveClass('a b');
    await expect(p).toHaveClass(/b/);
    await expect(page.locator('p')).toHaveClass(['a b', 'c']);
    await expect(p).toContainClass('b');
    await expect(p).not.toContainClass('z');
    await expect(page.locator('p')).toContainClass(['a', 'c']);
    await expect(p).toHaveId('i');
  });

  test('toHaveCSS, toHaveJSProperty, toHaveCount', async ({ page }) => {
    await page.setContent('<p style="color:red;--own: 5px">x</p><p>y</p>');
    await expect(page.locator('p').first()).toHaveCSS('color', 'rgb(255, 0, 0)');
    await expect(page.locator('p').first()).toHaveCSS('--own', /5px/);
    await page.locator('p').first().evaluate(e => { (e as any).thing = { a: [1] }; });
    await expect(page.locator('p').first()).toHaveJSProperty('thing', { a: [1] });
    await expect(page.locator('p')).toHaveCount(2);
    await expect(page.locator('i')).toHaveCount(0);
  });

  test('toHaveValue and toHaveValues', async ({ page }) => {
    await page.setContent('<input value="abc"><select multiple><option selected>1</option><option selected>2</option></select>');
    await expect(page.locator('input')).toHaveValue('abc');
    await expect(page.locator('input')).toHaveValue(/^a/);
    await expect(page.locator('select')).toHaveValues(['1', /2/]);
  });

  test('accessible name, description, error message, role', async ({ page }) => {
    await page.setContent(`<button aria-label="Save it" aria-describedby="d">x</button><p id="d">Saves everything</p><input aria-invalid="true" aria-errormessage="e"><p id="e">Wrong</p>`);
    await expect(page.locator('button')).toHaveAccessibleName('Save it');
    await expect(page.locator('button')).toHaveAccessibleDescription(/everything/);
    await expect(page.locator('input')).toHaveAccessibleErrorMessage('Wrong');
    await expect(page.locator('button')).toHaveRole('button');
    await expect(page.locator('input')).not.toHaveRole('button');
  });

  test('they retry', async ({ page }) => {
    await page.setContent('<p>one</p>');
    await page.evaluate(() => setTimeout(() => { document.querySelector('p')!.textContent = 'two'; }, 150));
    await expect(page.locator('p')).toHaveText('two');
    await page.evaluate(() => setTimeout(() => document.querySelector('p')!.remove(), 100));
    await expect(page.locator('p')).toHaveCount(0);
  });

  test('a number has to be a number', async ({ page }) => {
    await expect((expect(page.locator('p')) as any).toHaveCount('1')).rejects.toThrow();
  });
});

test.describe('page assertions', () => {
  test('toHaveTitle', async ({ page }) => {
    await page.goto('/one');
    await expect(page).toHaveTitle('One');
    await expect(page).toHaveTitle(/^O/);
    await expect(page).not.toHaveTitle('Two');
  });

  test('toHaveURL: string, glob-free, regexp, function, case', async ({ page, baseURL }) => {
    await page.goto('/one?a=1');
    await expect(page).toHaveURL(baseURL + '/one?a=1');
    await expect(page).toHaveURL('/one?a=1');
    await expect(page).toHaveURL(/one/);
    await expect(page).toHaveURL(url => url.searchParams.get('a') === '1');
    await expect(page).toHaveURL('/ONE?A=1', { ignoreCase: true });
    await expect(page).not.toHaveURL(/two/);
  });

  test('messages', async ({ page, baseURL }) => {
    await page.goto('/one');
    const title = await messageOf(expect(page).toHaveTitle('Other', soon));
    expect(title).toContain('expect(page).toHaveTitle(expected) failed');
    expect(title).toContain('Expected: "Other"');
    expect(title).toContain('Received: "One"');
    const url = await messageOf(expect(page).toHaveURL('/other', soon));
    expect(url).toContain('expect(page).toHaveURL(expected) failed');
    expect(url).toContain(`Expected: "${baseURL}/other"`);
    expect(url).toContain(`Received: "${baseURL}/one"`);
  });
});

test.describe('messages of locator assertions', () => {
  test('toHaveText', async ({ page }) => {
    await page.setContent('<p>one</p>');
    const message = await messageOf(expect(page.locator('p')).toHaveText('two', soon));
    expect(message).toContain('expect(locator).toHaveText(expected) failed');
    expect(message).toContain(`Locator:  locator('p')`);
    expect(message).toContain('Expected: "two"');
    expect(message).toContain('Received: "one"');
    expect(message).toContain('Timeout:  700ms');
    expect(message).toContain('Call log:');
    expect(message).toContain('- Expect "toHaveText" locator(\'p\') with timeout 700ms');
    expect(message).toContain('unexpected value "one"');
  });

  test('toBeVisible of nothing', async ({ page }) => {
    const message = await messageOf(expect(page.locator('p')).toBeVisible(soon));
    expect(message).toContain('expect(locator).toBeVisible() failed');
    expect(message).toContain('Expected: visible');
    expect(message).toContain('Error: element(s) not found');
  });

  test('not', async ({ page }) => {
    await page.setContent('<p>one</p>');
    const message = await messageOf(expect(page.locator('p')).not.toBeVisible(soon));
    expect(message).toContain('expect(locator).not.toBeVisible() failed');
    expect(message).toContain('Expected: not visible');
    expect(message).toContain('Received: visible');
  });

  test('toHaveCount', async ({ page }) => {
    await page.setContent('<p>one</p>');
    const message = await messageOf(expect(page.locator('p')).toHaveCount(3, soon));
    expect(message).toContain('Expected: 3');
    expect(message).toContain('Received: 1');
  });

  test('toBeEnabled', async ({ page }) => {
    await page.setContent('<button disabled>x</button>');
    const message = await messageOf(expect(page.locator('button')).toBeEnabled(soon));
    expect(message).toContain('Expected: enabled');
    expect(message).toContain('Received: disabled');
  });

  test('lists show a difference', async ({ page }) => {
    await page.setContent('<li>a</li><li>b</li>');
    const message = await messageOf(expect(page.locator('li')).toHaveText(['a', 'c'], soon));
    expect(message).toContain('-   "c",');
    expect(message).toContain('+   "b",');
  });

  test('a message of one\'s own', async ({ page }) => {
    expect(await messageOf(expect(page.locator('p'), 'should be logged in').toBeVisible(soon))).toContain('should be logged in');
    expect(await messageOf(Promise.resolve().then(() => expect(1, 'one is two').toBe(2)))).toContain('one is two');
  });
});

test.describe('expect itself', () => {
  test('poll', async () => {
    let n = 0;
    await expect.poll(() => ++n, { intervals: [5], timeout: 2000 }).toBe(4);
    await expect.poll(async () => ({ n: ++n }), { intervals: [5] }).toEqual({ n: 5 });
    const message = await messageOf(expect.poll(() => 1, { timeout: 150, intervals: [20], message: 'it never came' }).toBe(2));
    expect(message).toContain('it never came');
    expect(message).toContain('Expected: 2');
    expect(message).toContain('Timeout 150ms exceeded while waiting on the predicate');
  });

  test('toPass', async () => {
    let n = 0;
    await expect(() => { expect(++n).toBe(3); }).toPass({ intervals: [5] });
    await expect(async () => { expect(++n).toBeGreaterThan(5); }).toPass({ intervals: [5], timeout: 2000 });
    const message = await messageOf(expect(() => { expect(1).toBe(2); }).toPass({ timeout: 150, intervals: [20] }));
    expect(message).toContain('Timeout 150ms exceeded while waiting on the predicate');
  });

  test('resolves and rejects', async () => {
    await expect(Promise.resolve(3)).resolves.toBe(3);
    await expect(Promise.reject(new Error('no'))).rejects.toThrow('no');
    await expect(Promise.reject({ code: 5 })).rejects.toEqual({ code: 5 });
    await expect(expect(Promise.resolve(1)).rejects.toThrow()).rejects.toThrow('Received promise resolved instead of rejected');
  });

  test('configure', async ({ page }) => {
    const quick = expect.configure({ timeout: 120, message: 'quickly' });
    expect(await messageOf(quick(page.locator('p')).toBeVisible())).toMatch(/quickly[^]*120ms/);
  });

  test('extend', async () => {
    const mine = expect.extend({
      toBeEven(received: number) {
        return { pass: received % 2 === 0, message: () => `${received} is ${this.isNot ? '' : 'not '}even`, name: 'toBeEven' };
      },
      async toBeLater(received: number, than: number) {
        await Promise.resolve();
        return { pass: received > than, message: () => 'not later' };
      },
    });
    mine(4).toBeEven();
    mine(3).not.toBeEven();
    expect(() => mine(3).toBeEven()).toThrow('3 is not even');
    await mine(2).toBeLater(1);
    await expect(mine(1).toBeLater(2)).rejects.toThrow('not later');
  });

  test('expect of nothing that has the matcher', async () => {
    expect(await messageOf((expect(5) as any).toBeVisible())).toContain('toBeVisible can be only used with Locator object');
  });

  test('soft goes on', async () => {
    test.fail();
    expect.soft(1).toBe(2);
    expect(test.info().errors).toHaveLength(1);
    expect.soft('a').toBe('a');
  });
});
