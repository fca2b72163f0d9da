// Package workertest helps tests to run scripts: it has the command that starts a
// worker, and a reply that describes a browser with one empty page.
package workertest

import "os"

// Program is the environment variable with the path of the program that make test
// builds.
const Program = "TAKEOVER_TEST_PROGRAM"

// Command returns the command that starts a worker: the program that make test
// builds, because under the race detector JavaScript is several times slower and
// needs several times the memory. Without that program it returns nil, which
// means the test binary itself. subcommand is scripting.Subcommand.
func Command(subcommand string) []string {
	if program := os.Getenv(Program); program != "" {
		return []string{program, subcommand}
	}
	return nil
}

// InitAnswer is the reply of a browser with one empty page to the operation init.
const InitAnswer = `{
	"browser":{"name":"chromium","version":"156.0"}, "context":{"id":"context@1"}, "activePage":"page@1",
	"pages":[{"id":"page@1","context":"context@1","viewport":{"width":1280,"height":720},
		"mainFrame":{"id":"frame@1","url":"https://example.test/start","name":"","loadStates":["commit","domcontentloaded","load"]},"frames":[]}]
}`
