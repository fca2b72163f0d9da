// Package scripting runs the scripts that operators paste: it turns them into
// what goja understands, runs each in a worker process of its own, and gives
// them Playwright's API.
//
// The server's half is [Pool] and [Run]. A run's worker is the server's own
// binary, started again as a hidden subcommand whose main is [WorkerMain]; it
// has no files, no network and no environment, only a pair of pipes. Over them
// it calls [Operations] and reports logs, steps and its result. Whatever a
// script does to its worker (endless loops, memory bombs, stack overflows in
// native code) ends that run and nothing else.
//
// The worker's half keeps one goja runtime on one goroutine. Answers, events
// and timers re-enter JavaScript by a queue, never from another goroutine
// (worker_loop.go). The API itself is TypeScript, in the folder api.
package scripting
