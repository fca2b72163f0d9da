// Package source reads the code of scripts: it bounds the nesting of brackets,
// takes imports out, and turns what people paste into JavaScript that goja
// understands. It does not run anything and does not know goja.
package source
