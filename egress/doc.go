// Package egress decides what sessions may reach on the network.
//
// A [Policy] judges addresses. A [Traffic] is one session's way to the network: it
// asks the policy about each address at the moment of dialing, so that DNS names,
// redirects and rebinding change nothing, and it counts bytes. A [Proxy] is the
// forward proxy of one Chromium, which has no other way out. Scripts' own requests
// use the Traffic directly.
package egress
