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

// set changes the value of a header, or adds the header.
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

// Merge combines lists of headers. A value in a later list replaces the value of
// the same header in an earlier list, and the earlier spelling stays.
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
