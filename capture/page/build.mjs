// Builds dist/interaction.js, which reports what a user does in a document. It must
// stay small, because documents compile it.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));

/** Builds scripts that run in documents into the dist folder beside their own. */
export async function bundle(folder, ...scripts) {
  await esbuild.build({
    entryPoints: scripts.map((script) => path.join(folder, script)),
    outdir: path.join(folder, '..', 'dist'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'chrome130',
    legalComments: 'none',
  });
}

export const build = () => bundle(here, 'interaction.ts');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
