// Package scripting runs the scripts that operators paste, each in a worker
// process of its own, and gives them Playwright's API.
//
// This is the server's half: [Pool] starts workers, [Run] is one execution of one
// script. It does not know goja, which only workers need. A run's worker is the
// server's own binary, started again as a hidden subcommand whose main is that of
// package worker; it has no files, no network and no environment, only a pair of
// pipes. Over them (package wire) it calls [Operations] and reports logs, steps
// and its result; reports.go reads all that as outside input. Whatever harm a
// script does to its worker (endless loops, memory bombs, stack overflows in
// native code), only that run ends.
//
// Package source turns what people paste into what goja understands. The API
// itself is TypeScript, in the folder api.
package scripting
