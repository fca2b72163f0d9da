// Drives a session with agent-browser, unmodified, while a person signs in, and goes on.
// Arguments: the address of the demo site, the socket's address.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { personTakes, personWorks } from '../cdp/turn.mjs';
import { agentBrowser } from './agent-browser-run.mjs';

const [base, endpoint] = process.argv.slice(2);
const { dir, run, close } = await agentBrowser(endpoint);
await run('open', `${base}/demo/account`);
await run('tab', 'new', `${base}/demo/login`);
await run('--pin-tab', 'tab', 't1'); // it would follow the person's popup and new tab
const [, ref] = /button "Continue with Example ID".*ref=(e\d+)/.exec(await run('snapshot', '-i'));
await personTakes();
// It carries out one command after the other, so what reads comes first.
assert.match(await run('cookies', 'get'), /takeover_demo=/);
assert.match(await run('tab', 'list'), /\[t1\].*\/demo\/account\n.*\[t2\].*\/demo\/login$/);
const picture = path.join(dir, 'picture.png');
await run('screenshot', picture);
assert.equal((await readFile(picture)).readUInt32BE(), 0x89504e47);
const [text] = await personWorks([run('get', 'text', '#who')]);
assert.equal(text, 'Signed in as Ada');
await run('click', `@${ref}`); // opens the popup again
assert.match(await run('tab', 'list'), /\[t1\].*\/demo\/account\n.*\[t2\].*\/demo\/welcome\n.*\/demo\/account\/consent$/);
await run('tab', 't2');
assert.equal(await run('get', 'text', '#user-name'), 'Demo User');
await run('click', 'button.plain');
assert.equal(await run('get', 'url'), `${base}/demo/login`);
await close();
