// Package confine confines Chromium: namespaces for users,
// processes, mounts, System V objects and the network, with Landlock rules, a
// filter of system calls and resource limits.
//
// A server calls Start. It starts the program again with the hidden subcommand
// Command, which calls Main: the launcher. The launcher is the first process of
// the confinement. It sets it up, tells the server what the kernel refused, starts
// Chromium, and waits for the ends of all processes. When the launcher ends, the
// kernel ends everything in its confinement.
package confine
