package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"takeover/browser"
)

// ariaTargetOperations are this file's operations on targets.
var ariaTargetOperations = table{
	"normalize":        op(false, opNormalize),        // → {selector, text}: a unique selector through all frames, and the same as locator code
	"ariaSnapshot":     op(false, opAriaSnapshot),     // {…,mode,depth,boxes,hide} → {value: YAML}
	"ariaSnapshotJSON": op(false, opAriaSnapshotJSON), // the same, as a tree
}

// ariaReference matches a selector that refers to an element inside a frame, such
// as aria-ref=f2e5: element 5 of frame 2. References in the main frame, such as
// aria-ref=e5, need no lookup of a frame.
var ariaReference = regexp.MustCompile(`^aria-ref=f(\d+)e\d+`)

// frameOf returns the frame in which a selector starts: the frame that an
// aria-ref names, and f for all other selectors.
func frameOf(f *browser.Frame, selector string) (*browser.Frame, error) {
	match := ariaReference.FindStringSubmatch(selector)
	if match == nil {
		return f, nil
	}
	seq, err := strconv.Atoi(match[1])
	for _, other := range f.Page().Frames() {
		if err == nil && other.Seq() == seq {
			return other, nil
		}
	}
	return nil, errorf("Invalid frame in aria-ref selector %q", selector)
}

type ariaParams struct {
	target
	Mode  string `json:"mode"`
	Depth int    `json:"depth"`
	Boxes bool   `json:"boxes"`
	Hide  bool   `json:"hide"` // leave out what secret fields hold; only with mode ai
}

func (p *ariaParams) question() callParams {
	return callParams{Mode: p.Mode, Depth: max(p.Depth, 0), Boxes: p.Boxes, Hide: p.Hide}
}

// opAriaSnapshot returns the text of a snapshot.
func opAriaSnapshot(ctx context.Context, c *Client, p *ariaParams) (any, error) {
	if p.Mode != "ai" { // without frames
		return c.valueOf(ctx, &p.target, "ariaSnapshot", p.question())
	}
	pr, cancel := c.begin(ctx, p.Timeout, true)
	defer cancel()
	pl, tree, err := c.ariaTree(pr, p)
	if err != nil {
		return nil, pr.fail(err)
	}
	var text string
	if err := pl.ask(pr, "ariaText", &callParams{search: pl.search, Tree: tree}, &text); err != nil {
		return nil, pr.fail(err)
	}
	return map[string]string{"value": text}, nil
}

// opAriaSnapshotJSON returns a snapshot as a tree.
func opAriaSnapshotJSON(ctx context.Context, c *Client, p *ariaParams) (any, error) {
	pr, cancel := c.begin(ctx, p.Timeout, true)
	defer cancel()
	_, tree, err := c.ariaTree(pr, p)
	if err != nil {
		return nil, pr.fail(err)
	}
	return map[string]any{"value": tree}, nil
}

// ariaAnswer is the page's tree, with the frames that it shows and their depths.
type ariaAnswer struct {
	JSON         json.RawMessage `json:"json"` // raw, because the order of its keys matters
	IframeRefs   []string        `json:"iframeRefs"`
	IframeDepths map[string]int  `json:"iframeDepths"`
}

// ariaTree takes a snapshot that includes frames.
func (c *Client) ariaTree(p *progress, o *ariaParams) (*searchRoot, json.RawMessage, error) {
	pl, value, err := c.retry(p, &o.target, "ariaTree", o.question())
	if err != nil {
		return nil, nil, err
	}
	var a ariaAnswer
	if err := json.Unmarshal(value, &a); err != nil {
		return nil, nil, fmt.Errorf("read snapshot: %w", err)
	}
	tree, err := c.withFrames(p, pl, &a, *o)
	return pl, tree, err
}

// withFrames inserts frame snapshots below the frames' elements. A frame without
// a snapshot stays empty.
func (c *Client) withFrames(p *progress, pl *searchRoot, a *ariaAnswer, o ariaParams) (json.RawMessage, error) {
	frames := map[string]json.RawMessage{}
	for _, ref := range a.IframeRefs {
		depth, shown := a.IframeDepths[ref]
		if !shown {
			continue
		}
		inner := o
		if o.Depth > 0 {
			if inner.Depth = o.Depth - depth - 1; inner.Depth <= 0 {
				continue
			}
		}
		if tree := c.ariaFrame(p, pl.frame, ref, inner); tree != nil {
			frames[ref] = tree
		}
	}
	if len(frames) == 0 {
		return a.JSON, nil
	}
	var tree json.RawMessage
	err := pl.ask(p, "ariaJoin", &callParams{search: pl.search, Tree: a.JSON, Frames: frames}, &tree)
	return tree, err
}

// ariaFrame takes the snapshot of the frame behind a reference, if it can.
func (c *Client) ariaFrame(p *progress, f *browser.Frame, ref string, o ariaParams) json.RawMessage {
	o.target = target{Frame: c.idOf("frame", f), Selector: "aria-ref=" + ref + " >> " + enterFrame + " >> body,frameset"}
	pl, err := c.resolve(p, &o.target, browser.WorldUtility)
	if err != nil || pl == nil {
		return nil
	}
	params := o.question()
	params.search, params.Timeout = pl.search, frameSlice
	var answer ariaAnswer
	if err := pl.ask(p, "ariaTree", &params, &answer); err != nil {
		return nil
	}
	tree, err := c.withFrames(p, pl, &answer, o)
	if err != nil {
		return nil
	}
	return tree
}

// locatorText is a selector together with its locator code.
type locatorText struct {
	Selector string `json:"selector"`
	Text     string `json:"text"`
}

// opNormalize returns the selector that codegen would write for an element,
// including the frames that lead to it.
func opNormalize(ctx context.Context, c *Client, t *target) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	pl, err := c.resolve(p, t, browser.WorldUtility)
	if err != nil {
		return nil, p.fail(err)
	}
	none := errorf("No element matching %s", t.Selector)
	if pl == nil {
		return nil, none
	}
	o, err := pl.layer.reference(p, "query", pl.search, pl.scope)
	if err != nil {
		return nil, p.fail(err)
	}
	if o.ObjectID == "" {
		return nil, none
	}
	defer release(pl.layer.world, o.ObjectID)
	var selector string
	at := &searchRoot{frame: pl.frame, layer: pl.layer, scope: o.ObjectID, search: search{Selector: ":scope"}}
	for f := pl.frame; ; {
		var part string
		if err := at.ask(p, "get", &callParams{search: at.search, Property: "selector"}, &part); err != nil {
			return nil, p.fail(err)
		}
		if selector = part + selector; f.Parent() == nil {
			break
		}
		selector = " >> " + enterFrame + " >> " + selector
		if f, at, err = c.aroundFrame(p, f); err != nil {
			return nil, p.fail(err)
		}
		defer release(at.layer.world, at.scope)
	}
	var text string
	if err := pl.ask(p, "spell", &callParams{search: search{Selector: selector}}, &text); err != nil {
		return nil, p.fail(err)
	}
	return locatorText{selector, text}, nil
}

// aroundFrame returns a frame's parent, and the frame's element there.
func (c *Client) aroundFrame(ctx context.Context, f *browser.Frame) (*browser.Frame, *searchRoot, error) {
	parent := f.Parent()
	pl, err := c.placeIn(ctx, parent, browser.WorldUtility)
	if err != nil {
		return nil, nil, err
	}
	if pl.scope, err = ownerOf(ctx, pl.layer.world, f); err != nil {
		return nil, nil, err
	}
	pl.search = search{Selector: ":scope"}
	return parent, pl, nil
}
