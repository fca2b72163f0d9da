// Builds dist/interaction.js, which reports what a user does in a document. It must
// stay small, because documents compile it.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));

export async function build() {
  await esbuild.build({
    entryPoints: [path.join(here, 'interaction.ts')],
    outdir: path.join(here, '..', 'dist'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'chrome130',
    legalComments: 'none',
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
