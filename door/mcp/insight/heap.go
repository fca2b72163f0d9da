package insight

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// MaxHeap bounds the snapshots that Heap reads, in bytes.
const MaxHeap = 64 << 20

// maxClasses is how many kinds of objects an answer names.
const maxClasses = 20

// errNoHeap is returned for a file that is no snapshot.
var errNoHeap = errors.New("this is no heap snapshot of Chrome's DevTools")

// heap is the part of a snapshot that is read. Nodes are numbers, some for each object;
// Meta names them, and names are positions in Strings.
type heap struct {
	Snapshot struct {
		Meta struct {
			Fields []string          `json:"node_fields"`
			Types  []json.RawMessage `json:"node_types"`
		} `json:"meta"`
	} `json:"snapshot"`
	Nodes   []int64  `json:"nodes"`
	Strings []string `json:"strings"`
}

// class is a kind of objects.
type class struct {
	name  string
	count int
	bytes int64 // of the objects themselves
}

// Heap says in lines what a snapshot of a page's memory contains. hide removes secrets
// from a text; names in the lines have passed it. The error says why the snapshot cannot
// be read.
func Heap(r io.Reader, hide func(string) string) ([]string, error) {
	var h heap
	if err := json.NewDecoder(r).Decode(&h); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoHeap, err)
	}
	classes, err := h.classes()
	if err != nil {
		return nil, err
	}
	whole := class{}
	for _, c := range classes {
		whole.count, whole.bytes = whole.count+c.count, whole.bytes+c.bytes
	}
	lines := []string{fmt.Sprintf("%d objects, %s. The most memory (of the objects themselves):", whole.count, size(float64(whole.bytes)))}
	for _, c := range classes[:min(len(classes), maxClasses)] {
		lines = append(lines, fmt.Sprintf("- %s: %d, %s", name(c.name, hide), c.count, size(float64(c.bytes))))
	}
	if more := len(classes) - maxClasses; more > 0 {
		lines = append(lines, fmt.Sprintf("- … %d more kinds", more))
	}
	return lines, nil
}

// classes groups the objects as DevTools does: by their constructors, and others by
// their types.
func (h *heap) classes() ([]class, error) {
	meta := h.Snapshot.Meta
	typ, called, bytes, width := slices.Index(meta.Fields, "type"), slices.Index(meta.Fields, "name"), slices.Index(meta.Fields, "self_size"), len(meta.Fields)
	if typ < 0 || called < 0 || bytes < 0 || width == 0 || len(h.Nodes)%width != 0 || len(meta.Types) <= typ {
		return nil, errNoHeap
	}
	var types []string
	if err := json.Unmarshal(meta.Types[typ], &types); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoHeap, err)
	}
	byName := map[string]*class{}
	for node := range slices.Chunk(h.Nodes, width) {
		key := "(unknown)"
		if at := node[typ]; at >= 0 && at < int64(len(types)) {
			key = "(" + types[at] + ")"
		}
		if at := node[called]; (key == "(object)" || key == "(native)") && at >= 0 && at < int64(len(h.Strings)) {
			key, _, _ = strings.Cut(h.Strings[at], " ") // the rest may be what the page shows
		}
		c := byName[key]
		if c == nil {
			c = &class{name: key}
			byName[key] = c
		}
		c.count++
		c.bytes += node[bytes]
	}
	list := make([]class, 0, len(byName))
	for _, c := range byName {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b class) int {
		if a.bytes != b.bytes {
			return cmp.Compare(b.bytes, a.bytes)
		}
		return strings.Compare(a.name, b.name)
	})
	return list, nil
}
