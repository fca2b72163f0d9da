package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"takeover/door/page"
)

// selectorOf returns the selector of a target: a ref, also in the form in which it
// stands in a snapshot, or a selector.
func selectorOf(target string) string {
	target = strings.TrimSpace(target)
	if ref, ok := strings.CutPrefix(strings.TrimPrefix(target, "["), "ref="); ok {
		return page.Selector(strings.TrimSuffix(ref, "]"))
	}
	return page.Selector(target)
}

// refEngine is how the selector of a ref begins.
const refEngine = "aria-ref="

// isRef reports whether a selector is that of a ref.
func isRef(selector string) bool { return strings.HasPrefix(selector, refEngine) }

// snapshot takes a snapshot of a whole page. Refs of a page are those of its last
// snapshot, so every snapshot is of the whole page, and answers show parts of it.
func (s *conversation) snapshot(ctx context.Context, t tab) (*node, error) {
	text, err := t.Snapshot(ctx, page.SnapshotOptions{Target: "body,frameset"})
	if err != nil {
		return nil, err
	}
	return parseTree(text), nil
}

// part returns the part of a snapshot that belongs to a target.
func (s *conversation) part(ctx context.Context, t tab, whole *node, target string) (*node, error) {
	selector := selectorOf(target)
	if isRef(selector) {
		if found := whole.find(strings.TrimPrefix(selector, refEngine)); found != nil {
			return found, nil
		}
	}
	text, err := t.within(snapshotTimeout).Snapshot(ctx, page.SnapshotOptions{Target: selector})
	if err != nil {
		return nil, err
	}
	_, err = s.snapshot(ctx, t) // so that refs outside the part stay valid
	return parseTree(text), err
}

// snapshotTimeout bounds how long a snapshot waits for its target, in milliseconds.
const snapshotTimeout = 5000

// remember keeps what the caller has seen of a page, and returns the snapshot before
// it, or nil if the page has another document since.
func (s *conversation) remember(t tab, tree *node) (before *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.seen[t.names.Frame]; known != nil && !known.stale {
		before = known.tree
	}
	s.seen[t.names.Frame] = &seen{tree: tree}
	return before
}

// saw reports whether the caller has seen a snapshot of the page's present document.
func (s *conversation) saw(t tab) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.seen[t.names.Frame]
	return known != nil && !known.stale
}

// status says where the caller is: the page, and what is unusual.
func (s *conversation) status() []string {
	tabs, shown := s.program.Tabs()
	var lines []string
	for _, one := range tabs {
		if one.Tab != shown {
			continue
		}
		line := "Page: " + one.URL
		if one.Title != "" {
			line = "Page: " + one.Title + " – " + one.URL
		}
		if len(tabs) > 1 {
			line += fmt.Sprintf(" (tab %d of %d)", one.Tab, len(tabs))
		}
		lines = append(lines, line)
	}
	s.mu.Lock()
	if known := s.tabs; known != len(tabs) {
		s.tabs = len(tabs)
		if len(tabs) > known {
			lines = append(lines, fmt.Sprintf("A tab opened; there are %d. browser_tabs lists them.", len(tabs)))
		} else {
			lines = append(lines, fmt.Sprintf("A tab closed; there are %d.", len(tabs)))
		}
	}
	s.mu.Unlock()
	lines = append(lines, s.dialogLines()...)
	info := s.session.Info()
	switch {
	case info.Takeover != nil:
		lines = append(lines, fmt.Sprintf("A takeover is %s: %s. Actions wait until it ends (takeover_status).", info.Takeover.State, info.Takeover.ID))
	case info.Controller.IsPerson():
		lines = append(lines, "A person is in control: actions wait, reading goes on.")
	}
	return lines
}

// dialogLines describes the open dialogs.
func (s *conversation) dialogLines() (lines []string) {
	hide := s.session.Monitor().Redactor().Text
	_, shown := s.program.Tabs()
	for _, d := range s.openDialogs() {
		place := ""
		if n := s.tabOf(d); n != 0 && n != shown {
			place = fmt.Sprintf(" in tab %d", n)
		}
		lines = append(lines, fmt.Sprintf("A dialog is open%s: %s %q. Answer it with browser_handle_dialog.", place, d.Type, hide(d.Message)))
	}
	return lines
}

// tabOf returns the number of a dialog's tab, or 0 if it is gone.
func (s *conversation) tabOf(d *dialog) uint32 {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client == nil {
		return 0
	}
	tabs, _ := s.program.Tabs()
	for _, one := range tabs {
		if names, err := client.Page(one.Tab); err == nil && names.Page == d.Page {
			return one.Tab
		}
	}
	return 0
}

// background returns the console lines and errors since the last answer. Each answer
// about a session has them.
func (s *conversation) background() []string {
	s.mu.Lock()
	events, last, missed := s.session.Monitor().Log().Since(s.said)
	s.said = last
	s.mu.Unlock()
	if len(events) == 0 && missed == 0 {
		return []string{"backgroundEvents: none"}
	}
	lines, left := []string{"backgroundEvents:"}, maxBackground
	for i, e := range events {
		kind := "console." + e.Level
		if e.Source != "" {
			kind = "error " + e.Source
		}
		line, _ := clip(strings.Join(strings.Fields(e.Message), " "), maxBackground/2)
		line = fmt.Sprintf("- %s: %s", kind, line)
		if left -= tokens(line); left < 0 {
			missed += len(events) - i
			break
		}
		lines = append(lines, line)
	}
	if missed > 0 {
		lines = append(lines, fmt.Sprintf("- … %d more: browser_console_messages", missed))
	}
	return lines
}

// view says how an answer shows the page after an action.
type view struct {
	Snapshot bool `json:"snapshot,omitempty" jsonschema:"answer with the whole page instead of what changed"`
}

// show adds the page to the answer of an action: the changes since the last snapshot,
// or a snapshot if the caller asks for one.
func (c *call) show(a *answer, v view) *answer {
	s := c.conversation
	t, err := s.shown(c.ctx)
	if err != nil {
		return a.add("The page cannot be read: %s", err)
	}
	a.lines = append(a.lines, s.status()...)
	if s.openDialog(t.names.Page) != nil {
		return a
	}
	saw := s.saw(t)
	if !saw && !v.Snapshot {
		return a.add("This page is new to you: browser_snapshot shows it.")
	}
	ctx, stop := s.untilDialog(c.ctx)
	tree, err := s.snapshot(ctx, t)
	stop()
	switch {
	case err != nil && s.openDialog(t.names.Page) != nil:
		a.lines = append(a.lines, s.dialogLines()...)
		return a
	case err != nil:
		return a.add("The page cannot be read: %s", firstLine(err.Error()))
	}
	before := s.remember(t, tree)
	switch {
	case v.Snapshot:
		text, cut := tree.fit(0, maxAnswer)
		a.add("Snapshot:").add("%s", text)
		if cut {
			a.add("%s", cutHint)
		}
	case before == nil: // another document came meanwhile
		s.forget(t)
		a.add("This page is new to you: browser_snapshot shows it.")
	default:
		text := changes(before, tree)
		if text == "" {
			return a.add("Nothing changed on the page.")
		}
		text, cut := clip(text, maxChanges)
		a.add("Changes:").add("%s", text)
		if cut {
			a.add("… more changed: browser_snapshot shows the page.")
		}
	}
	return a
}

// forget drops what the caller has seen of a page.
func (s *conversation) forget(t tab) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, t.names.Frame)
}

const cutHint = `The snapshot is cut to its size. "… N more" stands for elements left out: pass the ref before it as target, use browser_find, or pass all:true.`

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

type snapshotArgs struct {
	where
	Target string `json:"target,omitempty" jsonschema:"ref or selector of the part to show; default: the page"`
	Depth  int    `json:"depth,omitempty" jsonschema:"how many levels of the tree to show; default: all"`
	All    bool   `json:"all,omitempty" jsonschema:"lift the bound of 8,000 tokens"`
}

type findArgs struct {
	where
	Text  string `json:"text,omitempty" jsonschema:"what to look for in names, texts and roles, in any case"`
	Regex string `json:"regex,omitempty" jsonschema:"a regular expression, in place of text"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many elements to show at most; default 20"`
}

// pageTools are the tools that show and open pages.
var pageTools = []tool{
	row("browser_navigate", setCore, "Open an address", acts,
		"Open an address in the page. Answers with the page's title; pass snapshot:true to see the page at once.",
		`{"url": "https://example.com", "snapshot": true}`, (*call).navigate),
	row("browser_navigate_back", setCore, "Go back", acts,
		"Go back to the page before, as with the browser's button.", `{}`, (*call).back),
	row("browser_snapshot", setCore, "Read the page", reads,
		"Read the page as a tree of elements with refs, which other tools take as target. Prefer it to a screenshot.",
		`{"depth": 3} or {"target": "e12"}`, (*call).readPage),
	row("browser_find", setCore, "Find on the page", reads,
		"Find elements by their text without reading the whole page. Answers with their refs and what contains them.",
		`{"text": "sign in"}`, (*call).findText),
}

func (c *call) readPage(in snapshotArgs) (*answer, error) {
	s, t, err := c.shownAt(in.where)
	if errors.Is(err, errDialog) { // it opened meanwhile
		return &answer{lines: s.status()}, nil
	}
	if err != nil {
		return nil, err
	}
	a := &answer{lines: s.status()}
	if s.openDialog(t.names.Page) != nil {
		return a, nil
	}
	tree, err := s.snapshot(c.ctx, t)
	if s.openDialog(t.names.Page) != nil { // it opened meanwhile
		return &answer{lines: s.status()}, nil
	}
	if err != nil {
		return nil, err
	}
	part := tree
	if in.Target != "" {
		if part, err = s.part(c.ctx, t, tree, in.Target); err != nil {
			return nil, err
		}
	}
	s.remember(t, tree)
	text, cut := part.text(in.Depth), false
	if !in.All {
		text, cut = part.fit(in.Depth, maxAnswer)
	}
	if text == "" {
		text = "The page is empty."
	}
	a.add("%s", text)
	if cut {
		a.add("%s", cutHint)
	}
	return a, nil
}

func (c *call) findText(in findArgs) (*answer, error) {
	matches, err := in.matcher()
	if err != nil {
		return nil, err
	}
	s, t, err := c.readableAt(in.where)
	if err != nil {
		return nil, err
	}
	tree, err := s.snapshot(c.ctx, t)
	if err != nil {
		return nil, err
	}
	s.remember(t, tree)
	limit := in.Limit
	if limit <= 0 {
		limit = 20
	}
	var found []string
	total := 0
	var visit func(n *node)
	visit = func(n *node) {
		for _, child := range n.children {
			if matches(child.line) {
				if total++; len(found) < limit {
					found = append(found, "- "+child.line+container(child))
				}
			}
			visit(child)
		}
	}
	visit(tree)
	if total == 0 {
		return say("No element has %q in it.", cmp.Or(in.Regex, in.Text)), nil
	}
	text, _ := clip(strings.Join(found, "\n"), maxAnswer)
	a := say("%s", text)
	if total > len(found) {
		a.add("… %d more", total-len(found))
	}
	return a, nil
}

// matcher returns a test for a text, or for a regular expression, which may also stand
// between slashes.
func (in findArgs) matcher() (func(string) bool, error) {
	inner, opens := strings.CutPrefix(cmp.Or(in.Regex, in.Text), "/")
	inner, closes := strings.CutSuffix(inner, "/")
	if slashes := opens && closes && inner != ""; in.Regex != "" || slashes {
		pattern := in.Regex
		if slashes {
			pattern = inner
		}
		compiled, err := regexp.Compile("(?i)" + pattern)
		if err != nil {
			return nil, fmt.Errorf("regex: %w", err)
		}
		return compiled.MatchString, nil
	}
	if strings.TrimSpace(in.Text) == "" {
		return nil, fmt.Errorf("text: is required: what to look for")
	}
	lower := strings.ToLower(in.Text)
	return func(s string) bool { return strings.Contains(strings.ToLower(s), lower) }, nil
}

// container says in which elements a found one is: the nearest with a ref of its own
// text, and the nearest that has a name.
func container(n *node) string {
	var in []string
	for up := n.parent; up != nil && up.line != "" && len(in) < 2; up = up.parent {
		if n.ref == "" && len(in) == 0 || strings.Contains(up.line, `"`) {
			line, _ := clip(up.line, 40)
			in = append(in, line)
		}
	}
	if len(in) == 0 {
		return ""
	}
	return " in " + strings.Join(in, " in ")
}

type navigateArgs struct {
	where
	URL     string  `json:"url" jsonschema:"the address, such as https://example.com"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"ms; default 30000"`
	view
}

func (c *call) navigate(in navigateArgs) (*answer, error) {
	if strings.TrimSpace(in.URL) == "" {
		return nil, fmt.Errorf("url: is required")
	}
	address := in.URL
	if !strings.Contains(address, ":") {
		address = "https://" + address
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return t.within(in.Timeout).Navigate(ctx, address, "domcontentloaded")
	})
}

type backArgs struct {
	where
	view
}

func (c *call) back(in backArgs) (*answer, error) {
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return t.Back(ctx)
	})
}

// act does something to the page, and answers with what became of it.
func (c *call) act(w where, v view, do func(ctx context.Context, t tab) error) (*answer, error) {
	s, err := c.at(w)
	if err != nil {
		return nil, err
	}
	defer c.progress(c.waiting)()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	}
	if err := s.program.AwaitTurn(c.ctx); err != nil {
		return nil, err
	}
	t, err := s.shown(c.ctx)
	if err != nil {
		return nil, err
	}
	err = s.doing(c, t, func(ctx context.Context) error { return do(ctx, t) })
	if err == errDialog && s.anyDialog(t) != nil { //nolint:errorlint // doing returns it as it is
		return &answer{lines: s.status()}, nil
	}
	if err != nil {
		return nil, err
	}
	s.settle(c)
	return c.show(&answer{}, v), nil
}

// waiting says why an action waits, for its progress.
func (c *call) waiting() (done, total float64, message string) {
	info := c.conversation.session.Info()
	since := float64(info.Duration) / 1000
	switch {
	case info.Takeover != nil:
		return since, 0, "waiting for the person who was asked: " + info.Takeover.Reason
	case info.Controller.IsPerson():
		return since, 0, "waiting: a person is in control"
	case info.Held:
		return since, 0, "waiting: somebody who watches holds what programs do"
	}
	return 0, 0, ""
}
