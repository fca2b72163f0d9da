// Builds everything that comes from npm into the dist folders that the Go
// packages embed: the web pages, the page side of automation and widgets, the script API.
// `node build.mjs static` builds one of them.
const parts = {
  automation: './automation/page/build.mjs',
  widget: './widget/page/build.mjs',
  scripting: './scripting/api/build.mjs',
  static: './static/build.mjs',
};

const wanted = process.argv.slice(2);
for (const [name, path] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const started = performance.now();
  const { build } = await import(path);
  await build();
  console.log(`built ${name} in ${Math.round(performance.now() - started)} ms`);
}
