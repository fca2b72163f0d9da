package capture

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mapped has what each type's data is made of.
var mapped = map[string]any{
	TypeConsoleLog: consoleLogData{}, TypeConsoleError: consoleErrorData{},
	TypeNetworkRequest: networkRequestData{}, TypeNetworkResponse: networkResponseData{}, TypeNetworkLoadingFailed: networkFailedData{},
	TypeWebSocketOpen: socketOpenData{}, TypeWebSocketFrame: socketFrameData{}, TypeWebSocketClose: socketCloseData{},
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

var (
	docsRow   = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\|(.*)\\|$")
	docsField = regexp.MustCompile("`([a-z_]+)`(\\??)")
	inParens  = regexp.MustCompile(`\([^)]*\)`)
)

// The docs name each type, its category, and exactly the fields of its data; a
// question mark stands behind one that may be missing.
func TestDocsHaveTheSchema(t *testing.T) {
	docs, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, row := range docsRow.FindAllStringSubmatch(string(docs), -1) {
		eventType, category := row[1], row[2]
		described[eventType] = true
		if want := categories[eventType]; category != want {
			t.Errorf("%s is in the category %q, the docs say %q", eventType, want, category)
		}
		data, ok := mapped[eventType]
		if !ok {
			if category != CategoryControl { // the session's own: TestControlEvents
				t.Errorf("%s has no mapping", eventType)
			}
			continue
		}
		var told []string
		for _, f := range docsField.FindAllStringSubmatch(inParens.ReplaceAllString(row[3], ""), -1) {
			told = append(told, f[1]+f[2])
		}
		if has := fields(reflect.TypeOf(data)); !slices.Equal(told, has) {
			t.Errorf("%s has %q, the docs say %q", eventType, has, told)
		}
	}
	for eventType := range categories {
		if !described[eventType] {
			t.Errorf("the docs do not have %s", eventType)
		}
	}
}

// fields are the names of a struct's members in JSON, those of embedded ones in
// their place.
func fields(of reflect.Type) (names []string) {
	for f := range of.Fields() {
		if f.Anonymous {
			names = append(names, fields(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if strings.HasPrefix(options, "omit") {
			name += "?"
		}
		names = append(names, name)
	}
	return names
}
