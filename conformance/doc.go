// Package conformance has test cases for what Playwright's public documentation
// promises, as ordinary Playwright Test files. The same files run with the real
// Playwright (`npm run conformance:reference`), which shows that the cases are
// right, and with our own engine in this package's test.
package conformance
