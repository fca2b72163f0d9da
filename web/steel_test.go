package web

import (
	"strings"
	"testing"

	"takeover/door/doortest"
)

// articlePage is a page with a text, a link, and what cleaning removes.
var articlePage = `<!doctype html><html lang="en"><title>On quinces</title><meta name="description" content="A fruit"><style>p { color: #333 }</style>
<script>let unused;</script><body><!-- a comment --><article><h1>Quinces</h1>` +
	strings.Repeat(`<p onclick="void 0" class="text">The quince is a fruit that is yellow when ripe, hard, and sour. It is cooked with sugar, and its smell fills the house.</p>`, 8) +
	`<p>Read <a href="/next">the next page</a>.</p></article></body></html>`

// TestSteelClient runs Steel's published client against the server.
func TestSteelClient(t *testing.T) {
	s := startServer(t, withProfiles(t))
	site := doortest.Site(t, map[string]string{"/": "<title>Site</title>", "/article": articlePage})
	node(t, "steel", "client.mjs", s.base, testKey, site)
}
