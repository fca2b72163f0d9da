// Package clipboard reads and writes the clipboard of a Chromium. CDP has no
// commands for that, so the package uses a hidden page in a browser context of
// its own, which has the web's clipboard permissions. The page reports everything
// that other pages copy, and other pages can paste what it writes.
package clipboard
