package session

import (
	"context"
	"strings"

	"takeover/browser"
	"takeover/invalid"
)

// Navigate executes a command of the URL bar: goto, back, forward, reload, stop.
// tab is the one that the person saw, or 0; if another one is shown, it does
// nothing. It does not wait for documents, because the viewer's next input would
// have to wait, too.
func (v *Viewer) Navigate(ctx context.Context, tab uint32, action, url string) error {
	if err := v.controls(); err != nil {
		return err
	}
	s := v.session
	f := s.shown()
	if f == nil {
		return ErrNotReady
	}
	if err := checkTarget(Stamp{Tab: tab}, f); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	used := followNavigation(s, f.page)
	var err error
	switch action {
	case "goto":
		if strings.TrimSpace(url) == "" { // which a new tab may have
			return invalid.Field("url", "is required")
		}
		address, bad := parseAddress(url, s.traffic.CheckURL)
		if bad != nil {
			return invalid.Field("url", "%s", bad.Error())
		}
		url = address
		_, err = f.page.MainFrame().Navigate(ctx, address, noWait)
	case "back":
		err = f.goBack(ctx, s.tabs.opened(f.tab))
	case "forward":
		_, err = f.page.GoForward(ctx, noWait)
	case "reload":
		_, err = f.page.Reload(ctx, noWait)
	case "stop":
		err = f.page.StopLoading(ctx)
	default:
		return invalid.Field("action", "must be goto, back, forward, reload or stop")
	}
	if err == nil {
		used(action, url)
	}
	return err
}

// goBack goes back in the page. In a tab that another one opened, and that has
// shown nothing before, the way back is to close it, as on phones.
func (f *focus) goBack(ctx context.Context, opened bool) error {
	if opened {
		start, err := f.page.AtStart(ctx)
		if err != nil {
			return err
		}
		if start {
			return f.page.RequestClose(ctx)
		}
	}
	_, err := f.page.GoBack(ctx, noWait)
	return err
}

// noWait makes navigations of people return at once, because the page shows the
// outcome.
var noWait = browser.NavigateOptions{NoWait: true}
