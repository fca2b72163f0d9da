package scripting_test

import (
	"strings"
	"testing"

	"takeover/scripting"
)

// TestCodegen runs what `playwright codegen` of the pinned version prints for
// each target.
func TestCodegen(t *testing.T) {
	const actions = `
  await page.goto('URL/');
  await page.getByRole('link', { name: 'To the form' }).click();
  await page.getByRole('textbox', { name: 'Name' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Ada');
  await page.getByRole('textbox', { name: 'Name' }).press('Tab');
  await page.getByPlaceholder('Your mail').fill('a@b.c');
  await page.getByLabel('Color').selectOption('b');
  await page.getByRole('checkbox', { name: 'I agree' }).check();
  await page.getByRole('button', { name: 'Send' }).click();
  console.log(await page.getByTestId('out').textContent());
  await page.goto('URL/');
  const page1Promise = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Open' }).click();
  const page1 = await page1Promise;
  await page1.close();
`
	for _, c := range []struct{ name, code string }{
		{"playwright-test", `import { test, expect } from '@playwright/test';

test('test', async ({ page }) => {` + actions + `  await page.locator('iframe[name="inner"]').contentFrame().getByRole('button', { name: 'Press' }).click();
  await expect(page.locator('iframe[name="inner"]').contentFrame().locator('#in')).toContainText('pressed');
  await expect(page.getByRole('heading', { name: 'Welcome' })).toBeVisible();
});`},
		{"playwright-test with options", `import { test, expect, devices } from '@playwright/test';

test.use({
  ...devices['Pixel 7'],
  colorScheme: 'dark',
  locale: 'de-DE'
});

test('test', async ({ page }) => {` + actions + `});`},
		{"javascript", `const { chromium } = require('playwright');

(async () => {
  const browser = await chromium.launch({
    headless: false
  });
  const context = await browser.newContext();
  const page = await context.newPage();` + actions + `  await page.close();

  // ---------------------
  await context.close();
  await browser.close();
})();`},
		{"javascript with options", `const { chromium, devices } = require('playwright');

(async () => {
  const browser = await chromium.launch({
    channel: 'chrome',
    headless: false
  });
  const context = await browser.newContext({
    ...devices['Desktop Chrome'],
    viewport: {
      height: 600,
      width: 900
    }
  });
  const page = await context.newPage();` + actions + `
  // ---------------------
  await context.close();
  await browser.close();
})();`},
		{"typescript module", `import { chromium, type Browser, type Page } from 'playwright';

(async (): Promise<void> => {
  const browser: Browser = await chromium.launch({ headless: false });
  const page: Page = await browser.newPage();` + actions + `
  await browser.close();
})();`},
		{"a main function", `import { chromium } from 'playwright';

async function main() {
  const browser = await chromium.launch();
  try {
    const page = await browser.newPage();` + actions + `  } finally {
    await browser.close();
  }
}
main().catch(error => { console.error(error); throw error; });`},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &logs{}
			res := runWith(t, strings.ReplaceAll(c.code, "URL/", "' + args.url + '/"), l)
			if res.Status != scripting.StatusSucceeded {
				t.Errorf("%s: %v", res.Status, res.Err)
			}
			if said := strings.Join(l.lines, "\n"); !strings.Contains(said, "Ada a@b.c b true") {
				t.Errorf("said\n%s", said)
			}
		})
	}
}
