// Package workertest says which program tests use as the worker of a script, and
// what its scripts find.
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

// InitAnswer is the answer to the operation init of a browser with one empty page.
const InitAnswer = `{
	"browser":{"name":"chromium","version":"156.0"}, "context":{"id":"context@1"}, "activePage":"page@1",
	"pages":[{"id":"page@1","context":"context@1","viewport":{"width":1280,"height":720},
		"mainFrame":{"id":"frame@1","url":"https://example.test/start","name":"","loadStates":["commit","domcontentloaded","load"]},"frames":[]}]
}`
