// Package web is the server's face: HTTP routes, sign-in, the viewer's socket,
// event streams and the pages. It holds no state of a session; it translates
// between the wire format of docs/protocol.md and package session.
//
// Every route stands in one table (routes.go) that says who may call it. A
// handler returns an error, and one adapter (problem.go) renders it, so that
// the same failure looks the same everywhere.
package web
