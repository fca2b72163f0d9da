import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foundIn, type Entry } from './entries.js';

const call = (id: string, method: string, path: string, title: string, words = ''): Entry => ({ id, kind: 'Call', method, path, title, words, address: `/docs/x#${id}` });
const all = [
  call('createSession', 'POST', '/v1/sessions', 'Start a session.', 'timeout url'),
  call('streamSessions', 'GET', '/v1/sessions/stream', 'Streams which takeovers wait for a person.'),
  call('requestTakeover', 'POST', '/v1/sessions/:id/takeovers', 'Ask for a person.', 'reason timeout'),
  call('finish', 'POST', '/v1/sessions/:id/takeovers/:tid/done', 'Say that it is done.', 'note'),
  { id: 'timeout', kind: 'Error', title: 'timeout', words: 'Timed out', address: '/docs#timeout' },
];
const ids = (search: string): string[] => foundIn(all, search).map(({ entry }) => entry.id);

test('a name counts more than a path, and a path more than a text or a field', () => {
  assert.deepEqual(ids('takeover'), ['requestTakeover', 'finish', 'streamSessions']);
  assert.deepEqual(ids('post person'), ['requestTakeover']);
  assert.deepEqual(ids('note'), ['finish']);
  assert.deepEqual(ids('TIMEOUT'), ['timeout', 'createSession', 'requestTakeover']);
  assert.deepEqual(ids('nothing has this'), []);
  assert.deepEqual(ids(' '), []);
});

test('what people call a call counts most, in any form and with small words', () => {
  const release: Entry = { ...call('releaseSession', 'POST', '/v1/sessions/:id/release', 'End the session.'), also: 'end close stop release a session' };
  const some = [call('releaseAll', 'POST', '/v1/sessions/release', 'Release every live session.'), call('sendFile', 'POST', '/v1/sessions/:id/files', 'Send a file.'), release];
  for (const search of ['end a session', 'ending the sessions', 'how to stop my session', 'stopped', 'closing', 'release', 'ended']) {
    assert.equal(foundIn(some, search)[0]?.entry.id, 'releaseSession', search);
  }
  assert.deepEqual(foundIn(some, 'end').map(({ entry }) => entry.id), ['releaseSession']); // not "send"
});

test('calls go before the objects that have such a field, and before their twins', () => {
  const session: Entry = { id: 'object-Session', kind: 'Object', title: 'Session', fields: [{ name: 'timeout', does: 'Its life.' }, { name: 'takeover', does: 'The open one.' }], address: '/docs/x#object-Session' };
  const twin: Entry = { ...call('createSessionAlias', 'POST', '/sessions', 'The same as POST /v1/sessions.', 'timeout'), twin: true };
  const group: Entry = { id: 'sessions', kind: 'Group', title: 'Sessions', words: 'Start a browser.', address: '/docs/sessions' };
  const some = [twin, session, group, ...all];
  const found = foundIn(some, 'takeover timeout');
  assert.deepEqual(found.map(({ entry }) => entry.id), ['requestTakeover', 'object-Session']);
  assert.deepEqual(found[1]?.field, { name: 'timeout', does: 'Its life.' });
  assert.deepEqual(foundIn(some, 'sessions').slice(0, 2).map(({ entry }) => entry.id), ['sessions', 'createSession']);
  const post = foundIn(some, 'post session').map(({ entry }) => entry.id);
  assert.ok(post.indexOf('createSession') < post.indexOf('createSessionAlias'), String(post));
  assert.equal(foundIn(some, 'session')[0]?.field, undefined);
});

test('a word may have one wrong letter if nothing has it as it is', () => {
  for (const search of ['takeovr', 'tkeover', 'takeoverr', 'takeoevr', 'takeovar', 'takeoevrs', 'takoev']) assert.ok(ids(search).includes('requestTakeover'), search);
  assert.deepEqual(ids('taekovr'), []); // two
  assert.deepEqual(ids('nite'), ['finish']); // note
  assert.deepEqual(ids('nte'), []); // too short
});
