package mcp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// node is an element of a page in a snapshot, as one line of the accessibility tree.
type node struct {
	line     string // without indentation and dash, such as: button "Sign in" [ref=e12]
	ref      string // such as e12; empty for texts and properties
	children []*node
	parent   *node
}

var refOf = regexp.MustCompile(`\[ref=([a-z0-9]+)\]`)

// parseTree reads the text of a snapshot. The root has no line.
func parseTree(text string) *node {
	root := &node{}
	path := []*node{root}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		content := strings.TrimLeft(line, " ")
		depth := (len(line) - len(content)) / 2
		content, ok := strings.CutPrefix(content, "- ")
		if !ok {
			continue
		}
		if depth >= len(path) {
			depth = len(path) - 1
		}
		n := &node{line: plainLine(content), parent: path[depth]}
		if !strings.HasPrefix(content, "text:") && !strings.HasPrefix(content, "/") { // a page wrote the rest of such a line
			if m := refOf.FindStringSubmatch(quoted.ReplaceAllString(content, "")); m != nil {
				n.ref = m[1]
			}
		}
		n.parent.children = append(n.parent.children, n)
		path = append(path[:depth+1], n)
	}
	return root
}

// quoted matches the parts of a line that a page wrote, which could look like a ref.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// plainLine removes what a model does not need: that a button or link can be clicked,
// and the colon in front of children.
func plainLine(line string) string {
	line = strings.TrimSuffix(line, ":")
	if strings.HasPrefix(line, "button") || strings.HasPrefix(line, "link") {
		line = strings.Replace(line, " [cursor=pointer]", "", 1)
	}
	return line
}

// find returns the node with a ref, or nil.
func (n *node) find(ref string) *node {
	if n.ref == ref && ref != "" {
		return n
	}
	for _, c := range n.children {
		if found := c.find(ref); found != nil {
			return found
		}
	}
	return nil
}

// count returns the number of nodes below n.
func (n *node) count() int {
	total := len(n.children)
	for _, c := range n.children {
		total += c.count()
	}
	return total
}

// write appends the node and what is below it, down to a depth; 0 stands for no bound.
func (n *node) write(b *strings.Builder, indent, depth int) {
	if n.line != "" {
		n.writeLine(b, indent)
		if depth == 1 {
			n.writeCut(b)
			return
		}
		indent, depth = indent+1, max(depth-1, 0)
	}
	for _, c := range n.children {
		c.write(b, indent, depth)
	}
}

// writeLine appends the node's own line.
func (n *node) writeLine(b *strings.Builder, indent int) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	for range indent {
		b.WriteString("  ")
	}
	b.WriteString("- ")
	b.WriteString(n.line)
}

// writeCut says behind a node's line how much is left out below it.
func (n *node) writeCut(b *strings.Builder) {
	if below := n.count(); below > 0 {
		fmt.Fprintf(b, " … %d more", below)
	}
}

// text returns the tree down to a depth; 0 stands for no bound.
func (n *node) text(depth int) string {
	var b strings.Builder
	n.write(&b, 0, depth)
	return b.String()
}

// fit returns the tree within a number of tokens, and reports whether it left
// something out: what is deep goes first, then the end of long lists.
func (n *node) fit(depth, most int) (string, bool) {
	whole := n.text(depth)
	if tokens(whole) <= most {
		return whole, false
	}
	w := &fitting{left: most, open: map[*node]bool{}}
	for level := []*node{n}; len(level) > 0; {
		var next []*node
		for _, parent := range level {
			next = append(next, w.expand(parent)...)
		}
		level = next
	}
	var b strings.Builder
	w.write(&b, n, -1)
	return b.String(), true
}

// fitting chooses which nodes of a tree are written: those near the root first.
type fitting struct {
	left int // tokens
	open map[*node]bool
}

// expand admits the children of a node for which there is room, and returns them.
func (w *fitting) expand(parent *node) []*node {
	for i, c := range parent.children {
		cost := tokens(c.line) + 8 // with indentation, dash, and the words that say what is left out
		if cost > w.left {
			return parent.children[:i]
		}
		w.left -= cost
		w.open[c] = true
	}
	return parent.children
}

func (w *fitting) write(b *strings.Builder, n *node, indent int) {
	if n.line != "" {
		n.writeLine(b, max(indent, 0))
	}
	hidden := 0
	for _, c := range n.children {
		if !w.open[c] {
			hidden += 1 + c.count()
		}
	}
	if hidden > 0 && hidden == n.count() {
		fmt.Fprintf(b, " … %d more", hidden)
		return
	}
	for _, c := range n.children {
		if w.open[c] {
			w.write(b, c, indent+1)
		}
	}
	if hidden > 0 {
		(&node{line: fmt.Sprintf("… %d more", hidden)}).writeLine(b, max(indent+1, 0))
	}
}

// changes describes how a page differs from an earlier snapshot of the same document:
// changed and new elements below the elements that contain them, and the elements
// that are gone. It is empty if nothing differs.
func changes(before, now *node) string {
	d := &comparison{before: map[string]*node{}, now: map[string]bool{}}
	d.index(before)
	d.note(now)
	d.compare(before, now, 0)
	d.gone(before)
	return d.out.String()
}

// comparison compares two snapshots. An element is the same if its ref is.
type comparison struct {
	before map[string]*node
	now    map[string]bool
	out    strings.Builder
}

func (d *comparison) index(n *node) {
	if n.ref != "" {
		d.before[n.ref] = n
	}
	for _, c := range n.children {
		d.index(c)
	}
}

func (d *comparison) note(n *node) {
	if n.ref != "" {
		d.now[n.ref] = true
	}
	for _, c := range n.children {
		d.note(c)
	}
}

// compare writes what differs below a node that both snapshots have.
func (d *comparison) compare(before, now *node, indent int) {
	texts := map[string]int{}
	for _, c := range before.children {
		if c.ref == "" {
			texts[c.text(0)]++
		}
	}
	for _, c := range now.children {
		if c.ref == "" {
			if text := c.text(0); texts[text] > 0 {
				texts[text]--
				continue
			}
			c.write(&d.out, indent, 0)
			continue
		}
		if old := d.before[c.ref]; old == nil {
			c.write(&d.out, indent, 0)
		} else {
			d.inside(old, c, indent)
		}
	}
}

// inside writes an element that differs, by its own line or below. Around what differs
// below it, only elements with a name are shown.
func (d *comparison) inside(old, now *node, indent int) {
	differs := same(old.line) != same(now.line)
	if differs && (len(now.children) == 0 || len(old.children) == 0) {
		now.write(&d.out, indent, 0)
		return
	}
	shown := differs || strings.Contains(now.line, `"`) || !hasRefs(now)
	before := d.out.String()
	if shown {
		now.writeLine(&d.out, indent)
		indent++
	}
	with := d.out.Len()
	d.compare(old, now, indent)
	if d.out.Len() == with && !differs { // nothing below differs, or something is gone
		d.out.Reset()
		d.out.WriteString(before)
	}
}

// same returns the part of a line that counts when lines are compared. The focus moves
// with every action.
func same(line string) string { return strings.Replace(line, " [active]", "", 1) }

// hasRefs reports whether a node contains elements, and not only texts.
func hasRefs(n *node) bool {
	return slices.ContainsFunc(n.children, func(c *node) bool { return c.ref != "" })
}

// gone lists the elements that the page no longer has, without those inside them.
func (d *comparison) gone(before *node) {
	const most = 10
	var lost []string
	var visit func(n *node)
	visit = func(n *node) {
		for _, c := range n.children {
			if c.ref != "" && !d.now[c.ref] {
				lost = append(lost, c.line)
				continue
			}
			visit(c)
		}
	}
	visit(before)
	if len(lost) == 0 {
		return
	}
	more := ""
	if len(lost) > most {
		more = fmt.Sprintf(" and %d more", len(lost)-most)
		lost = lost[:most]
	}
	if d.out.Len() > 0 {
		d.out.WriteByte('\n')
	}
	d.out.WriteString("Gone: " + strings.Join(lost, "; ") + more)
}
