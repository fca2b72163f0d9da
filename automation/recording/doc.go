// Package recording records what the pages of a script do as files that others read:
// the requests as a HAR ([HAR]), and calls, pictures and requests as what Playwright's
// trace viewer shows ([Trace]). It gets events from its user, keeps what it records in
// memory up to a bound, and writes no file itself.
package recording
