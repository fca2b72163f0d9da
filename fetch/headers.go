package fetch

import (
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
)

func indexOf(headers []Header, name string) int {
	return slices.IndexFunc(headers, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}

func has(headers []Header, name string) bool { return indexOf(headers, name) >= 0 }

// set changes a header's value, or adds it.
func set(headers *[]Header, name, value string) {
	if i := indexOf(*headers, name); i >= 0 {
		(*headers)[i].Value = value
		return
	}
	*headers = append(*headers, Header{name, value})
}

func remove(headers *[]Header, name string) {
	*headers = slices.DeleteFunc(*headers, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}

// Merge puts lists of headers one over the other: a later one's value takes the
// place of an earlier one's of the same name, which keeps its spelling.
func Merge(lists ...[]Header) []Header {
	merged := []Header{}
	for _, list := range lists {
		for _, h := range list {
			set(&merged, h.Name, h.Value)
		}
	}
	return merged
}

func mapKeys(h http.Header) iter.Seq[string] { return maps.Keys(h) }
