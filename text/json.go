package text

import "github.com/go-json-experiment/json/jsontext"

// AppendQuoted appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendQuoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // it fails only to say that s was not valid
	return b
}
