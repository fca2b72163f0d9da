// Checks the imports of our TypeScript: no circle of imported values, and in
// the web pages no import against the direction of the folders. Type imports
// leave nothing behind at run time, so they may form circles.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The source folders. `imports` says from which other folders in it each of its folders may import. */
const SOURCES = [
  {
    folder: 'static/src',
    imports: { ui: [], remote: ['ui'], workbench: ['remote', 'ui'], sessions: ['ui'], docs: ['ui'], pages: ['docs', 'remote', 'sessions', 'ui', 'workbench'] },
  },
  { folder: 'scripting/api' },
];

/** Matches an import or export of another file. The first group is set if only types are imported; the second is the file. */
const IMPORT = /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'/gm;

/** Returns each source file with the files that it imports, as paths within the folder. */
async function importsIn(folder) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test|\.d)\.ts$/.test(name));
  const files = new Map();
  for (const name of names) {
    const text = await readFile(path.join(folder, name), 'utf8');
    files.set(name, [...text.matchAll(IMPORT)].map(([, type, target]) => ({
      file: path.join(path.dirname(name), target).replace(/\.js$/, '.ts'),
      value: !type,
    })));
  }
  return files;
}

/** Returns the files of the first circle of value imports, or null if there is none. */
function circleIn(files) {
  const done = new Set();
  const way = [];
  const visit = (file) => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return null;
    way.push(file);
    for (const { file: next, value } of files.get(file) ?? []) {
      const circle = value && files.has(next) ? visit(next) : null;
      if (circle) return circle;
    }
    way.pop();
    done.add(file);
    return null;
  };
  for (const file of files.keys()) {
    const circle = visit(file);
    if (circle) return circle;
  }
  return null;
}

/** Describes the imports that `imports` does not list, and the files in unknown folders. */
function againstFolders(files, allowedOf) {
  const wrong = [];
  const folderOf = (file) => file.split(path.sep)[0];
  for (const [file, imports] of files) {
    const allowed = allowedOf[folderOf(file)];
    if (!allowed) wrong.push(`${file} lies in no known folder`);
    for (const { file: target } of imports) {
      const folder = folderOf(target);
      if (allowed && folder !== folderOf(file) && !allowed.includes(folder)) wrong.push(`${file} imports ${target}`);
    }
  }
  return wrong;
}

const root = path.join(import.meta.dirname, '..');
for (const { folder, imports } of SOURCES) {
  const files = await importsIn(path.join(root, folder));
  if (files.size === 0) throw new Error(`${folder} has no TypeScript`);
  const circle = circleIn(files);
  const problems = [...(circle ? [`circle: ${circle.join(' → ')}`] : []), ...(imports ? againstFolders(files, imports) : [])];
  for (const problem of problems) console.error(`${folder}: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
