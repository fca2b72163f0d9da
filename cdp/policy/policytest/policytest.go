// Package policytest has commands that no program may send, to be tried at each door.
package policytest

// Attack is a command that must not reach Chromium.
type Attack struct {
	Method string
	Params string // JSON
	Want   string // in the error
}

const (
	noWorld = "Cannot find context with specified id"
	ownName = "the name is the server's own"
)

// Attacks are commands that scripts and clients of the CDP endpoint may not send to a
// page.
var Attacks = []Attack{
	{"Page.navigate", `{"url":"file:///etc/passwd"}`, "file: addresses cannot be opened"},
	{"Page.navigate", `{"\u0075rl":"chrome://version"}`, "chrome: addresses cannot be opened"},
	{"Page.navigate", `{"url":["file:///etc/passwd"]}`, "url: string value expected"},
	{"Page.navigate", `{"url":"about:blank","url":"file:///etc/passwd"}`, "duplicate"},
	{"Network.loadNetworkResource", `{"url":"file:///etc/passwd","options":{"disableCache":true,"includeCredentials":true}}`, "file: addresses cannot be opened"},
	{"Fetch.continueRequest", `{"requestId":"1","url":"file:///etc/passwd"}`, "file: addresses cannot be opened"},
	{"Fetch.fulfillRequest", `{"requestId":"1","responseCode":302,"responseHeaders":[{"name":"LOCATION","value":"file:///etc/passwd"}]}`, "file: addresses cannot be opened"},
	{"Fetch.continueResponse", `{"requestId":"1","responseCode":302,"responseHeaders":[{"name":"Location","value":"chrome://version"}]}`, "chrome: addresses cannot be opened"},
	{"Fetch.fulfillRequest", `{"requestId":"1","responseCode":302,"binaryResponseHeaders":"bG9jYXRpb246IC8="}`, "use responseHeaders"},

	{"Page.createIsolatedWorld", `{"frameId":"x","worldName":"takeover-utility"}`, ownName},
	{"Page.createIsolatedWorld", `{"frameId":"x","worldName":"take\u006fver-utility"}`, ownName},
	{"Page.addScriptToEvaluateOnNewDocument", `{"source":"1","worldName":"__takeover_capture"}`, ownName},
	{"Runtime.addBinding", `{"name":"takeoverReport"}`, ownName},
	{"Runtime.addBinding", `{"name":"x","executionContextName":"__takeover_capture"}`, ownName},
	{"Runtime.removeBinding", `{"name":"takeoverReportSecret"}`, ownName},

	{"Runtime.evaluate", `{"expression":"1","contextId":1000}`, noWorld},
	{"Runtime.evaluate", `{"expression":"1","contextId":4294967297}`, "contextId: integer value expected"},
	{"Runtime.callFunctionOn", `{"functionDeclaration":"() => 1","executionContextId":1000}`, noWorld},
	{"Runtime.callFunctionOn", `{"functionDeclaration":"() => 1","objectId":"1.1000.1"}`, noWorld},
	{"Runtime.callFunctionOn", `{"functionDeclaration":"() => 1","executionContextId":1,"arguments":[{"objectId":"1.4294967297.1"}]}`, noWorld},
	{"Runtime.compileScript", `{"expression":"1","sourceURL":"","persistScript":true,"executionContextId":1000}`, noWorld},
	{"Runtime.globalLexicalScopeNames", `{"executionContextId":1000}`, noWorld},
	{"Runtime.addBinding", `{"name":"x","executionContextId":1000}`, noWorld},
	{"Runtime.getProperties", `{"objectId":"1. 1.1"}`, noWorld},
	{"Runtime.awaitPromise", `{"promiseObjectId":"1.1000.1"}`, noWorld},
	{"Runtime.queryObjects", `{"prototypeObjectId":"1.+1.1"}`, noWorld},
	{"DOM.resolveNode", `{"backendNodeId":1,"executionContextId":1000}`, noWorld},
	{"DOM.describeNode", `{"objectId":"1.1000.1"}`, noWorld},
	{"DOMDebugger.getEventListeners", `{"objectId":"1.1000.1"}`, noWorld},
	{"Runtime.setCustomObjectFormatterEnabled", `{"enabled":true}`, "formatters run code whenever a command reads an object"},

	{"Debugger.evaluateOnCallFrame", `{"callFrameId":"1.1.0","expression":"1"}`, "the page does not pause in this call frame"},
	{"Debugger.setReturnValue", `{"newValue":{}}`, "the page does not pause"},
	{"Debugger.setBreakpointByUrl", `{"lineNumber":0,"url":"evaluator","condition":"1"}`, "a condition needs the script's whole address"},
	{"Debugger.setBreakpointOnFunctionCall", `{"objectId":"1","condition":"1"}`, "a condition needs Debugger.setBreakpointByUrl"},
	{"Debugger.setScriptSource", `{"scriptId":"1","scriptSource":""}`, "it could change the server's own scripts"},
	{"HeapProfiler.getObjectByHeapObjectId", `{"objectId":"1"}`, "it reaches objects of the server's own worlds"},

	{"Input.setIgnoreInputEvents", `{"ignore":true}`, "people must be able to act in the page"},
	{"Input.synthesizeTapGesture", `{"x":5,"y":5,"tapCount":400}`, "it would go on after a person has taken control"},
	{"Input.synthesizeScrollGesture", `{"x":5,"y":5}`, "it would go on after a person has taken control"},
	{"Input.synthesizePinchGesture", `{"x":5,"y":5,"scaleFactor":2}`, "it would go on after a person has taken control"},
	{"Browser.crash", `{}`, "it ends everybody's browser"},
	{"SystemInfo.getInfo", `{}`, "it tells of the machine"},
	{"Extensions.loadUnpacked", `{"path":"/"}`, "it loads folders of the machine"},
	{"DOM.getFileInfo", `{"objectId":"1"}`, "it tells paths of the machine"},
	{"No.such", `{}`, "'No.such' wasn't found"},
}
