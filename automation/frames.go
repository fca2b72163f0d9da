package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"takeover/browser"
)

// frameOperations are the operations of this file.
var frameOperations = table{
	"page.waitForSettled": op(false, opWaitForSettled), // {page,timeout}
	"frame.goto":          op(true, opGoto),
	"frame.title":         op(false, opTitle),
	"frame.content":       op(false, opContent),
	"frame.setContent":    op(true, opSetContent),
	// {frame, state: "load"|"domcontentloaded"|"networkidle"|"commit", timeout};
	// a client can also learn the state from events.
	"frame.waitForLoadState": op(false, opWaitForLoadState),
	"frame.frameElement":     op(false, opFrameElement), // {frame} → handle
	"frame.addScriptTag":     op(true, opAddScriptTag),  // {frame,url,content,type,id} → handle
	"frame.addStyleTag":      op(true, opAddStyleTag),   // {frame,url,content} → handle
	// {frame, event, timeout}: waits for a DOM event that reaches the document or the window.
	"frame.waitForDOMEvent": op(false, opWaitForDOMEvent),
	// {frame, timeout}: waits until the page has drawn twice. A hidden page does not draw.
	"frame.waitForDrawing": op(false, opWaitForDrawing),
	"frame.scroll":         op(true, opScroll), // {frame, direction: "up"|"down"|"left"|"right", amount: 0 for most of the window, timeout}
}

type gotoParams struct {
	Frame     string  `json:"frame"`
	URL       string  `json:"url"`
	Referer   string  `json:"referer"`
	WaitUntil string  `json:"waitUntil"`
	Timeout   float64 `json:"timeout"`
}

func opGoto(ctx context.Context, c *Client, g *gotoParams) (any, error) {
	f, err := c.frame(g.Frame)
	if err != nil {
		return nil, err
	}
	until, err := lifecycleOf("waitUntil", g.WaitUntil)
	if err != nil {
		return nil, err
	}
	if g.URL, err = c.automation.address(g.URL); err != nil {
		return nil, err
	}
	p, cancel := c.begin(ctx, g.Timeout, false)
	defer cancel()
	p.log = append(p.log, fmt.Sprintf("navigating to %q, waiting until %q", g.URL, stateNames(until)[0]))
	acts(p)
	n, err := f.Navigate(p, g.URL, browser.NavigateOptions{Referrer: g.Referer, WaitUntil: until})
	if err != nil {
		return nil, p.fail(err)
	}
	return c.brought(n), nil
}

type frameParams struct {
	Frame   string  `json:"frame"`
	State   string  `json:"state"`
	Timeout float64 `json:"timeout"`

	IncludeShadow bool `json:"includeShadow"` // for frame.content: write open shadow roots as declarative ones
}

// opTitle reads the document's title. If a navigation replaces the document
// during the call, it reads the title of the new one.
func opTitle(ctx context.Context, c *Client, p *frameParams) (any, error) {
	value, err := c.read(ctx, p, "title")
	return valueResult{value}, err
}

func opContent(ctx context.Context, c *Client, p *frameParams) (any, error) {
	value, err := c.read(ctx, p, "content", p.IncludeShadow)
	return valueResult{value}, err
}

// read calls a method of a frame's page side. If a navigation replaces the document
// meanwhile, it calls that of the new one.
func (c *Client) read(ctx context.Context, f *frameParams, method string, args ...any) (json.RawMessage, error) {
	frame, err := c.frame(f.Frame)
	if err != nil {
		return nil, err
	}
	p, cancel := c.begin(ctx, f.Timeout, true)
	defer cancel()
	for n := 0; ; n++ {
		if n > 0 {
			if err := p.sleep(n); err != nil {
				return nil, p.fail(err)
			}
		}
		var value json.RawMessage
		pl, err := c.placeIn(p, frame, browser.WorldUtility)
		if err == nil {
			err = pl.layer.call(p, method, &value, args...)
		}
		if err == nil {
			return value, nil
		}
		if !retriable(err) {
			return nil, p.fail(err)
		}
	}
}

type domEventParams struct {
	frameParams
	Event string `json:"event"`
}

func opWaitForDOMEvent(ctx context.Context, c *Client, p *domEventParams) (any, error) {
	_, err := c.read(ctx, &p.frameParams, "domEvent", p.Event)
	return emptyJSON, err
}

// opWaitForDrawing waits until the document has shown the effect of input that was sent
// before: Chromium scrolls, and tells the document of it, when it draws next.
func opWaitForDrawing(ctx context.Context, c *Client, p *frameParams) (any, error) {
	_, err := c.read(ctx, p, "drawing")
	return emptyJSON, err
}

type scrollParams struct {
	frameParams
	Direction string  `json:"direction"`
	Amount    float64 `json:"amount"`
}

func opScroll(ctx context.Context, c *Client, p *scrollParams) (any, error) {
	if !slices.Contains([]string{"up", "down", "left", "right"}, p.Direction) {
		return nil, errorf("direction: must be up, down, left or right")
	}
	frame, err := c.frame(p.Frame)
	if err != nil {
		return nil, err
	}
	waiting, cancel := c.begin(ctx, p.Timeout, true)
	defer cancel()
	pl, err := c.placeIn(waiting, frame, browser.WorldUtility)
	if err != nil {
		return nil, waiting.fail(err)
	}
	acts(waiting)
	if err := pl.layer.call(waiting, "scrollPage", nil, p.Direction, p.Amount); err != nil && !retriable(err) { // what was scrolled has left otherwise
		return nil, waiting.fail(err)
	}
	return emptyJSON, nil
}

type contentParams struct {
	Frame     string  `json:"frame"`
	HTML      string  `json:"html"`
	WaitUntil string  `json:"waitUntil"`
	Timeout   float64 `json:"timeout"`
}

// opSetContent writes a document into the frame. Before the call returns,
// Chromium reports that the document starts again, and then its stages.
// readyState can be complete while pictures are still loading.
func opSetContent(ctx context.Context, c *Client, s *contentParams) (any, error) {
	frame, err := c.frame(s.Frame)
	if err != nil {
		return nil, err
	}
	until, err := lifecycleOf("waitUntil", s.WaitUntil)
	if err != nil {
		return nil, err
	}
	p, cancel := c.begin(ctx, s.Timeout, false)
	defer cancel()
	name := stateNames(until)[0]
	p.log = append(p.log, fmt.Sprintf("setting frame content, waiting until %q", name))
	pl, err := c.placeIn(p, frame, browser.WorldUtility)
	if err == nil {
		err = pl.layer.call(p, "setContent", nil, s.HTML)
	}
	if err == nil {
		err = frame.WaitForLifecycle(p, until)
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

func opWaitForLoadState(ctx context.Context, c *Client, f *frameParams) (any, error) {
	frame, err := c.frame(f.Frame)
	if err != nil {
		return nil, err
	}
	state, err := lifecycleOf("state", f.State)
	if err != nil {
		return nil, err
	}
	p, cancel := c.begin(ctx, f.Timeout, false)
	defer cancel()
	if err := frame.WaitForLifecycle(p, state); err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

// opWaitForSettled waits until a page has come to rest.
func opWaitForSettled(ctx context.Context, c *Client, o *restParams) (any, error) {
	page, err := c.page(o.Page)
	if err != nil {
		return nil, err
	}
	p, cancel := c.begin(ctx, o.Timeout, false)
	defer cancel()
	p.log = append(p.log, "waiting for the page to come to rest")
	if err := c.options.AwaitRest(p, page); err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

type restParams struct {
	Page    string  `json:"page"`
	Timeout float64 `json:"timeout"`
}

// opFrameElement returns the element of a frame.
func opFrameElement(ctx context.Context, c *Client, f *frameParams) (any, error) {
	frame, err := c.frame(f.Frame)
	if err != nil {
		return nil, err
	}
	parent := frame.Parent()
	if parent == nil {
		return nil, errorf("Frame has been detached.")
	}
	w, err := parent.World(ctx, browser.WorldMain)
	if err != nil {
		return nil, err
	}
	id, err := ownerOf(ctx, w, frame)
	if err != nil {
		return nil, err
	}
	return kept(c.keepCopy(ctx, w, id))
}

type tagParams struct {
	Frame   string `json:"frame"`
	URL     string `json:"url"`
	Content string `json:"content"`
	Type    string `json:"type"` // of a script
	ID      string `json:"id"`   // likewise
}

const addScript = `async ({url, content, type, id}) => {
  const script = document.createElement('script');
  if (id) script.id = id;
  script.type = type || 'text/javascript';
  if (url) {
    const loaded = new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = e => reject(typeof e === 'string' ? new Error(e) : new Error('Failed to load script at ' + script.src));
    });
    script.src = url;
    if (!type) script.removeAttribute('type');
    document.head.appendChild(script);
    await loaded;
    return script;
  }
  script.text = content;
  let error = null;
  script.onerror = e => { error = e; };
  document.head.appendChild(script);
  if (error) throw error;
  return script;
}`

const addStyle = `async ({url, content}) => {
  const element = document.createElement(url ? 'link' : 'style');
  if (url) element.rel = 'stylesheet';
  else element.append(content);
  const loaded = new Promise((resolve, reject) => { element.onload = resolve; element.onerror = reject; });
  if (url) element.href = url;
  document.head.appendChild(element);
  await loaded;
  return element;
}`

func opAddScriptTag(ctx context.Context, c *Client, t *tagParams) (any, error) {
	return c.addTag(ctx, t, addScript)
}

func opAddStyleTag(ctx context.Context, c *Client, t *tagParams) (any, error) {
	return c.addTag(ctx, t, addStyle)
}

func (c *Client) addTag(ctx context.Context, t *tagParams, code string) (any, error) {
	if t.URL == "" && t.Content == "" {
		return nil, errorf("Provide an object with a `url`, `path` or `content` property")
	}
	pairs := []map[string]any{}
	for k, v := range map[string]string{"url": t.URL, "content": t.Content, "type": t.Type, "id": t.ID} {
		pairs = append(pairs, map[string]any{"k": k, "v": map[string]string{"s": v}})
	}
	arg, err := json.Marshal(map[string]any{"o": pairs, "id": 1})
	if err != nil {
		return nil, err
	}
	return opEvaluateHandle(ctx, c, &frameExpression{Frame: t.Frame, expression: expression{Expression: code, IsFunction: true, Arg: &argument{Value: arg}}})
}
