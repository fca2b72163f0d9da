// Package worker is a script's own process: a goja runtime on one goroutine, with
// no files, no network and no environment. The server starts it (package scripting)
// and speaks to it over a pair of pipes (package wire).
//
// Answers, events and timers re-enter JavaScript by a queue, never from another
// goroutine (loop.go). The API itself is TypeScript, in the folder scripting/api;
// host.go has what it gets of the world.
package worker
