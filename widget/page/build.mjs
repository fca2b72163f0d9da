// Builds what runs in every document, dist/agent.js. Every document compiles it: it
// must stay small.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));

export async function build() {
  await esbuild.build({
    entryPoints: [path.join(here, 'agent.ts')],
    outfile: path.join(here, '..', 'dist', 'agent.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'chrome130',
    legalComments: 'none',
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
