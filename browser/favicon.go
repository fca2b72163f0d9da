package browser

import (
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"
)

// maxFaviconURL is the longest icon URL that is kept, in bytes. Longer ones are
// pictures in data: URLs, which a tab strip has no use for.
const maxFaviconURL = 64 << 10

// faviconFunction finds the icon that a document names. Of several, browsers
// take the last.
const faviconFunction = `() => {
	const links = document.querySelectorAll('link[rel~="icon" i][href]');
	return links.length ? links[links.length - 1].href : '';
}`

// readFaviconLocked asks the main frame's document for its icon. The answer
// comes in a later turn.
func (p *Page) readFaviconLocked() {
	w := p.main.worlds[WorldUtility]
	if w == nil {
		return
	}
	params := runtime.CallFunctionOnParams{
		FunctionDeclaration: faviconFunction, UniqueContextID: w.uniqueID, ReturnByValue: new(true),
	}
	loader := p.main.loaderID
	p.browser.send(post(w.Session(), runtime.CallFunctionOn, params, func(res runtime.CallFunctionOnResult, err error) {
		if err != nil || res.ExceptionDetails != nil || res.Result == nil || p.main.loaderID != loader {
			return
		}
		var url string
		if jsonv2.Unmarshal(res.Result.Value, &url) != nil || len(url) > maxFaviconURL || url == p.favicon {
			return
		}
		p.favicon = url
		p.tellLocked(PageChanged{Page: p})
	}))
}
