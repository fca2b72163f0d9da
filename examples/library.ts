// A script for Playwright's library, unchanged.
import { chromium } from 'playwright';

const browser = await chromium.launch();
const page = await browser.newPage();
await page.setContent('<h1>Hello</h1><button onclick="this.textContent = \'Clicked\'">Click me</button>');
await page.getByRole('button', { name: 'Click me' }).click();
console.log(await page.getByRole('button').textContent());
await browser.close();
