package web

import (
	"net/http"
	"slices"
	"strings"
)

// anywhere lists the problems that any call may answer.
var anywhere = []kind{kindForbidden, kindNotFound, kindMethod, kindInternal, kindNotReady}

// problems lists the problems that a call answers in particular: those that follow
// from its row, and those that the row names. They have the order of kinds.
func (r route) problems() []kind {
	found := slices.Clone(r.fails)
	add := func(when bool, more ...kind) {
		if when {
			found = append(found, more...)
		}
	}
	inSession, changes := strings.HasPrefix(r.path, "/v1/sessions/:id"), r.method != http.MethodGet
	add(r.access != public, kindNoKey)
	add(r.access == guests, kindForbidden)
	add(len(r.query) > 0 || r.body != nil, kindBadInput)
	add(r.body != nil, kindTooLarge)
	add(strings.Contains(r.path, ":"), kindNotFound)
	add(inSession && !r.ofEnded && (changes || r.kind != plain), kindEnded)
	add(r.kind == webSocket, kindUpgrade)
	add(r.creates, kindTooMany, kindFull, kindNotReady)
	slices.SortFunc(found, func(a, b kind) int { return slices.Index(kinds, a) - slices.Index(kinds, b) })
	return slices.Compact(found)
}
