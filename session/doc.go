// Package session manages sessions from their creation to their release. A
// session is one Chromium with its own profile, with its tabs, viewers, control
// lease, takeovers and runs. The [Manager] is the registry of all sessions.
//
// A session supervises its Chromium. When the process dies, the session notifies
// its viewers, and starts Chromium again with the same profile under the same id.
//
// Every viewer is notified of changes by the messages in messages.go. All
// exported methods may be called from any goroutine.
package session
