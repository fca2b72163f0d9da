// Builds everything that comes from npm into the dist folders that the Go packages embed: the web pages, the page side of automation, capture and
// widgets, the script API. `node build.mjs static` builds one of them. `node build.mjs --follow` builds those that its standard input names, one per line, until
// the input ends. That is faster from the second time on, but the output is larger.
import { createInterface } from 'node:readline';

const parts = {
  automation: './automation/page/build.mjs',
  capture: './capture/page/build.mjs',
  widget: './widget/page/build.mjs',
  scripting: './scripting/api/build.mjs',
  static: './static/build.mjs',
};

async function build(name, options) {
  const started = performance.now();
  const part = await import(parts[name]);
  await part.build(options);
  console.log(`built ${name} in ${Math.round(performance.now() - started)} ms`);
}

const wanted = process.argv.slice(2);
if (wanted[0] === '--follow') {
  for await (const name of createInterface({ input: process.stdin })) {
    await build(name, { follow: true }).catch((error) => {
      console.error(error.message);
      console.log(`failed ${name}`);
    });
  }
  process.exit(); // esbuild's contexts would keep the process alive
}
for (const name of Object.keys(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await build(name);
}
