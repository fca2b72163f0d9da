package browser

import (
	"slices"
	"strings"

	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

// localSchemes are schemes of documents that show local files or Chromium's own
// pages. Chromium lets no page open them, but a client of the protocol could.
var localSchemes = []string{"file", "chrome", "devtools", "view-source", "filesystem"}

// leaveLocalLocked makes a page leave a local document in one of its frames,
// before any caller can read it. An error page for such a document shows nothing
// of its content and may stay.
func (p *Page) leaveLocalLocked(f *Frame) {
	scheme, _, _ := strings.Cut(f.url, ":")
	if !slices.Contains(localSchemes, scheme) {
		return
	}
	p.browser.logger.Warn("page left: it shows a document of this machine", "scheme", scheme, "main", f == p.main)
	_ = cdp.Send(p.attachment.session, page.Navigate, page.NavigateParams{URL: "about:blank"}) // a page that is gone shows nothing
}
