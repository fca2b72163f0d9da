package automation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"takeover/automation"
	"takeover/cdp/policy/policytest"
)

// TestCDPSessionPolicy checks which commands a script's own session may send, and
// the errors for the others.
func TestCDPSessionPolicy(t *testing.T) {
	r := newRig(t)
	session := r.attach()
	for _, method := range []string{
		"Accessibility.getFullAXTree", "Animation.enable", "CSS.enable", "DOM.getDocument", "DOMSnapshot.captureSnapshot", "Debugger.enable",
		"Emulation.setCPUThrottlingRate", "Emulation.setTimezoneOverride", "Fetch.enable", "HeapProfiler.collectGarbage", "IO.read",
		"Input.dispatchMouseEvent", "Log.enable", "Memory.getDOMCounters", "Network.clearBrowserCache", "Network.emulateNetworkConditions",
		"Network.enable", "Network.getAllCookies", "Network.setBlockedURLs", "Network.setCacheDisabled", "Network.setUserAgentOverride",
		"Overlay.enable", "Page.captureScreenshot", "Page.getLayoutMetrics", "Page.printToPDF", "Page.setWebLifecycleState",
		"Page.startScreencast", "Performance.getMetrics", "Profiler.startPreciseCoverage", "Runtime.evaluate", "Security.enable",
		"ServiceWorker.enable", "Storage.getUsageAndQuota", "Target.getTargetInfo", "WebAuthn.enable", "Browser.getVersion",
	} {
		if _, err := r.command(session, method, nil); err != nil && !strings.HasPrefix(err.Error(), "Protocol error ("+method+")") {
			t.Errorf("%s: %v", method, err) // Chromium itself may ask for more parameters
		}
	}
	const unknown = "it is not among the commands that are known to concern the script's own page alone"
	for method, reason := range map[string]string{
		"Browser.setContentsSize":             "it is about the whole browser, and can write downloads anywhere on the machine",
		"DOM.setFileInputFiles":               "it reads files of the machine; use locator.setInputFiles()",
		"Emulation.setPrimaryScreen":          "the screens are the server's",
		"HeapProfiler.addInspectedHeapObject": "it reaches objects of the server's own worlds",
		"Memory.simulatePressureNotification": "it is about the whole browser",
		"Page.addCompilationCache":            "the page would run code that nobody compiled",
		"Storage.clearTrustTokens":            unknown,
		"Target.activateTarget":               "it reaches other pages; use context.pages(), page.workers() and context.newCDPSession()",
		"FileSystem.getDirectory":             unknown,
		"SmartCardEmulation.enable":           "it reaches devices of the machine",
	} {
		_, err := r.command(session, method, nil)
		equal(t, method, fmt.Sprint(err), method+" is not available in Takeover: "+reason)
	}
	for _, method := range []string{"Nothing.here", "Nothing", "", "page.enable", "DOM.*", "Page.whateverComesNext"} {
		_, err := r.command(session, method, nil)
		equal(t, method, fmt.Sprint(err), fmt.Sprintf("Protocol error (%s): '%[1]s' wasn't found", method))
	}
}

// TestCDPSessionRefusals sends what no program may send.
func TestCDPSessionRefusals(t *testing.T) {
	r := newRig(t)
	session := r.attach()
	for _, attack := range policytest.Attacks {
		_, err := r.command(session, attack.Method, json.RawMessage(attack.Params))
		if err == nil || !strings.Contains(err.Error(), attack.Want) {
			t.Errorf("%s %s: %v, want %q", attack.Method, attack.Params, err, attack.Want)
		}
	}
}

// TestCDPSessionLocations checks that response headers cannot redirect to an
// address that goto may not open.
func TestCDPSessionLocations(t *testing.T) {
	r := newRig(t, func(o *automation.Options) {
		o.CheckURL = func(u *url.URL) error {
			if u.Hostname() == "refused.test" {
				return errors.New("refused.test is refused")
			}
			return nil
		}
	})
	session := r.attach()
	for value, want := range map[string]string{
		"http://refused.test/":     "refused.test is refused",
		"//refused.test/":          "refused.test is refused",
		`\\refused.test/`:          "refused.test is refused",
		"file:///etc/passwd":       "file: addresses cannot be opened here",
		"/elsewhere":               "Protocol error (Fetch.fulfillRequest)", // Chromium knows no request with this id
		"https://allowed.test/new": "Protocol error (Fetch.fulfillRequest)",
	} {
		for _, method := range []string{"Fetch.fulfillRequest", "Fetch.continueResponse"} {
			_, err := r.command(session, method, params{"requestId": "1", "responseCode": 302, "responseHeaders": []params{{"name": "Location", "value": value}}})
			want := strings.ReplaceAll(want, "Fetch.fulfillRequest", method)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s to %q: %v, want %q", method, value, err, want)
			}
		}
	}
	_, err := r.command(session, "Fetch.fulfillRequest", params{"requestId": "1", "responseCode": 302, "binaryResponseHeaders": "bG9jYXRpb246IC8="})
	equal(t, "heads that nobody reads", fmt.Sprint(err), "Fetch.fulfillRequest is not available in Takeover: use responseHeaders")
}
