// Package apidoc describes the Go types of the API's requests and answers: as fields with
// the texts and bounds of their tags ([Fields]), as JSON schemas ([Schemas]), in words, and
// by an example ([Example]). Package web describes the calls.
package apidoc
