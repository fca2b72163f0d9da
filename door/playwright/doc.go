// Package playwright is the door for programs that speak Playwright's own protocol:
// chromium.connect of an unmodified Playwright.
//
// The protocol is not written again here. For each client, the server starts one Node
// process with an installed playwright-core (packages.go), confined like Chromium
// (process.go). The process runs bridge.cjs: it reaches the browser through a stream
// that package door/cdp serves, so that the rules of that door hold, and it serves the
// client through another one, which a [Client] connects to the client's WebSocket.
//
// A client can make the process do what Playwright's server does: read and write files,
// connect to addresses. The confinement is what holds it: it sees a folder of its own, and the
// session's proxy is its only way to the network. Where they cannot be had, no process is
// started.
package playwright
