package scripting_test

import (
	"regexp"
	"strings"
	"testing"

	"takeover/scripting"
)

// outcome returns the results of a test file: a line for each test, with the
// first line of its first error and its position.
func outcome(l *logs) string {
	var b strings.Builder
	for _, t := range l.tests {
		b.WriteString(t.Status + " " + t.Title)
		if t.Err != nil {
			first, _, _ := strings.Cut(t.Err.Error(), "\n")
			b.WriteString(": " + first)
		}
		b.WriteString("\n")
	}
	return duration.ReplaceAllString(b.String(), "Nms")
}

var duration = regexp.MustCompile(`\b\d+ms`)

// text removes the source's indentation from a text of several lines.
func text(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll(s, "\n\t\t\t", "\n"), "\n")
}

func TestFilesWithBrowser(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"fixtures", `
			import { test, expect, type Page } from '@playwright/test';
			test.use({ baseURL: args.url });
			test.beforeEach(async ({ page }) => { await page.goto('/'); });
			test('first', async ({ page, context, browser, browserName }) => {
				await expect(page).toHaveTitle('Start');
				expect(page.context()).toBe(context);
				expect(context.browser()).toBe(browser);
				expect(browserName).toBe('chromium');
				await page.evaluate(() => localStorage.setItem('kept', 'yes'));
			});
			test.describe('group', () => {
				test('is fresh', async ({ page }: { page: Page }) => {
					expect(await page.evaluate(() => localStorage.getItem('kept'))).toBeNull();
				});
				test('fails', async ({ page }) => {
					await expect(page.locator('h1')).toHaveText('Nothing', { timeout: 100 });
				});
			});
			test('clicks', async ({ page }) => {
				await test.step('to the form', async () => {
					await page.getByRole('link', { name: 'To the form' }).click();
				});
				await expect(page).toHaveURL(/form/);
			});`, `
			passed first
			passed group › is fresh
			failed group › fails: Error: expect(locator).toHaveText(expected) failed
			passed clicks
			`},
		{"time", `
			import { test } from '@playwright/test';
			let began: number;
			test.beforeEach(() => { began = Date.now(); });
			const timeout = () => test.setTimeout(Date.now() - began + 500); // however long the page took
			test('waits for an element', async ({ page }) => {
				timeout();
				await page.locator('#never').click();
			});
			test('waits for nothing', async ({ page }) => {
				timeout();
				await new Promise(() => {});
			});
			test('waits for time', async ({ page }) => {
				timeout();
				await page.waitForTimeout(100_000);
			});
			test('goes on', async ({ page }) => {
				timeout();
				await page.waitForEvent('popup').catch(() => {});
				await page.title().catch(() => {});
			});
			test('does not wait', async ({ page }) => {
				page.locator('#never').click();
			});`, `
			failed waits for an element: Error: Test timeout of Nms exceeded.
			failed waits for nothing: Error: Test timeout of Nms exceeded. (line 10, column 4)
			failed waits for time: Error: Test timeout of Nms exceeded.
			failed goes on: Error: Test timeout of Nms exceeded. (line 18, column 4)
			failed does not wait: Error: locator.click: Test ended.
			`},
		{"a page for all tests", `
			import { test, expect } from '@playwright/test';
			let page;
			test.beforeAll(async ({ browser }) => { page = await browser.newPage(); await page.goto(args.url); });
			test.afterAll(async () => { await page.close(); });
			test('one', async () => { await page.goto(args.url + '/form'); });
			test('two', async () => { await expect(page).toHaveTitle('Form'); });`, `
			passed one
			passed two
			`},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &logs{}
			res := runWith(t, c.code, l)
			if got := outcome(l); got != text(c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, text(c.want))
			}
			want := scripting.StatusSucceeded
			if strings.Contains(c.want, "failed") {
				want = scripting.StatusFailed
			}
			if res.Status != want {
				t.Errorf("status %s (%v), want %s", res.Status, res.Err, want)
			}
		})
	}
}
