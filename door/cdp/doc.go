// Package cdp is the door for programs that speak the DevTools protocol themselves:
// Playwright's connectOverCDP, Puppeteer, chromedp and others, unmodified.
//
// A [Client] is one WebSocket, or another [socket.Conn]. It has a CDP client of its own in the session's
// Chromium (session.RawClient), so ids, sessions and events of several clients
// never mix. Each command is looked up in the table of package cdp/methods: it
// passes, is mapped (mapped.go), is answered here (takeover.go), or is refused.
// Commands that write wait, in order, while a person is in control (waiting.go).
// Events about the server's own pages and worlds are left out (events.go).
package cdp
