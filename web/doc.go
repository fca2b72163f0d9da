// Package web is the HTTP side of the server: routes, sign-in, the viewer's
// socket, event streams and the pages. It keeps no state about sessions. It
// translates between the wire format of docs/protocol.md and package session.
//
// Every route is a row of one table (routes.go) that says who may call it. A
// handler returns an error, and one adapter (problem.go) renders it, so that the
// same failure looks the same everywhere.
package web
