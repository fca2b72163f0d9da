// Package clipboard reads and writes the clipboard of a Chromium, which has no
// commands of CDP for it: through a page that nobody sees, in a context of its
// own, that holds the web's clipboard permissions. What pages copy, by whatever
// way, is heard of there; what is written there, pages paste as from any other
// program.
package clipboard
