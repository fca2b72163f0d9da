package capture

import (
	"reflect"
	"strings"
)

// The categories of events.
const (
	CategoryConsole     = "console"
	CategoryNetwork     = "network"
	CategoryPage        = "page"
	CategoryTarget      = "target"
	CategoryInteraction = "interaction"
	CategoryComputed    = "computed"
	CategoryScreenshot  = "screenshot"
	CategoryControl     = "control"
	CategoryMonitor     = "monitor"
	CategoryCustom      = "custom"
)

// The types of events.
const (
	TypeConsoleLog   = "console_log"
	TypeConsoleError = "console_error"

	TypeNetworkRequest       = "network_request"
	TypeNetworkResponse      = "network_response"
	TypeNetworkLoadingFailed = "network_loading_failed"
	TypeWebSocketOpen        = "websocket_open"
	TypeWebSocketFrame       = "websocket_frame"
	TypeWebSocketClose       = "websocket_close"
	TypeEgressBlocked        = "egress_blocked" // recorded whenever a capture runs

	TypeNavigation       = "navigation"
	TypeDOMContentLoaded = "dom_content_loaded"
	TypePageLoad         = "page_load"
	TypeDOMUpdated       = "dom_updated"
	TypeLayoutShift      = "layout_shift"
	TypePageLCP          = "page_lcp"
	TypePageCrashed      = "page_crashed"
	TypeDialogOpened     = "dialog_opened"
	TypeDialogClosed     = "dialog_closed"
	TypeDownloadStarted  = "download_started"
	TypeDownloadFinished = "download_finished"

	TypeTargetCreated   = "target_created"
	TypeTargetDestroyed = "target_destroyed"

	TypeInteractionClick  = "interaction_click"
	TypeInteractionKey    = "interaction_key"
	TypeInteractionScroll = "interaction_scroll"

	TypeNetworkIdle       = "network_idle"
	TypeLayoutSettled     = "layout_settled"
	TypeScrollSettled     = "scroll_settled"
	TypeNavigationSettled = "navigation_settled"

	TypeScreenshot = "screenshot"

	TypeControlChanged    = "control_changed"
	TypeTakeoverRequested = "takeover_requested"
	TypeTakeoverClaimed   = "takeover_claimed"
	TypeTakeoverDone      = "takeover_done"
	TypeTakeoverFailed    = "takeover_failed"
	TypeTakeoverExpired   = "takeover_expired"
	TypeTakeoverCancelled = "takeover_cancelled"
	TypeRunStarted        = "run_started"
	TypeRunEnded          = "run_ended"
	TypeViewerJoined      = "viewer_joined"
	TypeViewerLeft        = "viewer_left"
	TypeLinkUsed          = "link_used"
	TypeLinkRevoked       = "link_revoked"
	TypeProfileFilling    = "profile_filling"
	TypeProfileFull       = "profile_full"
	TypeProfileNotSaved   = "profile_not_saved"
	TypeMemoryFull        = "memory_full"
	TypeLimitReached      = "limit_reached"
	TypeHibernated        = "hibernated"
	TypeActionStarted     = "action_started" // only if Config.Actions asks for it
	TypeActionEnded       = "action_ended"   // likewise

	TypeMonitorDisconnected    = "monitor_disconnected"
	TypeMonitorReconnected     = "monitor_reconnected"
	TypeMonitorReconnectFailed = "monitor_reconnect_failed"
	TypeEventsDropped          = "events_dropped"
)

// customPrefix is the prefix of the types of events that callers add.
const customPrefix = "custom_"

// maxTypeBytes bounds a custom event's type.
const maxTypeBytes = 64

var categories = func() map[string]string {
	of := map[string]string{}
	for category, types := range map[string][]string{
		CategoryConsole: {TypeConsoleLog, TypeConsoleError},
		CategoryNetwork: {TypeNetworkRequest, TypeNetworkResponse, TypeNetworkLoadingFailed,
			TypeWebSocketOpen, TypeWebSocketFrame, TypeWebSocketClose, TypeEgressBlocked},
		CategoryPage: {TypeNavigation, TypeDOMContentLoaded, TypePageLoad, TypeDOMUpdated, TypeLayoutShift, TypePageLCP,
			TypePageCrashed, TypeDialogOpened, TypeDialogClosed, TypeDownloadStarted, TypeDownloadFinished},
		CategoryTarget:      {TypeTargetCreated, TypeTargetDestroyed},
		CategoryInteraction: {TypeInteractionClick, TypeInteractionKey, TypeInteractionScroll},
		CategoryComputed:    {TypeNetworkIdle, TypeLayoutSettled, TypeScrollSettled, TypeNavigationSettled},
		CategoryScreenshot:  {TypeScreenshot},
		CategoryControl: {TypeControlChanged, TypeTakeoverRequested, TypeTakeoverClaimed, TypeTakeoverDone, TypeTakeoverFailed,
			TypeTakeoverExpired, TypeTakeoverCancelled, TypeRunStarted, TypeRunEnded, TypeViewerJoined, TypeViewerLeft,
			TypeLinkUsed, TypeLinkRevoked, TypeProfileFilling, TypeProfileFull, TypeProfileNotSaved, TypeMemoryFull, TypeLimitReached, TypeHibernated, TypeActionStarted, TypeActionEnded},
		CategoryMonitor: {TypeMonitorDisconnected, TypeMonitorReconnected, TypeMonitorReconnectFailed, TypeEventsDropped},
	} {
		for _, t := range types {
			of[t] = category
		}
	}
	return of
}()

// shapes maps each type to the struct of its data, except types whose data other
// packages make.
var shapes = map[string]any{
	TypeConsoleLog: consoleLogData{}, TypeConsoleError: consoleErrorData{},
	TypeNetworkRequest: networkRequestData{}, TypeNetworkResponse: networkResponseData{}, TypeNetworkLoadingFailed: networkFailedData{},
	TypeWebSocketOpen: socketOpenData{}, TypeWebSocketFrame: socketFrameData{}, TypeWebSocketClose: socketCloseData{}, TypeEgressBlocked: EgressBlocked{},
	TypeNavigation: navigationData{}, TypeDOMContentLoaded: emptyData{}, TypePageLoad: emptyData{}, TypeDOMUpdated: emptyData{},
	TypeLayoutShift: layoutShiftData{}, TypePageLCP: lcpData{}, TypePageCrashed: crashedData{},
	TypeDialogOpened: dialogOpenedData{}, TypeDialogClosed: dialogClosedData{},
	TypeDownloadStarted: downloadStartedData{}, TypeDownloadFinished: downloadFinishedData{},
	TypeTargetCreated: targetCreatedData{}, TypeTargetDestroyed: targetDestroyedData{},
	TypeInteractionClick: clickData{}, TypeInteractionKey: keyData{}, TypeInteractionScroll: scrollData{},
	TypeNetworkIdle: settledData{}, TypeLayoutSettled: settledData{}, TypeScrollSettled: emptyData{}, TypeNavigationSettled: settledData{},
	TypeScreenshot:          screenshotData{},
	TypeMonitorDisconnected: disconnectedData{}, TypeMonitorReconnected: reconnectedData{}, TypeMonitorReconnectFailed: failedData{},
	TypeEventsDropped: droppedData{},
}

// required lists the members that the data of each type must have.
var required = func() map[string][]string {
	of := map[string][]string{}
	for eventType, shape := range shapes {
		for _, m := range fieldsOf(reflect.TypeOf(shape)) {
			if !m.optional {
				of[eventType] = append(of[eventType], m.name)
			}
		}
	}
	return of
}()

// dataField is a member of an event's data, with its JSON name.
type dataField struct {
	name     string
	optional bool
}

// fieldsOf returns a struct's members in order, including those of embedded
// structs.
func fieldsOf(shape reflect.Type) (fields []dataField) {
	for f := range shape.Fields() {
		if f.Anonymous {
			fields = append(fields, fieldsOf(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, dataField{name, strings.HasPrefix(options, "omit")})
	}
	return fields
}

// CategoryOf returns the category of an event type, including custom ones, or ""
// for an unknown type.
func CategoryOf(eventType string) string {
	if category := categories[eventType]; category != "" {
		return category
	}
	if validCustomType(eventType) {
		return CategoryCustom
	}
	return ""
}

// IsCategory reports whether a category of this name exists.
func IsCategory(name string) bool {
	for _, category := range categories {
		if category == name {
			return true
		}
	}
	return name == CategoryCustom
}

// validCustomType reports whether a caller may use this type for an event of its
// own. It must be custom_ followed by snake_case, with at most 64 bytes.
func validCustomType(eventType string) bool {
	name, ok := strings.CutPrefix(eventType, customPrefix)
	if !ok || name == "" || len(eventType) > maxTypeBytes {
		return false
	}
	for _, c := range []byte(name) {
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
