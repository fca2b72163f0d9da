// Package workertest has what tests need to run scripts: the program of the worker, and
// the answer that describes an empty browser.
package workertest

import "os"

// Program is the environment variable that names the program that make test builds.
const Program = "TAKEOVER_TEST_PROGRAM"

// Command returns the command of a worker: the program that make test builds, because
// JavaScript is several times slower under the race detector and needs several times the
// memory. Without that program it returns nil, which stands for the test binary itself.
// subcommand is scripting.Subcommand.
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
