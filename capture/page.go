package capture

import (
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performancetimeline"

	"takeover/cdp"
)

const (
	// maxDialogText bounds how much of a dialog's message is kept.
	maxDialogText = 10_000
	// maxDownloads bounds the running downloads per target.
	maxDownloads = 256
	// maxShiftSources bounds how many elements of a layout shift are kept.
	maxShiftSources = 20
)

func init() {
	handlers[page.FrameAttached.Method] = (*watched).frameAttached
	handlers[page.FrameDetached.Method] = (*watched).frameDetached
	handlers[page.FrameNavigated.Method] = (*watched).frameNavigated
	handlers[page.NavigatedWithinDocument.Method] = (*watched).navigatedWithin
	handlers[page.FrameStartedNavigating.Method] = (*watched).startedNavigating
	handlers[page.WindowOpen.Method] = (*watched).windowOpen
	handlers[page.DomContentEventFired.Method] = (*watched).domContentLoaded
	handlers[page.LoadEventFired.Method] = (*watched).loaded
	handlers[page.JavascriptDialogOpening.Method] = (*watched).dialogOpened
	handlers[page.JavascriptDialogClosed.Method] = (*watched).dialogClosed
	handlers[dom.DocumentUpdated.Method] = (*watched).documentUpdated
	handlers[inspector.TargetCrashed.Method] = func(w *watched, _ cdp.Event) { w.pageCrashed("", 0) }
	handlers[performancetimeline.TimelineEventAdded.Method] = (*watched).timelineEvent
	// These events are deprecated in the protocol. The replacement,
	// Browser.download…, needs Browser.setDownloadBehavior, which would change
	// the settings of other clients.
	handlers["Page.downloadWillBegin"] = (*watched).downloadBegins
	handlers["Page.downloadProgress"] = (*watched).downloadProgress
}

type navigationData struct {
	URL           string `json:"url"`
	FrameID       string `json:"frame_id"`
	ParentFrameID string `json:"parent_frame_id,omitempty"`
	SameDocument  bool   `json:"same_document,omitzero"`
	Error         bool   `json:"error,omitzero"` // the URL could not be loaded; an error page is shown
}

type crashedData struct {
	Reason    string `json:"reason,omitempty"`
	ErrorCode int64  `json:"error_code,omitzero"`
}

// EgressBlocked is the data of an event egress_blocked, which the session records.
type EgressBlocked struct {
	Host    string `json:"host"`
	Port    uint16 `json:"port"`
	Address string `json:"address,omitempty"` // the IP address, where it was known
	Reason  string `json:"reason"`            // an egress.Reason
}

type dialogOpenedData struct {
	Type         string `json:"type"` // alert confirm prompt beforeunload
	Message      string `json:"message"`
	DefaultValue string `json:"default_value,omitempty"`
	URL          string `json:"url"`
}

type dialogClosedData struct {
	Type     string `json:"type,omitempty"`
	Accepted bool   `json:"accepted"` // the text typed into a prompt is not recorded
}

type download struct {
	URL      string `json:"url"`
	Filename string `json:"filename"`
}

type downloadStartedData struct {
	ID string `json:"id"`
	download
}

type downloadFinishedData struct {
	ID string `json:"id"`
	download
	State string `json:"state"` // completed or canceled
	Bytes int64  `json:"bytes"`
}

type emptyData struct{}

// pageEvents reports whether the navigation group is captured.
func (w *watched) pageEvents() bool { return w.m.running && w.m.config.Navigation }

func (w *watched) frameAttached(ev cdp.Event) {
	var p struct {
		FrameID string `json:"frameId"`
		Parent  string `json:"parentFrameId"`
	}
	if decode(ev.Params, &p) == nil {
		w.l.setFrameLocked(p.FrameID, frame{parent: p.Parent})
	}
}

func (w *watched) frameDetached(ev cdp.Event) {
	var p struct {
		FrameID string `json:"frameId"`
		Reason  string `json:"reason"`
	}
	// A swapped frame lives on in another process.
	if decode(ev.Params, &p) == nil && p.Reason != "swap" {
		delete(w.l.frames, p.FrameID)
	}
}

func (w *watched) frameNavigated(ev cdp.Event) {
	var p struct {
		Frame struct {
			ID          string `json:"id"`
			Parent      string `json:"parentId"`
			Loader      string `json:"loaderId"`
			URL         string `json:"url"`
			Fragment    string `json:"urlFragment"`
			Unreachable string `json:"unreachableUrl"`
		} `json:"frame"`
		Type string `json:"type"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	f := p.Frame
	url := f.URL + f.Fragment
	if f.Unreachable != "" {
		url = f.Unreachable
	}
	if f.Parent == "" && w.kind == "iframe" {
		f.Parent = w.parent
	}
	url, short := cutURL(url)
	w.l.setFrameLocked(f.ID, frame{parent: f.Parent, url: url})
	w.takeRequest(f.Loader)
	if f.ID == w.target {
		w.url = url
		w.moved()
		w.announce(url)
	}
	if w.pageEvents() {
		e := w.event(f.ID)
		e.Truncated = short
		w.m.writeLocked(e, TypeNavigation, navigationData{URL: url, FrameID: f.ID, ParentFrameID: f.Parent, Error: f.Unreachable != ""})
	}
	if w.settle != nil && f.ID == w.target {
		w.loads(p.Type != "BackForwardCacheRestore")
		w.settle.navigated(f.Loader, p.Type == "BackForwardCacheRestore")
	}
}

func (w *watched) navigatedWithin(ev cdp.Event) {
	var p struct {
		FrameID string `json:"frameId"`
		URL     string `json:"url"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	url, short := cutURL(p.URL)
	f := w.l.frames[p.FrameID]
	f.url = url
	w.l.setFrameLocked(p.FrameID, f)
	if p.FrameID == w.target {
		w.url = url
		w.moved()
	}
	if w.pageEvents() {
		e := w.event(p.FrameID)
		e.Truncated = short
		w.m.writeLocked(e, TypeNavigation, navigationData{URL: url, FrameID: p.FrameID, ParentFrameID: f.parent, SameDocument: true})
	}
}

// startedNavigating records the URL of a target that was just created.
func (w *watched) startedNavigating(ev cdp.Event) {
	var p struct {
		FrameID string `json:"frameId"`
		URL     string `json:"url"`
	}
	if !w.announced && decode(ev.Params, &p) == nil && p.FrameID == w.target {
		w.announce(p.URL)
	}
}

// windowOpen records the URL of the next window before that window appears.
func (w *watched) windowOpen(ev cdp.Event) {
	var p struct {
		URL string `json:"url"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	if len(w.opened) == maxOpened {
		w.opened = w.opened[1:]
	}
	url, _ := cutURL(p.URL)
	w.opened = append(w.opened, url)
}

func (w *watched) domContentLoaded(cdp.Event) {
	if w.kind != "page" {
		return
	}
	if w.pageEvents() {
		w.m.writeLocked(w.event(""), TypeDOMContentLoaded, emptyData{})
	}
	w.settle.contentLoaded()
}

func (w *watched) loaded(cdp.Event) {
	if w.kind != "page" {
		return
	}
	w.loads(false)
	if w.pageEvents() {
		w.m.writeLocked(w.event(""), TypePageLoad, emptyData{})
		w.m.triggerLocked(w, TriggerPageLoad)
	}
	w.settle.pageLoaded()
}

func (w *watched) pageCrashed(reason string, code int64) {
	if w.pageEvents() && !w.crashed {
		w.m.writeLocked(w.event(""), TypePageCrashed, crashedData{reason, code})
	}
	w.crashed = true
	w.loads(false)
	w.abandonRequests()
	if w.settle != nil {
		w.settle.stop()
	}
}

func (w *watched) dialogOpened(ev cdp.Event) {
	var p struct {
		URL     string `json:"url"`
		FrameID string `json:"frameId"`
		Message string `json:"message"`
		Type    string `json:"type"`
		Default string `json:"defaultPrompt"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	w.dialog = p.Type
	if !w.pageEvents() {
		return
	}
	e := w.event(p.FrameID)
	data := dialogOpenedData{Type: p.Type}
	var short [3]bool
	data.Message, short[0] = cut(p.Message, maxDialogText)
	data.DefaultValue, short[1] = cut(p.Default, maxDialogText)
	data.URL, short[2] = cutURL(p.URL)
	e.Truncated = short[0] || short[1] || short[2]
	w.m.writeLocked(e, TypeDialogOpened, data)
}

func (w *watched) dialogClosed(ev cdp.Event) {
	var p struct {
		FrameID string `json:"frameId"`
		Result  bool   `json:"result"`
	}
	if decode(ev.Params, &p) == nil && w.pageEvents() {
		w.m.writeLocked(w.event(p.FrameID), TypeDialogClosed, dialogClosedData{w.dialog, p.Result})
	}
	w.dialog = ""
}

func (w *watched) documentUpdated(cdp.Event) {
	if w.m.config.DOM {
		w.m.writeLocked(w.event(""), TypeDOMUpdated, emptyData{})
	}
}

func (w *watched) downloadBegins(ev cdp.Event) {
	var p struct {
		FrameID  string `json:"frameId"`
		GUID     string `json:"guid"`
		URL      string `json:"url"`
		Filename string `json:"suggestedFilename"`
	}
	if !w.pageEvents() || decode(ev.Params, &p) != nil || !w.m.fits(len(w.downloads), maxDownloads) {
		return
	}
	d := download{}
	d.URL, _ = cutURL(p.URL)
	d.Filename, _ = cut(p.Filename, 1024)
	w.downloads[p.GUID] = d
	w.m.writeLocked(w.event(p.FrameID), TypeDownloadStarted, downloadStartedData{p.GUID, d})
}

func (w *watched) downloadProgress(ev cdp.Event) {
	var p struct {
		GUID     string  `json:"guid"`
		State    string  `json:"state"`
		Received float64 `json:"receivedBytes"`
	}
	if !w.pageEvents() || decode(ev.Params, &p) != nil || p.State == "inProgress" {
		return
	}
	d, known := w.downloads[p.GUID]
	if !known {
		return
	}
	delete(w.downloads, p.GUID)
	w.m.writeLocked(w.event(""), TypeDownloadFinished, downloadFinishedData{p.GUID, d, p.State, int64(p.Received)})
}

// page returns the page of a frame's target: the target itself if it is a page,
// and nil for a worker.
func (w *watched) page() *watched {
	if w.kind == "page" {
		return w
	}
	if w.kind != "iframe" {
		return nil
	}
	id := w.parent
	for range 64 { // bounds the nesting, and guards against cycles
		f := w.l.frames[id]
		if f.parent == "" {
			break
		}
		id = f.parent
	}
	for _, other := range w.l.targets {
		if other.kind == "page" && other.target == id {
			return other
		}
	}
	return nil
}
