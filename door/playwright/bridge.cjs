// Serves one client of Playwright's protocol. The server starts it with
//
//   node -e <this text> <folder of playwright-core> <folder for files> <URL of the proxy>
//
// Descriptor 3 carries messages of Playwright's protocol, descriptor 4 those of the
// DevTools protocol; a NUL byte ends each, and an empty one on descriptor 4 is a ping. The first message on descriptor 3 says
// {"version"} when a client may begin, or {"error"}.
'use strict';

const fs = require('node:fs');
const net = require('node:net');

const [packageFolder, files, proxy] = process.argv.slice(1);
const client = new net.Socket({ fd: 3, readable: true, writable: true });
const browserSocket = new net.Socket({ fd: 4, readable: true, writable: true });

/** Calls handle with each message of a socket, one per turn of the event loop, as Playwright's own transports do. */
function eachMessage(socket, handle) {
  let parts = [];
  socket.on('data', chunk => {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; start = end + 1, end = chunk.indexOf(0, start)) {
      parts.push(chunk.subarray(start, end));
      const text = Buffer.concat(parts).toString();
      parts = [];
      setImmediate(handle, text);
    }
    if (start < chunk.length)
      parts.push(chunk.subarray(start));
  });
}

function say(message, then) {
  client.write(JSON.stringify(message) + '\0', then);
}

/** The connection to the browser, in the form that connectOverCDP takes. */
const transport = {
  send: message => { browserSocket.write(JSON.stringify(message) + '\0'); },
  close: () => { browserSocket.end(); },
};
eachMessage(browserSocket, text => {
  if (text)
    transport.onmessage?.(JSON.parse(text));
  else
    browserSocket.write('\0'); // answers a ping
});
browserSocket.on('close', () => transport.onclose?.());

async function main() {
  // The path of a socket may have about 100 bytes, but the server's folders may have
  // longer names: a relative path is short. Playwright reads this variable.
  process.chdir(process.env.HOME);
  process.env.PWTEST_SOCKETS_DIR = 'sockets';
  const { chromium } = require(packageFolder);
  const browser = await chromium.connectOverCDP(transport, { artifactsDir: files, timeout: 0 });
  if (typeof browser.bind !== 'function')
    throw new Error('it has no browser.bind');
  // Requests of the API (page.request) leave from here, and only the proxy leads out.
  const options = browser._connection?.toImpl?.(browser)?.options;
  if (options)
    options.proxy = { server: proxy };
  const { endpoint } = await browser.bind('takeover');
  const server = net.connect(endpoint);
  await new Promise((resolve, reject) => server.once('connect', resolve).once('error', reject));
  say({ version: require(`${packageFolder}/package.json`).version });
  for (const socket of [client, server]) {
    socket.on('close', () => process.exit(0));
    socket.on('error', () => process.exit(0));
  }
  client.pipe(server);
  server.pipe(client);
}

/** Returns why a client cannot be served. Node says of a file that it may not read that there is none. */
function why(error) {
  try {
    fs.accessSync(`${packageFolder}/package.json`, fs.constants.R_OK);
  } catch (refusal) {
    if (refusal.code === 'EACCES')
      return `its process, which is user ${process.getuid()}, may not read ${packageFolder}: make it readable for others, or name another folder with --playwright`;
  }
  return String(error?.message ?? error);
}

main().catch(error => say({ error: why(error) }, () => process.exit(1)));
