// Package widget follows what Chromium would draw outside a page, which no
// picture of the page shows: the caret for keyboards and input methods, the shape
// of the pointer, and pickers for selects, dates, colours and suggestions.
//
// An agent of ours runs in each document, in a world that the page's scripts
// cannot reach (widget/page), and reports changes. Its reports come from the
// page's process, so they count as outside input.
package widget
