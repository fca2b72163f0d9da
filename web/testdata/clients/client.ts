// Uses a server with the generated client: arguments are the server's address, its key, and a folder from which packages are found.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { requestTakeover, type AnyPage } from '../../../clients/typescript/people.ts';
import { answer, createClient, TakeoverError } from '../../../clients/typescript/client.ts';

const [server = '', key = '', packages = ''] = process.argv.slice(2);
const client = createClient(server, key);

const session = await answer(client.POST('/v1/sessions', { body: { url: `${server}/demo/login`, timeout: 600_000, capture: true, metadata: { order: '7' } } }));
assert.equal(session.status, 'live');
assert.equal(session.timeout, 600_000);
assert.equal(session.metadata['order'], '7');

const path = { id: session.id };
const takeover = await answer(client.POST('/v1/sessions/{id}/takeovers', { params: { path }, body: { reason: 'Sign in' } }));
assert.equal(takeover.state, 'pending');
assert.equal(takeover.sessionId, session.id);

const { takeovers, next } = await answer(client.GET('/v1/takeovers', { params: { query: { state: 'pending', limit: 10 } } }));
assert.deepEqual(takeovers.map(({ id }) => id), [takeover.id]);
assert.equal(next, null);

const { sessions } = await answer(client.GET('/v1/sessions', { params: { query: { status: 'live' } } }));
assert.deepEqual(sessions.map((one) => [one.id, one.takeover?.id]), [[session.id, takeover.id]]);

const added = await answer(client.POST('/v1/sessions/{id}/events', { params: { path }, body: { type: 'custom_client', data: { step: 1 } } }));
const events = await answer(client.GET('/v1/sessions/{id}/events', { params: { path, query: { type: 'custom_client' } } }));
assert.deepEqual(events.events.map(({ seq }) => seq), [added.seq]);
assert.equal(events.missed, 0);

await answer(client.POST('/v1/sessions/{id}/takeovers/{tid}/cancel', { params: { path: { ...path, tid: takeover.id } }, body: {} }));
const require = createRequire(packages);
const done = (id: string) => answer(client.POST('/v1/sessions/{id}/takeovers/{tid}/done', { params: { path: { ...path, tid: id } }, body: { note: 'all set' } }));
const asked = async (page: AnyPage) => {
  const ended = await requestTakeover(page, 'Sign in', { timeout: 60_000, onLink: ({ id }) => void done(id) });
  assert.equal(ended.state, 'done');
  assert.equal(ended.note, 'all set');
};
const socket = `${session.websocketUrl}&apiKey=${key}`;
const playwright = await require('playwright-core').chromium.connectOverCDP(socket);
await asked(playwright.contexts()[0].pages()[0]);
await playwright.close();
const puppeteer = await require('puppeteer-core').connect({ browserWSEndpoint: socket, defaultViewport: null });
await asked((await puppeteer.pages())[0]);
await puppeteer.disconnect();

const released = await answer(client.POST('/v1/sessions/{id}/release', { params: { path }, body: {} }));
assert.notEqual(released.status, 'live');

const refused = (status: number) => (error: unknown) => error instanceof TakeoverError && error.problem.status === status && error.problem.detail !== '';
await assert.rejects(answer(client.POST('/v1/sessions/{id}/takeovers', { params: { path }, body: { reason: 'Sign in' } })), refused(410));
await assert.rejects(answer(createClient(server, 'a-key-that-is-wrong').GET('/v1/sessions')), refused(401));
