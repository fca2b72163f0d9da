// Builds what automation puts into pages:
//   dist/injected.js    Playwright's injected script, out of the pinned npm package, minified
//   dist/storage.js     Playwright's storage script, which reads and writes an origin's storage
//   dist/clock.js       Playwright's clock for pages, likewise
//   dist/websockets.js  Playwright's WebSocket in the place of the page's own, likewise
//   dist/layer.js       our own layer on top of the injected script, for worlds where selectors are resolved
//   dist/evaluator.js   our evaluator and serializer, for the page's own world
//   dist/binding.js     the page side of scripts' functions, for the page's own world
//   dist/drag.js        our watch for drags that a page starts
//   dist/follow.js      our reports of what a person does
//   dist/sockets.js     our code that puts Playwright's WebSocket in place, and removes it again
//   dist/yaml.js        the YAML library, for ARIA snapshots
//   dist/LICENSE.playwright.txt, dist/NOTICE.playwright.txt, dist/LICENSE.yaml.txt
// None of Playwright's code is committed.
import { createRequire } from 'node:module';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import vm from 'node:vm';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(here, '..', 'dist');
// The parts taken from Playwright's scripts: the name of the source, and its exports.
const taken = { injected: ['injectedScriptSource', 'InjectedScript'], storage: ['storageScriptSource', 'StorageScript'], clock: ['clockSource', 'inject'], websockets: ['webSocketMockSource', 'inject'] };

export async function build() {
  await mkdir(dist, { recursive: true });
  const yaml = path.dirname(createRequire(import.meta.url).resolve('yaml/package.json'));
  await Promise.all([buildTaken(), bundle('layer'), bundle('evaluator'), bundle('binding'), bundle('drag'), bundle('follow'), bundle('sockets'), bundle('yaml'), copyFile(path.join(yaml, 'LICENSE'), path.join(dist, 'LICENSE.yaml.txt'))]);
}

async function buildTaken() {
  const root = path.dirname(createRequire(import.meta.url).resolve('playwright-core/package.json'));
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const library = await readFile(path.join(root, 'lib', 'coreBundle.js'), 'utf8');
  for (const [name, [file, exported]] of Object.entries(taken)) {
    const source = extract(library, file, version);
    const { code } = await esbuild.transform(source, { minify: true, target: 'es2022', legalComments: 'none' });
    if (!code.includes(exported))
      throw new Error(`playwright-core ${version}: the ${name} script does not export ${exported}`);
    await writeFile(path.join(dist, `${name}.js`), code);
  }
  await copyFile(path.join(root, 'LICENSE'), path.join(dist, 'LICENSE.playwright.txt'));
  await copyFile(path.join(root, 'NOTICE'), path.join(dist, 'NOTICE.playwright.txt'));
}

// In the bundle, a script is a string literal that is assigned to a variable. The variable's name changes with each version, but the comment above it
// does not.
function extract(bundle, name, version) {
  const marker = `// packages/playwright-core/src/generated/${name}.ts`;
  const at = bundle.indexOf(marker);
  const literal = at < 0 ? null : /\bsource\d* = ('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[^])*`)/.exec(bundle.slice(at));
  if (!literal)
    throw new Error(`playwright-core ${version} no longer holds ${name} where it is looked for (${marker} in lib/coreBundle.js): pin a version that does, or mend automation/page/build.mjs`);
  return vm.runInNewContext(literal[1]);
}

async function bundle(name) {
  await esbuild.build({
    entryPoints: [path.join(here, `${name}.ts`)],
    outfile: path.join(dist, `${name}.js`),
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'takeoverExports', // a local variable of the function that Go wraps around it
    target: 'chrome120',
    legalComments: 'none',
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await build();
