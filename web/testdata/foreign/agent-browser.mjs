// Drives a session with agent-browser, unmodified. Arguments: the socket's address, the
// address of a site.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { agentBrowser } from './agent-browser-run.mjs';
import { end, step } from './steps.mjs';

const [endpoint, site] = process.argv.slice(2);
const { dir, run, close } = await agentBrowser(endpoint);
const output = () => run('get', 'text', 'output');

await step('open', () => run('open', `${site}/`), /start/);
await step('title', () => run('get', 'title'), 'start');
await step('address', () => run('get', 'url'), `${site}/`);
const snapshot = await step('snapshot', () => run('snapshot', '-i'), /heading "Shop"/);
const ref = (text) => `@${new RegExp(`${text}.*ref=(e\\d+)`).exec(snapshot)[1]}`;
await step('fill', () => run('fill', ref('textbox "Name"'), 'Ada').then(() => run('get', 'value', '#name')), 'Ada');
await step('select', () => run('select', '#size', 'large').then(() => run('get', 'value', '#size')), 'large');
await step('check', () => run('check', ref('checkbox "Gift"')).then(() => run('is', 'checked', '#gift')), 'true');
await step('click', () => run('click', '#send').then(output), 'sent name=Ada&size=large&gift=on');
await step('find', () => run('find', 'label', 'Name', 'fill', 'Eve').then(() => run('get', 'value', '#name')), 'Eve');
await step('press', () => run('press', 'Enter').then(output), /^sent name=Eve/);
await step('double click', () => run('dblclick', '#press').then(output), 'pressed twice');
await step('hover', () => run('hover', '#hover').then(output), 'hovered');
await step('evaluate', () => run('eval', '21*2'), '42');
await step('click in a frame', () => run('click', ref('button "Inner"')).then(() => run('snapshot', '-i')), /button "Done"/);
await step('a dialog', () => run('click', '#ask'), /Sure\?/);
await step('accept the dialog', () => run('dialog', 'accept').then(output), 'yes');
await step('wait for a text', () => run('click', '#fetch').then(() => run('wait', '--text', 'forty-two')), /forty-two/);
await step('requests', () => run('network', 'requests', '--filter', 'data.json'), /data\.json/);
await step('console', () => run('console'), /the page is there/);
await step('screenshot', async () => {
  const file = path.join(dir, 'picture.png');
  await run('screenshot', file);
  return (await readFile(file)).readUInt32BE();
}, 0x89504e47);
await step('PDF', async () => {
  const file = path.join(dir, 'page.pdf');
  await run('pdf', file);
  return (await readFile(file)).toString('latin1', 0, 4);
}, '%PDF');
await step('cookies', () => run('cookies', 'set', 'a', 'cookie').then(() => run('cookies', 'get')), /a=cookie/);
await step('storage', () => run('storage', 'local', 'set', 'key', 'value').then(() => run('storage', 'local', 'get', 'key')), /value/);
await step('viewport', () => run('set', 'viewport', '900', '600').then(() => run('eval', 'innerWidth')), '900');
await step('route', async () => {
  await run('network', 'route', '**/data.json', '--body', '{"answer": "routed"}');
  await run('click', '#fetch');
  const text = await run('wait', '--text', 'routed');
  await run('network', 'unroute');
  return text;
}, /routed/);
await step('new tab', () => run('tab', 'new', `${site}/other.html`).then(() => run('get', 'title')), 'other');
await step('close the tab', () => run('tab', 'close').then(() => run('get', 'title')), 'start');
await step('a link', () => run('click', '#other').then(() => run('get', 'title')), 'other');
await step('back', () => run('back').then(() => run('get', 'title')), 'start');
await step('close', close, /closed/);
end();
