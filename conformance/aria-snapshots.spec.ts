// https://playwright.dev/docs/aria-snapshots
import { test, expect } from '@playwright/test';

const list = `<ul aria-label="Shopping"><li>Milk</li><li>Bread <a href="/bakery">from there</a></li></ul>`;

test('ariaSnapshot gives YAML', async ({ page }) => {
  await page.setContent(`<h1>Todos</h1>${list}<button disabled>Go</button><input type="checkbox" checked aria-label="Done">`);
  expect(await page.locator('body').ariaSnapshot()).toBe([
    '- heading "Todos" [level=1]',
    '- list "Shopping":',
    '  - listitem: Milk',
    '  - listitem:',
    '    - text: Bread',
    '    - link "from there":',
    '      - /url: /bakery',
    '- button "Go" [disabled]',
    '- checkbox "Done" [checked]',
  ].join('\n'));
});

test('the same of the page', async ({ page }) => {
  await page.setContent('<h2>One</h2>');
  expect(await page.ariaSnapshot()).toBe('- heading "One" [level=2]');
});

test('toMatchAriaSnapshot, whole and in part', async ({ page }) => {
  await page.setContent(`<h1>Todos</h1>${list}`);
  await expect(page.locator('body')).toMatchAriaSnapshot(`
    - heading "Todos" [level=1]
    - list "Shopping":
      - listitem: Milk
      - listitem:
        - text: Bread
        - link "from there"
  `);
  await expect(page.locator('body')).toMatchAriaSnapshot(`- heading`);
  await expect(page.locator('body')).toMatchAriaSnapshot(`
    - list:
      - listitem: Milk
  `);
});

test('regular expressions', async ({ page }) => {
  await page.setContent('<h1>Issues 12</h1><p>3 minutes ago</p>');
  await expect(page.locator('body')).toMatchAriaSnapshot(`
    - heading /Issues \\d+/
    - paragraph: /\\d+ minutes ago/
  `);
});

test('states', async ({ page }) => {
  await page.setContent('<button aria-pressed="true">p</button><button aria-expanded="false">e</button><input type="checkbox" aria-label="c">');
  await expect(page.locator('body')).toMatchAriaSnapshot(`
    - button "p" [pressed]
    - button "e" [expanded=false]
    - checkbox "c" [checked=false]
  `);
});

test('/children: equal and deep-equal', async ({ page }) => {
  await page.setContent('<ul><li>a</li><li>b</li></ul>');
  await expect(page.locator('body')).toMatchAriaSnapshot(`
    - list:
      - /children: equal
      - listitem: a
      - listitem: b
  `);
  await expect(page.locator('body')).not.toMatchAriaSnapshot(`
    - list:
      - /children: equal
      - listitem: a
  `);
});

test('order matters', async ({ page }) => {
  await page.setContent('<button>a</button><button>b</button>');
  await expect(page.locator('body')).not.toMatchAriaSnapshot(`
    - button "b"
    - button "a"
  `);
});

test('it retries', async ({ page }) => {
  await page.setContent('<p></p>');
  await page.evaluate(() => setTimeout(() => { document.querySelector('p')!.outerHTML = '<h1>Late</h1>'; }, 120));
  await expect(page.locator('body')).toMatchAriaSnapshot(`- heading "Late"`);
});

test('a mismatch shows both', async ({ page }) => {
  await page.setContent('<h1>One</h1>');
  const error = await expect(page.locator('body')).toMatchAriaSnapshot(`- heading "Two"`, { timeout: 250 }).catch((e: Error) => e) as Error;
  expect(error.message).toContain('toMatchAriaSnapshot');
  const message = error.message.replace(/\x1b\[\d+m/g, '');
  expect(message).toContain('Two');
  expect(message).toContain('One');
});

test('a template that cannot be read', async ({ page }) => {
  await expect(expect(page.locator('body')).toMatchAriaSnapshot(`- heading [level=a]`, { timeout: 250 })).rejects.toThrow(/level/);
});

test('values of fields and names with colons', async ({ page }) => {
  await page.setContent('<label>Name <input value="Ada"></label><p>key: value</p>');
  expect(await page.locator('body').ariaSnapshot()).toBe('- text: Name\n- textbox "Name": Ada\n- paragraph: "key: value"');
});

test('hidden things are left out', async ({ page }) => {
  await page.setContent('<button hidden>a</button><div aria-hidden="true"><button>b</button></div><button>c</button>');
  expect(await page.locator('body').ariaSnapshot()).toBe('- button "c"');
});
