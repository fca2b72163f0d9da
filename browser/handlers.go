package browser

import (
	protobrowser "github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/cdproto/webauthn"

	"takeover/cdp"
)

// handler handles one kind of event. It gets the attachment of the event's
// session, or nil for the browser's own session.
type handler struct {
	method string
	wanted func(*Browser) bool // whether to handle the event now; nil for always
	handle func(b *Browser, a *attachment, ev cdp.Event) error
}

// handlers maps events to their handlers. Other events are not decoded.
var handlers = table(
	onBrowser(target.AttachedToTarget, (*Browser).attachedLocked),
	onBrowser(target.DetachedFromTarget, func(b *Browser, _ *attachment, e target.EventDetachedFromTarget) {
		b.detachedLocked(cdp.SessionID(e.SessionID))
	}),

	onBrowser(target.TargetCreated, func(b *Browser, _ *attachment, e target.EventTargetCreated) { b.targetCreatedLocked(e) }),
	onBrowser(target.TargetDestroyed, func(b *Browser, _ *attachment, e target.EventTargetDestroyed) { b.targetDestroyedLocked(e) }),

	onBrowser(protobrowser.DownloadWillBegin, func(b *Browser, _ *attachment, e protobrowser.EventDownloadWillBegin) { b.downloadBeganLocked(e) }),
	onBrowser(protobrowser.DownloadProgress, func(b *Browser, _ *attachment, e protobrowser.EventDownloadProgress) { b.downloadProgressLocked(e) }),

	on(inspector.WorkerScriptLoaded, (*attachment).scriptLoadedLocked),
	on(inspector.TargetCrashed, (*attachment).crashedLocked),
	on(inspector.TargetReloadedAfterCrash, (*attachment).revivedLocked),

	on(page.FrameAttached, (*attachment).frameAttachedLocked),
	on(page.FrameDetached, (*attachment).frameDetachedLocked),
	on(page.FrameNavigated, (*attachment).frameNavigatedLocked),
	on(page.NavigatedWithinDocument, (*attachment).navigatedWithinDocumentLocked),
	on(page.DocumentOpened, (*attachment).documentOpenedLocked),
	on(page.LifecycleEvent, (*attachment).lifecycleEventLocked),

	on(page.FrameRequestedNavigation, (*attachment).requestedNavigationLocked),
	on(page.FrameStartedNavigating, (*attachment).startedNavigatingLocked),
	on(page.FrameStartedLoading, (*attachment).startedLoadingLocked),
	on(page.FrameStoppedLoading, (*attachment).stoppedLoadingLocked),

	on(webauthn.CredentialAdded, (*attachment).passkeyAddedLocked),
	on(webauthn.CredentialAsserted, (*attachment).passkeyAssertedLocked),
	on(webauthn.CredentialUpdated, (*attachment).passkeyUpdatedLocked),
	on(webauthn.CredentialDeleted, (*attachment).passkeyDeletedLocked),

	on(input.DragIntercepted, (*attachment).dragInterceptedLocked),

	on(page.JavascriptDialogOpening, (*attachment).dialogOpeningLocked),
	on(page.JavascriptDialogClosed, (*attachment).dialogClosedLocked),
	on(page.FileChooserOpened, (*attachment).fileChooserOpenedLocked),

	on(runtime.ExecutionContextCreated, (*attachment).worldCreatedLocked),
	on(runtime.ExecutionContextDestroyed, (*attachment).worldDestroyedLocked),
	on(runtime.ExecutionContextsCleared, (*attachment).worldsClearedLocked),

	on(runtime.BindingCalled, (*attachment).bindingCalledLocked),
	heard(on(runtime.ConsoleAPICalled, (*attachment).consoleCalledLocked)),
	heard(on(runtime.ExceptionThrown, (*attachment).exceptionThrownLocked)),
	heard(on(log.EntryAdded, (*attachment).logEntryLocked)),

	// These events use types of our own, because they are frequent and large, and
	// we need few of their fields.
	on(proto.Event[requestSent]{Method: network.RequestWillBeSent.Method}, (*attachment).requestSentLocked),
	on(proto.Event[responseReceived]{Method: network.ResponseReceived.Method}, (*attachment).responseReceivedLocked),
	on(proto.Event[headReceived]{Method: network.RequestWillBeSentExtraInfo.Method}, (*attachment).headSentLocked),
	on(proto.Event[headReceived]{Method: network.ResponseReceivedExtraInfo.Method}, (*attachment).headReceivedLocked),
	on(proto.Event[requestPaused]{Method: fetch.RequestPaused.Method}, (*attachment).requestPausedLocked),
	on(proto.Event[authRequired]{Method: fetch.AuthRequired.Method}, (*attachment).authRequiredLocked),
	on(proto.Event[socketEvent]{Method: network.WebSocketCreated.Method}, (*attachment).socketCreatedLocked),
	on(proto.Event[socketEvent]{Method: network.WebSocketWillSendHandshakeRequest.Method}, (*attachment).socketAskedLocked),
	on(proto.Event[socketEvent]{Method: network.WebSocketHandshakeResponseReceived.Method}, (*attachment).socketAnsweredLocked),
	on(proto.Event[socketEvent]{Method: network.WebSocketFrameSent.Method}, (*attachment).socketSentLocked),
	on(proto.Event[socketEvent]{Method: network.WebSocketFrameReceived.Method}, (*attachment).socketReceivedLocked),
	on(proto.Event[socketEvent]{Method: network.WebSocketFrameError.Method}, (*attachment).socketFailedLocked),
	on(proto.Event[socketEvent]{Method: network.WebSocketClosed.Method}, (*attachment).socketClosedLocked),
	on(proto.Event[requestEnded]{Method: network.LoadingFinished.Method}, (*attachment).requestFinishedLocked),
	on(proto.Event[requestEnded]{Method: network.LoadingFailed.Method}, (*attachment).requestFailedLocked),
)

func table(list ...handler) map[string]handler {
	m := make(map[string]handler, len(list))
	for _, h := range list {
		m[h.method] = h
	}
	return m
}

// onBrowser makes a handler for an event that also comes on the browser's
// session.
func onBrowser[E any](e proto.Event[E], fn func(*Browser, *attachment, E)) handler {
	return handler{method: e.Method, handle: func(b *Browser, a *attachment, ev cdp.Event) error {
		v, err := cdp.Decode(ev, e)
		if err == nil {
			fn(b, a, v)
		}
		return err
	}}
}

// heard limits a handler of events that pages may send without end: it runs only
// while somebody listens.
func heard(h handler) handler {
	h.wanted = (*Browser).hears
	return h
}

// on makes a handler for an event of pages and their frames.
func on[E any](e proto.Event[E], fn func(*attachment, E)) handler {
	return handler{method: e.Method, handle: func(_ *Browser, a *attachment, ev cdp.Event) error {
		if a == nil {
			return nil
		}
		v, err := cdp.Decode(ev, e)
		if err == nil {
			fn(a, v)
		}
		return err
	}}
}

// handleLocked handles an event.
func (b *Browser) handleLocked(ev cdp.Event) {
	h, ok := handlers[ev.Method]
	if !ok || h.wanted != nil && !h.wanted(b) {
		ev.Release()
		return
	}
	a := b.attachments[ev.Session]
	if a == nil && ev.Session != b.client.Browser().ID() {
		return // the event belongs to a session that is gone
	}
	if err := h.handle(b, a, ev); err != nil {
		b.logger.Error("event not understood", "error", err)
	}
	ev.Release()
}
