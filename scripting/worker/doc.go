// Package worker is the process of one script: a goja runtime on one goroutine,
// with no files, no network and no environment. The server (package scripting)
// starts it and talks to it over a pair of pipes (package wire).
//
// Answers, events and timers enter JavaScript through a queue, never from another
// goroutine (loop.go). The API itself is TypeScript, in the folder scripting/api;
// host.go has the functions that it can call.
package worker
