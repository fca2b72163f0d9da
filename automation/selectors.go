package automation

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"takeover/browser"
)

// selectorOperations are about selectors in general.
var selectorOperations = table{
	// {name,source,contentScript}: the source is an expression that gives {query,queryAll}; a content script is out of the page's reach.
	"selectors.register": op(false, opRegisterEngine),
	// {frame,selector} → {wrong}: why it is no selector, or empty; nobody waits for what it names.
	"selectors.check": op(false, opCheckSelector),
}

// maxEngines bounds the selector engines of a client.
const maxEngines = 100

// engine is a selector engine of a client's own.
type engine struct {
	Name          string `json:"name"`
	Source        string `json:"source"`
	ContentScript bool   `json:"contentScript"`
}

// engines are those of a client. They never change: with one more they are
// others, so that they can name what was made with them.
type engines struct {
	list []engine
	main []string // how selectors begin that need the page's own world
}

// builtinInMain are the engines of Playwright's that look at what the page's own
// scripts keep in elements.
var builtinInMain = []string{"_react=", "_vue="}

// builtinEngines are names that are taken.
var builtinEngines = []string{
	"css", "css:light", "xpath", "xpath:light", "_react", "_vue", "text", "text:light", "id", "id:light", "role",
	"data-testid", "data-testid:light", "data-test-id", "data-test-id:light", "data-test", "data-test:light",
	"nth", "visible", "zs", "zs:light", "aria-ref", "aria-template",
}

var engineName = regexp.MustCompile(`^[a-zA-Z_0-9-]+$`)

func opRegisterEngine(_ context.Context, c *Client, e *engine) (any, error) {
	return emptyJSON, c.hooks.addEngine(e)
}

// with is the set and one more engine. A set is never changed.
func (e *engines) with(more *engine) (*engines, error) {
	set := engines{}
	if e != nil {
		set = engines{slices.Clone(e.list), slices.Clone(e.main)}
	}
	switch {
	case !engineName.MatchString(more.Name):
		return nil, errorf("Selector engine name may only contain [a-zA-Z0-9_] characters")
	case slices.Contains(builtinEngines, more.Name):
		return nil, errorf("%q is a predefined selector engine", more.Name)
	case slices.ContainsFunc(set.list, func(o engine) bool { return o.Name == more.Name }):
		return nil, errorf("%q selector engine has been already registered", more.Name)
	case len(set.list) == maxEngines:
		return nil, errorf("more than %d selector engines", maxEngines)
	}
	set.list = append(set.list, *more)
	if !more.ContentScript {
		set.main = append(set.main, more.Name+"=")
	}
	return &set, nil
}

func opCheckSelector(ctx context.Context, c *Client, t *target) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	frame, _, err := c.start(t)
	if err != nil {
		return nil, err
	}
	kind := browser.WorldUtility
	if c.hooks.customEngines().needMain(t.Selector) {
		kind = browser.WorldMain
	}
	pl, err := c.placeIn(p, frame, kind)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Wrong string `json:"wrong"`
	}
	if err := pl.layer.call(p, "wrongWith", &answer.Wrong, t.Selector); err != nil {
		return nil, err
	}
	return answer, nil
}

// needMain says whether a selector is resolved in the page's own world. It may
// say so of one that only looks like it.
func (e *engines) needMain(selector string) bool {
	names := func(name string) bool { return strings.Contains(selector, name) }
	return slices.ContainsFunc(builtinInMain, names) || e != nil && slices.ContainsFunc(e.main, names)
}

// forPage are the engines as Playwright's script takes them.
func (e *engines) forPage() []map[string]string {
	list := []map[string]string{}
	if e != nil {
		for _, known := range e.list {
			list = append(list, map[string]string{"name": known.Name, "source": known.Source})
		}
	}
	return list
}
