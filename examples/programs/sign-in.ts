// A program on another computer: it creates a session with the client, drives it with Playwright, and has a person sign in.
// TAKEOVER_URL=http://127.0.0.1:8080 TAKEOVER_API_KEY=… npx tsx sign-in.ts
import { chromium } from 'playwright-core';
import { answer, createClient } from '../../clients/typescript/client.ts';
import { requestTakeover } from '../../clients/typescript/people.ts';

const { TAKEOVER_URL: server = 'http://127.0.0.1:8080', TAKEOVER_API_KEY: key = '' } = process.env;
const client = createClient(server, key);
const session = await answer(client.POST('/v1/sessions', { body: { url: `${server}/demo/login` } }));
try {
  const browser = await chromium.connectOverCDP(`${session.websocketUrl}&apiKey=${key}`);
  const page = browser.contexts()[0]!.pages()[0]!;
  await page.getByLabel('Email').fill('demo@example.com');
  const { state, note } = await requestTakeover(page, 'Sign in to the demo site', {
    timeout: 300_000,
    onLink: ({ url }) => console.log(`Please help: ${url}`),
  });
  console.log(`The person is finished (${state}). ${note}`);
  console.log(`The page is now: ${await page.title()}`);
  await browser.close();
} finally {
  await answer(client.POST('/v1/sessions/{id}/release', { params: { path: { id: session.id } }, body: {} }));
}
