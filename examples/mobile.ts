// The page as a phone shows it, with touch.
import { chromium, devices } from 'playwright';

const browser = await chromium.launch();
const context = await browser.newContext({ ...devices['Pixel 5'] });
const page = await context.newPage();
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/menu`);
await page.getByRole('button', { name: 'Menu' }).tap();
const entries = await page.getByRole('navigation').getByRole('link').allTextContents();
const width = await page.evaluate(() => innerWidth);
await browser.close();
return { width, entries };
