package automation

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"takeover/browser"
)

// selectorOperations are operations that concern selectors in general.
var selectorOperations = table{
	// {name,source,contentScript}: the source is an expression that gives
	// {query,queryAll}; with contentScript, the page cannot reach it.
	"selectors.register": op(false, opRegisterEngine),
	// {frame,selector} → {wrong}: what is wrong with the selector, or empty. Does
	// not wait for any element.
	"selectors.check": op(false, opCheckSelector),
}

// maxEngines bounds the selector engines of a client.
const maxEngines = 100

// engine is a selector engine that a client has registered.
type engine struct {
	Name          string `json:"name"`
	Source        string `json:"source"`
	ContentScript bool   `json:"contentScript"`
}

// engines is a client's set of selector engines. A set never changes: registering
// an engine makes a new set. So a set can be the key of the page side that was
// made with it.
type engines struct {
	list []engine
	main []string // prefixes of selectors that need the page's own world
}

// builtinInMain are Playwright's engines that read values which the page's own
// scripts store in elements.
var builtinInMain = []string{"_react=", "_vue="}

// builtinEngines are names that Playwright already uses.
var builtinEngines = []string{
	"css", "css:light", "xpath", "xpath:light", "_react", "_vue", "text", "text:light", "id", "id:light", "role",
	"data-testid", "data-testid:light", "data-test-id", "data-test-id:light", "data-test", "data-test:light",
	"nth", "visible", "zs", "zs:light", "aria-ref", "aria-template",
}

var engineName = regexp.MustCompile(`^[a-zA-Z_0-9-]+$`)

func opRegisterEngine(_ context.Context, c *Client, e *engine) (any, error) {
	return emptyJSON, c.hooks.addEngine(e)
}

// with returns a new set with one more engine.
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
	if err := pl.layer.call(p, "selectorError", &answer.Wrong, t.Selector); err != nil {
		return nil, err
	}
	return answer, nil
}

// needMain reports whether a selector must be resolved in the page's own world.
// It may also return true for a selector that only looks as if it needs that.
func (e *engines) needMain(selector string) bool {
	names := func(name string) bool { return strings.Contains(selector, name) }
	return slices.ContainsFunc(builtinInMain, names) || e != nil && slices.ContainsFunc(e.main, names)
}

// forPage returns the engines in the form that Playwright's script expects.
func (e *engines) forPage() []map[string]string {
	list := []map[string]string{}
	if e != nil {
		for _, known := range e.list {
			list = append(list, map[string]string{"name": known.Name, "source": known.Source})
		}
	}
	return list
}
