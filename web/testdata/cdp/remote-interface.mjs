// Drives a session with chrome-remote-interface, unmodified. Arguments: the address of
// the server, the session's id, the key, the address of a site.
import assert from 'node:assert/strict';
import CDP from 'chrome-remote-interface';

const [server, id, key, site] = process.argv.slice(2);
const { hostname, port } = new URL(server);
const options = { host: hostname, port: Number(port), useHostName: true, alterPath: (path) => (path.startsWith('/json') ? `/v1/sessions/${id}${path}?apiKey=${key}` : path) };

assert.match((await CDP.Version(options)).Browser, /^Chrome\/\d+/);
const [target, ...others] = await CDP.List(options);
assert.equal(others.length, 0);
assert.equal(target.type, 'page');

const client = await CDP(options); // connects to the page
const { Page, Runtime, DOM } = client;
await Promise.all([Page.enable(), Runtime.enable(), DOM.enable()]);
const loaded = Page.loadEventFired();
await Page.navigate({ url: `${site}/` });
await loaded;
const { root } = await DOM.getDocument();
const { nodeId } = await DOM.querySelector({ nodeId: root.nodeId, selector: 'button' });
const { model } = await DOM.getBoxModel({ nodeId });
const [x, y] = [(model.content[0] + model.content[2]) / 2, (model.content[1] + model.content[5]) / 2];
for (const type of ['mousePressed', 'mouseReleased']) await client.Input.dispatchMouseEvent({ type, x, y, button: 'left', clickCount: 1 });
const { result } = await Runtime.evaluate({ expression: `document.querySelector('output').textContent` });
assert.equal(result.value, 'clicked');
assert.equal(typeof client.Takeover.request, 'function');
assert.equal(client.Extensions, undefined);
await client.close();
console.log('done');
