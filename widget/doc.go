// Package widget is about what a page has Chromium draw outside itself, which no
// picture of the page shows: the caret that keyboards and input methods follow,
// the pointer's shape, and what opens for selects, dates, colours and suggestions.
//
// An agent of ours runs in each document, in a world that the page's scripts do
// not reach (widget/page), and reports changes. What it tells comes from the
// page's process nevertheless and is taken as outside input.
package widget
