// Package input turns what a viewer does into input of a page.
//
// The messages ([Mouse], [Key], [Text], [Compose], [Touch]) are those of a
// viewer's socket; Validate checks one. A [Dispatcher] translates them to the
// Input domain of the DevTools protocol and writes each command without waiting
// for the reply to the one before. It remembers what is held down, so that all
// of it can be let go.
package input
