// Package cdp speaks the Chrome DevTools Protocol with one Chromium.
//
// A [Conn] is one connection, over a pipe ([NewPipe]) or a WebSocket
// ([DialWebSocket]). On it live any number of independent clients ([Client]),
// each a browser session of its own made with Target.attachToBrowserTarget, so
// that one enabling a domain never changes what another sees. A client's
// attached targets are its sessions ([Session]); they are flat, as
// Target.setAutoAttach and Target.attachToTarget with flatten make them.
//
// The read loop decodes the envelope of a message only and never waits: a reply
// goes to whoever called, an event to the [Sink] of the client that owns its
// session. What happens when a sink is full is the sink's choice.
//
// Commands are typed by the values of cdproto:
//
//	res, err := cdp.Call(ctx, session, page.Navigate, page.NavigateParams{URL: url})
package cdp
