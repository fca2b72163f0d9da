// Package session keeps the life of sessions: one Chromium each with its own
// profile, from create to release, with its tabs, its viewers, its control
// lease, its takeovers and its runs. The [Manager] is the registry of all.
//
// A session supervises its Chromium: when the process dies, everybody is told,
// and it is started again with the same profile under the same id.
//
// State changes reach every viewer as the messages of messages.go. All exported
// methods may be called from any goroutine.
package session
