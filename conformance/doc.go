// Package conformance holds cases that say what Playwright's public
// documentation promises, as ordinary Playwright Test files. The same files run
// with the real Playwright (`npm run conformance:reference`), which shows that
// the cases are right, and by this package's test with our own engine.
package conformance
