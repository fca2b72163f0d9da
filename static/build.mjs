// Builds the web pages' assets into static/dist: one script per page with
// shared chunks, the stylesheet, the editor's workers, the web component for
// other sites, and manifest.json, which maps plain names to names with a content
// hash, and to the chunks they need.
import { context, build as esbuild } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { scriptTypes } from './scripttypes.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(here);
const dist = path.join(here, 'dist');
const src = path.join(here, 'src');

/** Must equal static.Prefix in embed.go. */
const publicPath = '/static/';

/** Browsers of about the last two years. The pages need not work in older ones. */
const target = ['chrome123', 'firefox121', 'safari17.5'];

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  metafile: true,
  legalComments: 'linked',
  outdir: dist,
  target,
  publicPath,
  assetNames: '[name]-[hash]',
  entryNames: '[name]-[hash]',
  chunkNames: 'chunk-[hash]',
  logLevel: 'warning',
};

/**
 * Monaco makes <style> elements. Under a Content-Security-Policy without
 * 'unsafe-inline' they need the page's nonce, for which Monaco has no setting.
 */
const monacoNonce = {
  name: 'monaco-style-nonce',
  setup(build) {
    build.onLoad({ filter: /monaco-editor[\\/]esm[\\/]vs[\\/]base[\\/]browser[\\/]domStylesheets\.js$/ }, async (args) => {
      const code = await readFile(args.path, 'utf8');
      const made = /(const|let) (\w+) = (?:mainWindow\.)?document\.createElement\((['"])style\3\);/;
      if (!made.test(code)) {
        throw new Error(`${args.path}: no longer makes its style elements where this build expects it`);
      }
      return { contents: code.replace(made, (line, _kind, name) => `${line} ${name}.nonce = globalThis.takeoverStyleNonce ?? '';`), loader: 'js' };
    });
  },
};

/**
 * Makes Prism a module of browsers. As one of Node, it would need a chunk with
 * helpers, which every page would load.
 */
const prismModule = {
  name: 'prism-module',
  setup(build) {
    build.onLoad({ filter: /prismjs[\\/]components[\\/]prism-core\.js$/ }, async (args) => {
      return { contents: `${await readFile(args.path, 'utf8')}\nglobalThis.Prism = Prism;\nexport {};`, loader: 'js' };
    });
  },
};

/**
 * Returns the name of the editor's stylesheet and deletes its copies. The editor
 * is imported lazily, and esbuild writes a stylesheet for every chunk that leads
 * to it. That of the page contains all of them.
 */
async function onlyStyle(outputs) {
  const page = Object.entries(outputs).find(([, output]) => output.entryPoint?.endsWith('pages/session.ts'))?.[1].cssBundle;
  if (!page) throw new Error('the editor has no stylesheet');
  for (const file of Object.keys(outputs)) {
    if (file.endsWith('.css') && file !== page) await rm(path.join(root, file));
  }
  return path.basename(page);
}

/** Returns the chunks that must be loaded before a script can start. */
function importedBy(outputs, file, found = new Set()) {
  for (const { path: chunk, kind } of outputs[file].imports) {
    if (kind !== 'import-statement' || found.has(chunk) || !outputs[chunk]) continue;
    found.add(chunk);
    importedBy(outputs, chunk, found);
  }
  return found;
}

/** Writes a compressed copy next to each text that it makes more than a tenth smaller. */
async function compress() {
  const texts = (await readdir(dist)).filter((name) => /\.(js|css|json|svg)$/.test(name) && name !== 'manifest.json');
  await Promise.all(texts.map(async (name) => {
    const text = await readFile(path.join(dist, name));
    const packed = await promisify(gzip)(text, { level: 9 });
    if (packed.length < 0.9 * text.length) await writeFile(path.join(dist, `${name}.gz`), packed);
  }));
}

/** The contexts of esbuild, by entry points. A context remembers what has not changed since its last build. */
const contexts = new Map();

async function rebuild(options) {
  const key = JSON.stringify(options.entryPoints);
  if (!contexts.has(key)) contexts.set(key, await context({ ...options, minify: false }));
  return contexts.get(key).rebuild();
}

/** Builds all assets. With follow, for many builds in one process, the result is larger, but ready sooner. */
export async function build({ follow = false } = {}) {
  const bundle = follow ? rebuild : esbuild;
  await mkdir(dist, { recursive: true });
  for (const name of await readdir(dist)) {
    if (name !== '.keep') await rm(path.join(dist, name), { recursive: true });
  }
  const manifest = { names: {}, imports: {} };
  const record = ({ metafile: { outputs }, entries }) => {
    for (const [file, { entryPoint }] of Object.entries(outputs)) {
      if (!entryPoint || !entries.includes(path.resolve(root, entryPoint))) continue;
      const name = path.basename(entryPoint).replace(/\.ts$/, '.js');
      manifest.names[name] = path.basename(file);
      const chunks = importedBy(outputs, file);
      if (chunks.size) manifest.imports[name] = [...chunks].map((chunk) => path.basename(chunk)).sort();
    }
  };
  const run = async (options) => ({ ...(await bundle({ ...common, ...options })), entries: options.entryPoints });

  const workers = await bundle({
    ...common,
    format: 'iife',
    entryPoints: {
      'editor.worker': path.join(root, 'node_modules/monaco-editor/esm/vs/editor/editor.worker.js'),
      'ts.worker': path.join(root, 'node_modules/monaco-editor/esm/vs/language/typescript/ts.worker.js'),
    },
  });
  const workerURL = (name) => {
    const file = Object.keys(workers.metafile.outputs).find((f) => path.basename(f).startsWith(`${name}-`) && f.endsWith('.js'));
    return JSON.stringify(publicPath + path.basename(file));
  };

  const types = JSON.stringify(await scriptTypes(root));
  const typesFile = `scripttypes-${createHash('sha256').update(types).digest('hex').slice(0, 8)}.json`;
  await writeFile(path.join(dist, typesFile), types);

  const pages = await run({
    format: 'esm',
    splitting: true,
    entryPoints: ['sessions', 'session', 'scripts', 'profiles', 'settings', 'docs', 'ended', 'takeovers', 'trajectory', 'takeover', 'locked', 'login'].map((page) => path.join(src, 'pages', `${page}.ts`)),
    loader: { '.ttf': 'file' },
    define: { EDITOR_WORKER: workerURL('editor.worker'), TS_WORKER: workerURL('ts.worker'), SCRIPT_TYPES: JSON.stringify(publicPath + typesFile) },
    plugins: [monacoNonce, prismModule],
  });
  record(pages);
  manifest.names['monaco.css'] = await onlyStyle(pages.metafile.outputs);
  // theme.js runs before the first paint, so it is a classic script of its own.
  record(await run({ format: 'iife', entryPoints: [path.join(src, 'ui', 'theme.ts')] }));
  record(await run({ entryPoints: [path.join(src, 'takeover.css')] }));
  record(await run({ entryPoints: ['icon.svg', 'icon-waiting.svg'].map((name) => path.join(src, name)), loader: { '.svg': 'copy' } }));
  // Other sites name the web component in their pages, so its name stays the same.
  record(await run({ format: 'esm', entryNames: '[name]', entryPoints: [path.join(root, 'clients', 'viewer', 'takeover-viewer.ts')] }));
  if (!follow) await compress();
  await writeFile(path.join(dist, 'manifest.json'), JSON.stringify(manifest, null, 2) + '\n');
  return manifest;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await build();
}
