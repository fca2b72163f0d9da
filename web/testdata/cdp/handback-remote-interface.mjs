// Drives a session with chrome-remote-interface while a person signs in, and goes on.
// Arguments: the address of the server with the demo site, the session's id, the key.
import assert from 'node:assert/strict';
import CDP from 'chrome-remote-interface';
import { personTakes, personWorks } from './turn.mjs';

const [base, id, key] = process.argv.slice(2);
const { hostname, port } = new URL(base);
const options = { host: hostname, port: Number(port), useHostName: true, alterPath: (path) => (path.startsWith('/json') ? `/v1/sessions/${id}${path}?apiKey=${key}` : path) };

/** Opens an address in the page of a client. */
async function open(client, url) {
  await Promise.all([client.Page.enable(), client.Runtime.enable()]);
  const loaded = client.Page.loadEventFired();
  await client.Page.navigate({ url });
  await loaded;
}

/** Evaluates an expression in the page of a client. */
const evaluate = async (client, expression) => (await client.Runtime.evaluate({ expression })).result;

const [first] = await CDP.List(options);
const account = await CDP({ ...options, target: first });
await open(account, `${base}/demo/account`);
const { objectId } = await evaluate(account, `document.querySelector('#who')`);
const { targetId } = await account.Target.createTarget({ url: 'about:blank' });
let second;
while (!second) second = (await CDP.List(options)).find((target) => target.id === targetId); // the page may be new to the server, too
const login = await CDP({ ...options, target: second });
await open(login, `${base}/demo/login`);

const welcome = new Promise((resolve) => {
  login.Page.frameNavigated(({ frame }) => frame.url.endsWith('/demo/welcome') && resolve());
});
await personTakes();
const [said] = await personWorks(
  [account.Runtime.callFunctionOn({ objectId, functionDeclaration: 'function() { return this.textContent }' })],
  async () => assert.match((await account.DOM.getDocument()).root.documentURL, /\/demo\/account$/),
);
await welcome;
assert.equal(said.result.value, 'Signed in as Ada');
assert.equal((await evaluate(login, `document.querySelector('#user-name').textContent`)).value, 'Demo User');
const out = login.Page.loadEventFired();
await evaluate(login, `document.querySelector('button.plain').click()`);
await out;
assert.equal((await evaluate(login, 'location.pathname')).value, '/demo/login');
await Promise.all([account.close(), login.close()]);
