// Package clipboard reads and writes the clipboard of a Chromium. CDP has no
// commands for that, so the package uses a hidden page in a context of its own
// with the web's clipboard permissions. The page reports everything that other
// pages copy. What it writes, other pages can paste.
package clipboard
