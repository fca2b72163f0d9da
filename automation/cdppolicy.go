package automation

import (
	"encoding/json"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/cdp"
	"takeover/cdp/pauses"
)

// These tables say which of Chromium's commands a script may send in its own
// session with a page (newCDPSession): those that concern only the page or its
// context. Every other command is refused, including commands that a newer
// Chromium adds, because it could reach this machine, other contexts, or the
// browser settings that the server relies on.

// allCommands allows a whole domain, because all its commands stay within the
// page.
const allCommands = "*"

// openDomains lists the commands of each domain that scripts may send.
var openDomains = map[string]string{
	"Accessibility": allCommands, "Animation": allCommands, "CSS": allCommands, "CacheStorage": allCommands, "Console": allCommands,
	"DOMDebugger": allCommands, "DOMSnapshot": allCommands, "DOMStorage": allCommands, "Debugger": allCommands,
	"DeviceOrientation": allCommands, "EventBreakpoints": allCommands, "IndexedDB": allCommands,
	"Input": allCommands, "Inspector": allCommands, "LayerTree": allCommands, "Log": allCommands, "Media": allCommands,
	"Overlay": allCommands, "Performance": allCommands, "PerformanceTimeline": allCommands, "Preload": allCommands,
	"FedCm": allCommands, "Profiler": allCommands, "Runtime": allCommands, "Schema": allCommands, "ServiceWorker": allCommands, "WebAudio": allCommands,
	"WebAuthn": allCommands,

	"Audits":  "enable disable getEncodedResponse checkFormsIssues checkContrast",
	"Browser": "getVersion getWindowForTarget getWindowBounds",
	"DOM": "enable disable collectClassNamesFromSubtree copyTo describeNode discardSearchResults focus forceShowPopover getAnchorElement " +
		"getAttributes getBoxModel getContainerForNode getContentQuads getDetachedDomNodes getDocument getElementByRelation " +
		"getFlattenedDocument getFrameOwner getNodeForLocation getNodeStackTraces getNodesForSubtreeByStyle getOuterHTML " +
		"getQueryingDescendantsForContainer getRelayoutBoundary getSearchResults getTopLayerElements hideHighlight highlightNode " +
		"highlightRect markUndoableState moveTo performSearch pushNodeByPathToFrontend pushNodesByBackendIdsToFrontend querySelector " +
		"querySelectorAll redo removeAttribute removeNode requestChildNodes requestNode resolveNode scrollIntoViewIfNeeded " +
		"setAttributeValue setAttributesAsText setInspectedNode setNodeName setNodeStackTracesEnabled setNodeValue setOuterHTML undo",
	"Emulation": "canEmulate clearDeviceMetricsOverride clearDevicePostureOverride clearDisplayFeaturesOverride clearGeolocationOverride " +
		"clearIdleOverride getOverriddenSensorInformation getScreenInfos resetPageScaleFactor setAutoDarkModeOverride " +
		"setAutomationOverride setCPUThrottlingRate setDataSaverOverride setDefaultBackgroundColorOverride setDeviceMetricsOverride " +
		"setDevicePostureOverride setDisabledImageTypes setDisplayFeaturesOverride setDocumentCookieDisabled " +
		"setEmitTouchEventsForMouse setEmulatedMedia setEmulatedOSTextScale setEmulatedVisionDeficiency setFocusEmulationEnabled " +
		"setGeolocationOverride setHardwareConcurrencyOverride setIdleOverride setLocaleOverride setNavigatorOverrides " +
		"setPageScaleFactor setPressureDataOverride setPressureSourceOverrideEnabled setPressureStateOverride " +
		"setSafeAreaInsetsOverride setScriptExecutionDisabled setScrollbarsHidden setSensorOverrideEnabled setSensorOverrideReadings " +
		"setSmallViewportHeightDifferenceOverride setTimezoneOverride setTouchEmulationEnabled setUserAgentOverride " +
		"setVirtualTimePolicy setVisibleSize",
	"Fetch": "enable disable continueRequest continueResponse continueWithAuth failRequest fulfillRequest getResponseBody " +
		"takeResponseBodyAsStream",
	"HeapProfiler": "enable disable collectGarbage getHeapObjectId getSamplingProfile startSampling startTrackingHeapObjects stopSampling " +
		"stopTrackingHeapObjects takeHeapSnapshot",
	"IO":     "read close resolveBlob",
	"Memory": "getDOMCounters",
	"Network": "enable disable canClearBrowserCache canClearBrowserCookies canEmulateNetworkConditions clearAcceptedEncodingsOverride " +
		"clearBrowserCache clearBrowserCookies deleteCookies emulateNetworkConditions emulateNetworkConditionsByRule " +
		"enableReportingApi getAllCookies getCertificate getCookies getRequestPostData getResponseBody getSecurityIsolationStatus " +
		"loadNetworkResource overrideNetworkState replayXHR searchInResponseBody setAcceptedEncodings setAttachDebugStack " +
		"setBlockedURLs setBypassServiceWorker setCacheDisabled setCookie setCookies setExtraHTTPHeaders setUserAgentOverride " +
		"streamResourceContent",
	"Page": "enable disable addScriptToEvaluateOnLoad addScriptToEvaluateOnNewDocument bringToFront captureScreenshot captureSnapshot " +
		"clearDeviceMetricsOverride clearGeolocationOverride close crash createIsolatedWorld deleteCookie generateTestReport " +
		"getAdScriptAncestry getAppId getAppManifest getCookies getFrameTree getInstallabilityErrors getLayoutMetrics " +
		"getManifestIcons getNavigationHistory getOriginTrials getPermissionsPolicyState getResourceContent getResourceTree " +
		"handleJavaScriptDialog navigate navigateToHistoryEntry printToPDF reload removeScriptToEvaluateOnLoad " +
		"removeScriptToEvaluateOnNewDocument resetNavigationHistory screencastFrameAck searchInResource setBypassCSP " +
		"setDeviceMetricsOverride setDocumentContent setFontFamilies setFontSizes setGeolocationOverride " +
		"setInterceptFileChooserDialog setLifecycleEventsEnabled setPrerenderingAllowed setTouchEmulationEnabled " +
		"setWebLifecycleState startScreencast stopLoading stopScreencast waitForDebugger",
	"Security": "enable disable setIgnoreCertificateErrors",
	"Storage": "clearCookies clearDataForOrigin clearDataForStorageKey getCookies getStorageKey getStorageKeyForFrame getUsageAndQuota " +
		"setCookies trackCacheStorageForOrigin trackCacheStorageForStorageKey trackIndexedDBForOrigin trackIndexedDBForStorageKey " +
		"untrackCacheStorageForOrigin untrackCacheStorageForStorageKey untrackIndexedDBForOrigin untrackIndexedDBForStorageKey",
	"Target": "getTargetInfo",
}

// allowedCommands has the same commands by their full names.
var allowedCommands = func() map[string]bool {
	table := map[string]bool{}
	for domain, names := range openDomains {
		for name := range strings.FieldsSeq(names) {
			table[domain+"."+name] = true
		}
	}
	return table
}()

// refusals gives the reason why a command or a domain is refused, and what to use
// instead.
var refusals = map[string]string{ //nolint:gosec // the keys are domains, not secrets
	"Browser":       "it is about the whole browser, and can write downloads anywhere on the machine",
	"Target":        "it reaches other pages; use context.pages(), page.workers() and context.newCDPSession()",
	"SystemInfo":    "it tells of the machine",
	"Tethering":     "it opens ports of the machine",
	"Extensions":    "it loads folders of the machine",
	"PWA":           "it installs programs on the machine",
	"Cast":          "it reaches devices of the machine's network",
	"DeviceAccess":  "it reaches devices of the machine",
	"HeadlessShell": "it is about the whole browser",
	"Memory":        "it is about the whole browser",
	"Tracing":       "it is about the whole browser; use context.tracing",

	"Ads":                  textNotOpened,
	"Autofill":             textNotOpened,
	"BackgroundService":    textNotOpened,
	"BluetoothEmulation":   "it reaches devices of the machine",
	"CrashReportContext":   textNotOpened,
	"DigitalCredentials":   textNotOpened,
	"FileSystem":           textNotOpened,
	"FindInPage":           textNotOpened,
	"HeadlessExperimental": "it is about the whole browser",
	"SmartCardEmulation":   "it reaches devices of the machine",
	"WebMCP":               textNotOpened,

	"Input.setIgnoreInputEvents":           "people must be able to act in the page",
	"Input.synthesizePinchGesture":         textGesture,
	"Input.synthesizeScrollGesture":        textGesture,
	"Input.synthesizeTapGesture":           textGesture,
	"DOM.setFileInputFiles":                "it reads files of the machine; use locator.setInputFiles()",
	"DOM.getFileInfo":                      "it tells paths of the machine",
	"Debugger.setScriptSource":             "it could change the server's own scripts; use page.route()",
	"Page.setDownloadBehavior":             "it writes files of the machine; downloads are the session's files",
	"Page.handleFileChooser":               "it reads files of the machine; use page.on('filechooser')",
	"HeapProfiler.addInspectedHeapObject":  "it reaches objects of the server's own worlds",
	"HeapProfiler.getObjectByHeapObjectId": "it reaches objects of the server's own worlds",
	"Page.addCompilationCache":             "the page would run code that nobody compiled",
	"Storage.overrideQuotaForOrigin":       "the disk is the machine's",
	"Emulation.addScreen":                  "the screens are the browser's",
	"Emulation.removeScreen":               "the screens are the browser's",
	"Emulation.updateScreen":               "the screens are the browser's",
	"Emulation.setPrimaryScreen":           "the screens are the browser's",
	"Network.setRequestInterception":       "use page.route() or the Fetch domain",
	"Network.setCookieControls":            "it is about the whole browser",
	"Network.configureDurableMessages":     "it fills the browser's memory",
}

// textGesture is the reason for refusing what acts for seconds.
const textGesture = "it would go on after a person has taken control; use Input.dispatchTouchEvent and Input.dispatchMouseEvent"

// textNotOpened is the reason for refusing a command when there is no more specific
// one.
const textNotOpened = "it is not among the commands that are known to concern the script's own page alone"

// checkAllowed returns an error that says why a command is refused. For an
// unknown domain, the error is the one that Chromium would give.
func checkAllowed(method string) error {
	domain, _, _ := strings.Cut(method, ".")
	_, refused := refusals[method]
	if !refused && (allowedCommands[method] || allowedCommands[domain+"."+allCommands]) {
		return nil
	}
	for _, name := range []string{method, domain} {
		if reason, ok := refusals[name]; ok {
			return refuse(method, reason)
		}
	}
	if _, known := openDomains[domain]; known {
		return refuse(method, textNotOpened)
	}
	return errorf("Protocol error (%s): '%[1]s' wasn't found", method)
}

func refuse(method, reason string) error {
	return errorf("%s is not available in Takeover: %s", method, reason)
}

// addressParams are parameters that say where a page goes or what is loaded. They
// must be addresses that scripts may open.
var addressParams = map[string]string{
	"Page.navigate": "url", "Network.loadNetworkResource": "url", "Fetch.continueRequest": "url",
}

// contextCommands act on the default context, even if the session belongs to
// another one.
var contextCommands = map[string]bool{"Storage.getCookies": true, "Storage.setCookies": true, "Storage.clearCookies": true}

// refusedParams are parameters that no command may have: with the given value, or
// with any value if it is nil.
var refusedParams = []struct {
	name   string
	value  any
	reason string
}{
	{"grantUniveralAccess", true, "a world with universal access reads what pages of other sites hold"}, // Chromium's spelling
	{"grantUniversalAccess", true, "a world with universal access reads what pages of other sites hold"},
	{"binaryResponseHeaders", nil, "use responseHeaders"}, // whose values are checked
}

// checkCommand returns the parameters to send with a command of a script's own
// session, or an error that says why the command is refused. own is the id of the
// page's context, targetID the id of the session's target.
func (a *Automation) checkCommand(method string, raw json.RawMessage, own, targetID string) (map[string]any, error) {
	if err := checkAllowed(method); err != nil {
		return nil, err
	}
	params := map[string]any{}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, errorf("params: expected object")
		}
	}
	for _, p := range refusedParams {
		if value, ok := params[p.name]; ok && (p.value == nil || value == p.value) {
			return nil, refuse(method, p.reason)
		}
	}
	if id, ok := params["browserContextId"]; ok && id != own {
		return nil, refuse(method, "it names another context")
	}
	if contextCommands[method] && own != a.browser.DefaultContext().ID() {
		return nil, refuse(method, "it is about another context's cookies; use context.cookies() or Network.getCookies")
	}
	if id, ok := params["targetId"]; ok && id != targetID {
		return nil, refuse(method, "it names another page")
	}
	if method == "Input.dispatchDragEvent" {
		if data, ok := params["data"].(map[string]any); ok && data["files"] != nil {
			return nil, refuse(method, "it drops files of the machine; use page.dispatchEvent() with a DataTransfer")
		}
	}
	if method == "Input.dispatchKeyEvent" && params["type"] == "rawKeyDown" {
		params["type"] = "keyDown" // a rawKeyDown would run Chromium's own shortcuts
	}
	if err := a.checkLocations(params["responseHeaders"]); err != nil {
		return nil, err
	}
	return params, a.checkAddress(params, addressParams[method])
}

// checkWorld refuses commands that reach one of our isolated worlds. A script
// could stop what runs there from reporting secret fields.
func (a *Automation) checkWorld(method string, params map[string]any, target string) error {
	const reason = "the world is the server's own"
	for _, name := range []string{"worldName", "executionContextName"} {
		if world, ok := params[name].(string); ok && browser.ReservedName(world) {
			return refuse(method, reason)
		}
	}
	if method == runtime.AddBinding.Method {
		if name, ok := params["name"].(string); ok && browser.ReservedName(name) {
			return refuse(method, "the name is the server's own")
		}
		if params["executionContextId"] == nil && params["executionContextName"] == nil {
			params["executionContextName"] = "" // the pages' own worlds; without a name it would replace globals of our worlds too
		}
	}
	for _, name := range []string{"contextId", "executionContextId"} {
		if id, ok := params[name].(float64); ok && a.browser.Reserved(target, runtime.ExecutionContextID(id), "") {
			return refuse(method, reason)
		}
	}
	if id, ok := params["uniqueContextId"].(string); ok && id != "" && a.browser.Reserved(target, 0, id) {
		return refuse(method, reason)
	}
	return nil
}

// checkPause refuses a command of a debugger that reaches our isolated worlds.
func (o *ownSession) checkPause(method string, params map[string]any) error {
	text := func(name string) string {
		value, _ := params[name].(string) // Chromium refuses anything else
		return value
	}
	p := pauses.Params{CallFrame: text("callFrameId"), Condition: text("condition"), URL: text("url")}
	if reason := o.pause.Check(method, p); reason != "" {
		return refuse(method, reason)
	}
	delete(params, "includeCommandLineAPI") // debug() would run a condition in functions that all worlds share
	return nil
}

// showsEvent reports whether a script sees an event of its session. A pause of the
// page in one of our isolated worlds ends at once; if the script has asked to pause,
// the page pauses later.
func (a *Automation) showsEvent(o *ownSession, ev cdp.Event) bool {
	switch ev.Method {
	case debugger.Resumed.Method:
		return o.pause.Resumed()
	case debugger.Paused.Method:
		shown, again := o.pause.Paused(ev.Params, func(id int64) bool { return a.browser.Reserved(o.target, runtime.ExecutionContextID(id), "") })
		if !shown {
			var reply any = debugger.StepOut // nobody waits for it
			if again {
				reply = o // see tellSession
			}
			_ = o.session.Post(debugger.StepOut.Method, proto.Empty{}, reply) // a closed page cannot be resumed
		}
		return shown
	}
	return !a.ofReservedWorld(ev, o.target)
}

// ofReservedWorld reports whether an event is about one of our isolated worlds.
func (a *Automation) ofReservedWorld(ev cdp.Event, target string) bool {
	switch ev.Method {
	case runtime.ExecutionContextCreated.Method:
		e, err := cdp.Decode(ev, runtime.ExecutionContextCreated)
		return err == nil && browser.ReservedName(e.Context.Name)
	case debugger.ScriptParsed.Method:
		e, err := cdp.Decode(ev, debugger.ScriptParsed)
		return err == nil && a.browser.Reserved(target, e.ExecutionContextID, "")
	}
	return false
}

// checkAddress replaces the address in a parameter by its parsed form, which
// Chromium reads in the same way.
func (a *Automation) checkAddress(params map[string]any, name string) error {
	value, ok := params[name]
	if !ok {
		return nil
	}
	text, ok := value.(string)
	if !ok {
		return errorf("params.%s: expected string", name)
	}
	address, err := a.address(text)
	if err == nil {
		params[name] = address
	}
	return err
}

// checkLocations refuses response headers that would redirect the browser to an
// address that goto may not open.
func (a *Automation) checkLocations(head any) error {
	list, _ := head.([]any) // Chromium refuses anything that is not a list
	for _, item := range list {
		header, _ := item.(map[string]any)
		name, _ := header["name"].(string)
		value, _ := header["value"].(string)
		if !strings.EqualFold(name, "location") {
			continue
		}
		value = strings.ReplaceAll(strings.TrimSpace(value), `\`, "/")
		if strings.HasPrefix(value, "//") {
			value = "http:" + value
		}
		if _, err := a.address(value); err != nil {
			return err
		}
	}
	return nil
}
