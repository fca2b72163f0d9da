// Package source reads script code: it limits the nesting of brackets, extracts
// imports, and turns the code into JavaScript that goja understands. It runs
// nothing and does not use goja.
package source
