package browser

import (
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

const (
	// maxFaviconURL bounds the URL of a favicon in bytes. Longer URLs are data:
	// URLs with the picture in them, which a tab strip does not need.
	maxFaviconURL = 64 << 10

	// maxTitle bounds a kept title in UTF-16 units.
	maxTitle = 4096
)

// headFunction waits until the document's title or icon differs from the given
// one, and returns both. If there are several icons, the last one counts, as in
// browsers. Chromium itself reports a title only when a page navigates
// (Target.targetInfoChanged). The first change is told at once, so that whoever has
// waited for the page to draw knows it; the pause bounds the cost of a page that changes
// its title all the time.
const headFunction = `(title, icon, maxTitle) => new Promise(resolve => {
	const pause = 50;
	let timer = 0, last = performance.now();
	const check = () => {
		timer = 0;
		last = performance.now();
		const links = document.querySelectorAll('link[rel~="icon" i][href]');
		const now = [document.title.slice(0, maxTitle), links.length ? links[links.length - 1].href : ''];
		if (now[0] === title && now[1] === icon) return false;
		observer.disconnect();
		resolve(now);
		return true;
	};
	const observer = new MutationObserver(() => {
		if (timer) return;
		const rest = last + pause - performance.now();
		if (rest > 0) timer = setTimeout(check, rest);
		else check();
	});
	const root = document.head ?? document.documentElement;
	if (!root || check()) return;
	observer.observe(root, { childList: true, subtree: true, characterData: true, attributes: true, attributeFilter: ['href', 'rel'] });
})`

// watchHeadLocked follows the title and the icon of the main frame's document,
// once per document. It ends with the document.
func (p *Page) watchHeadLocked() {
	w := p.main.worlds[WorldUtility]
	if w == nil || w == p.headWorld {
		return
	}
	p.headWorld = w
	p.headRound++
	p.askHeadLocked(w, p.headRound)
}

// forgetHeadLocked handles a new document. Its worlds may be those of the document
// before: a popup's first document takes over the window of the empty one.
func (p *Page) forgetHeadLocked() {
	p.title, p.favicon = "", ""
	p.headWorld = nil
	p.headRound++
}

// askHeadLocked asks for the next change. The reply arrives in a later turn,
// which asks again.
func (p *Page) askHeadLocked(w *World, round uint64) {
	params := w.functionCall(CallOptions{
		Function: headFunction, ByValue: true, AwaitPromise: true,
		Args: []*runtime.CallArgument{argument(p.title), argument(p.favicon), argument(maxTitle)},
	})
	answer := func(ev cdp.Event) {
		var res struct {
			Result struct {
				Value [2]string `json:"value"`
			} `json:"result"`
			Exception jsonv2.Value `json:"exceptionDetails"`
		}
		if ev.Err != nil || p.headRound != round {
			return
		}
		if jsonv2.Unmarshal(ev.Params, &res, jsonv2.AllowInvalidUTF8(true)) != nil || res.Exception != nil {
			return
		}
		now := res.Result.Value
		p.title = now[0]
		if p.favicon = now[1]; len(now[1]) > maxFaviconURL {
			p.favicon = ""
		}
		p.tellLocked(PageChanged{Page: p})
		if p.favicon == now[1] { // an icon that we do not keep would be reported again at once
			p.askHeadLocked(w, round)
		}
	}
	p.browser.send(w.Session().Post(runtime.CallFunctionOn.Method, params, replyToken(answer)))
}

// argument converts a string or a number to an argument of a call.
func argument(v any) *runtime.CallArgument {
	value, err := jsonv2.Marshal(v, jsonv2.AllowInvalidUTF8(true))
	if err != nil {
		return &runtime.CallArgument{}
	}
	return &runtime.CallArgument{Value: value}
}
