// Builds the scripts that run in documents: dist/agent.js in every document, and
// dist/focused.js where a person types. Both must stay small, because documents
// compile them.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../../capture/page/build.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

export const build = () => bundle(here, 'agent.ts', 'focused.ts');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
