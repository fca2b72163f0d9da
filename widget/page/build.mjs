// Builds the scripts that run in documents: dist/agent.js in every document, and
// dist/focused.js where a person types. Both must stay small, because documents
// compile them.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));

export async function build() {
  await esbuild.build({
    entryPoints: [path.join(here, 'agent.ts'), path.join(here, 'focused.ts')],
    outdir: path.join(here, '..', 'dist'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'chrome130',
    legalComments: 'none',
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
