// Builds the script API into scripting/dist: api.js, which every run loads, and one bundle for each file in extras, which is loaded when a script
// first needs it. Each bundle is one function that takes the host (core/host.ts) and returns its exports.
import { build as esbuild } from 'esbuild';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { devices } from 'playwright-core';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { localeData, locales } from './intl/data.mjs';

const here = dirname(fileURLToPath(import.meta.url));

// Features that goja lacks. scripting/source/transpile.go has the same list for the scripts themselves.
const supported = {
  'async-generator': false,
  'for-await': false,
  using: false,
  decorators: false,
  'dynamic-import': false,
  'regexp-match-indices': false,
  'regexp-set-notation': false,
  'regexp-sticky-and-unicode-flags': false,
};

// Built-ins that the bundles save before a script can replace them. RegExp is not among them, because the API has its own (node/regexp.ts).
const intrinsics = [
  'Object', 'Function', 'Array', 'String', 'Number', 'BigInt', 'Boolean', 'Symbol', 'Date', 'Math', 'JSON', 'Proxy', 'Reflect', 'Promise',
  'Map', 'Set', 'WeakMap', 'WeakSet', 'ArrayBuffer', 'DataView', 'Uint8Array', 'Int8Array', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array',
  'Float32Array', 'Float64Array', 'Error', 'AggregateError', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError',
  'isNaN', 'isFinite', 'parseInt', 'parseFloat', 'encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI',
];

// The files of the modules of api.js that the other bundles take from there, by the modules' names.
const shared = new Map([...readFileSync(join(here, 'shared.ts'), 'utf8').matchAll(/from '\.\/(\w+\/(\w+)\.ts)'/g)].map(m => [m[2], join(here, m[1])]));

/** Makes bundles that are loaded later use the shared modules of api.js, instead of having copies of them. */
const fromAPI = {
  name: 'shared modules',
  setup(build) {
    build.onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
      const name = basename(path, '.ts');
      return join(resolveDir, path) === shared.get(name) ? { path: name, namespace: 'shared' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'shared' }, ({ path }) => ({ contents: `module.exports = host.shared.${path}` }));
  },
};

export async function build() {
  buildLocales();
  const extras = readdirSync(join(here, 'extras')).map(file => basename(file, '.ts'));
  const api = await bundle({ api: 'index.ts' });
  const later = await bundle(Object.fromEntries(extras.map(name => [`extras/${name}`, `extras/${name}.ts`])), [fromAPI]);
  const [inAPI] = Object.values(api.metafile.outputs);
  for (const [output, { inputs }] of Object.entries(later.metafile.outputs)) {
    const twice = Object.keys(inputs).filter(input => Object.hasOwn(inAPI.inputs, input) && !stateless.includes(input));
    if (twice.length)
      throw new Error(`${output} would have ${twice} of its own besides those of api.js: name them in scripting/api/shared.ts`);
  }
}

// Modules of which a bundle may have its own copy, because they have no state.
const stateless = ['core/host.ts'];

function bundle(entryPoints, plugins = []) {
  return esbuild({
    absWorkingDir: here,
    entryPoints,
    plugins,
    metafile: true,
    outdir: join(here, '../dist'),
    bundle: true,
    format: 'iife',
    globalName: 'exports',
    platform: 'browser',
    target: 'esnext',
    supported,
    define: { DEVICES: JSON.stringify(JSON.stringify(devices)) },
    // Names are not minified, because the code tells classes apart by their names.
    minifyWhitespace: true,
    minifySyntax: true,
    keepNames: false,
    legalComments: 'eof',
    banner: { js: `(function(host){const {${intrinsics}}=host.intrinsics??=(({${intrinsics}})=>({${intrinsics}}))(globalThis);` },
    footer: { js: 'return exports;})' },
    logLevel: 'warning',
  });
}

// Writes the data of each locale, which it takes from Node's own Intl. That takes
// seconds, so it is repeated only when data.mjs or the version of Node has changed.
function buildLocales() {
  const out = join(here, '../dist/locales');
  const stamp = join(out, '.made-by');
  const by = `${process.version} ${createHash('sha256').update(readFileSync(join(here, 'intl/data.mjs'))).digest('hex')}`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === by)
    return;
  mkdirSync(out, { recursive: true });
  for (const locale of locales)
    writeFileSync(join(out, `${locale}.json.gz`), gzipSync(JSON.stringify(localeData(locale)), { level: 9 }));
  writeFileSync(stamp, by);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await build();
