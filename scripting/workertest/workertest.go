// Package workertest says which program tests use as the worker of a script.
package workertest

import "os"

// Program is the environment's variable that names the program that make test
// has built.
const Program = "TAKEOVER_TEST_PROGRAM"

// Command is the command of a worker: the program that make test has built,
// because under the race detector JavaScript runs several times slower, in
// several times the memory. Without one it is nil, which stands for the test
// binary itself. subcommand is scripting.Subcommand, whose own tests use this too.
func Command(subcommand string) []string {
	if program := os.Getenv(Program); program != "" {
		return []string{program, subcommand}
	}
	return nil
}
