// Package input turns a viewer's messages into input of a page.
//
// The messages ([Mouse], [Key], [Text], [Compose], [Touch]) are those of the
// viewer's socket. Validate checks one. A [Dispatcher] translates them to the
// Input domain of the DevTools protocol, and writes each command without waiting
// for the previous reply. It remembers which keys, buttons and fingers are down,
// so that it can release all of them.
package input
