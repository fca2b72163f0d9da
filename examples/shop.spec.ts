// An ordinary Playwright Test file, with groups, hooks, steps, parameters and
// annotations. The results of the tests are in the run's field "tests".
import { test, expect } from '@playwright/test';

test.use({ baseURL: args?.base ?? 'http://127.0.0.1:8080' });

test.describe('catalog', () => {
  test.beforeEach(async ({ page }) => {
    await page.goto('/demo/catalog');
  });

  test('opens an item', { tag: '@smoke' }, async ({ page }) => {
    await page.getByRole('link', { name: 'Oak shelf' }).click();
    await expect(page).toHaveTitle(/Oak shelf/);
    await expect(page.locator('.price')).toHaveText('8.45 €');
  });

  test('turns pages', async ({ page }) => {
    await test.step('forward', async () => {
      await page.getByRole('link', { name: 'Next' }).click();
      await expect(page.getByText('Page 2 of 4')).toBeVisible();
    });
    await test.step('and back', async () => {
      await page.getByRole('link', { name: 'Previous' }).click();
      await expect(page.getByText('Page 1 of 4')).toBeVisible();
    });
  });

  test('has a basket', async () => {
    test.fixme(true, 'the demo site sells nothing');
  });
});

for (const [typed, city] of [['zu', 'Zurich'], ['os', 'Oslo']]) {
  test(`finds ${city}`, async ({ page }) => {
    await page.goto('/demo/search');
    await page.getByLabel('City').fill(typed);
    await expect(page.getByRole('option')).toHaveText([city]);
  });
}
