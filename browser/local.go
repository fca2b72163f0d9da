package browser

import (
	"slices"
	"strings"

	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

// localSchemes are those of documents that show this machine's files or
// Chromium's own pages. Chromium lets no page open one; whoever drives it could.
var localSchemes = []string{"file", "chrome", "devtools", "view-source", "filesystem"}

// leaveLocalLocked takes a page away from a document of this machine that one of
// its frames has come to show, before anybody works with it. The error page that
// stands for one that failed shows nothing of it.
func (p *Page) leaveLocalLocked(f *Frame) {
	scheme, _, _ := strings.Cut(f.url, ":")
	if !slices.Contains(localSchemes, scheme) {
		return
	}
	p.browser.logger.Warn("page left: it shows a document of this machine", "scheme", scheme, "main", f == p.main)
	_ = cdp.Send(p.attachment.session, page.Navigate, page.NavigateParams{URL: "about:blank"}) // a page that is gone shows nothing
}
