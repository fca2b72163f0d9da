package views

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// longest is the length of a text, in bytes, above which it may break anywhere.
const longest = 400

// breakable is a text that breaks after the signs of addresses and of code, rather than
// inside their words. As `breakable` in static/src/ui/dom.ts.
func breakable(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		parts := pieces(text)
		for i, part := range parts {
			parts[i] = templ.EscapeString(part)
		}
		_, err := io.WriteString(w, strings.Join(parts, "<wbr>"))
		return err
	})
}

// pieces cuts a text where it may break.
func pieces(text string) []string {
	if len(text) > longest {
		return []string{text}
	}
	var parts []string
	from := 0
	for at := 1; at < len(text); at++ {
		before, after := text[at-1], text[at]
		if strings.IndexByte("/.,(&?=", before) < 0 || strings.IndexByte("/ \t\r\n", after) >= 0 {
			continue
		}
		if before != '.' || after < '0' || after > '9' { // numbers and IP addresses stay whole
			parts = append(parts, text[from:at])
			from = at
		}
	}
	return append(parts, text[from:])
}
