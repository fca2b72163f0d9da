// Package cdp speaks the Chrome DevTools Protocol with one Chromium.
//
// A [Conn] is one connection, over a pipe ([NewPipe]). It carries any number of
// independent clients ([Client]). Each client has a browser session of its own,
// made with Target.attachToBrowserTarget, so a client that enables a domain never
// changes what another client sees. A client's attached targets are its sessions
// ([Session]); they are flat, as Target.setAutoAttach and Target.attachToTarget
// with flatten make them.
//
// The read loop decodes only the envelope of a message and never blocks: a reply
// goes to its caller, an event to the [Sink] of the client that owns its session.
// A full sink chooses what to drop.
//
// Commands are typed by the values of cdproto:
//
//	res, err := cdp.Call(ctx, session, page.Navigate, page.NavigateParams{URL: url})
package cdp
