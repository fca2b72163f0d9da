package automation

import (
	"encoding/json"
	"strings"
)

// A script's own session with a page (newCDPSession) takes Chromium's commands
// as they are. The ones below would leave the page: for this machine, for other
// contexts, or for what the server needs of the browser.

// refusedDomains are closed but for the commands of allowedCommands.
var refusedDomains = map[string]string{
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
	"Tracing":       "it is about the whole browser",
}

// allowedCommands are those of refused domains that tell of the session's own
// page only, and change nothing.
var allowedCommands = map[string]bool{
	"Browser.getVersion": true, "Browser.getWindowForTarget": true, "Browser.getWindowBounds": true, "Target.getTargetInfo": true,
}

// refusedCommands are closed, each with what to use instead.
var refusedCommands = map[string]string{
	"DOM.setFileInputFiles":          "it reads files of the machine; use locator.setInputFiles()",
	"DOM.getFileInfo":                "it tells paths of the machine",
	"Page.setDownloadBehavior":       "it writes files of the machine; downloads are the session's files",
	"Page.handleFileChooser":         "it reads files of the machine; use page.on('filechooser')",
	"Storage.overrideQuotaForOrigin": "the disk is the machine's",
	"Emulation.addScreen":            "the screens are the browser's",
	"Emulation.removeScreen":         "the screens are the browser's",
	"Emulation.updateScreen":         "the screens are the browser's",
}

// addressParams are parameters that say where a page goes or what is loaded:
// they are held to what scripts may open.
var addressParams = map[string]string{
	"Page.navigate": "url", "Network.loadNetworkResource": "url", "Fetch.continueRequest": "url", "Network.continueInterceptedRequest": "url",
}

// contextCommands are about the default context, whichever the session's is.
var contextCommands = map[string]bool{"Storage.getCookies": true, "Storage.setCookies": true, "Storage.clearCookies": true}

// refusedParams are parameters that no command may have: with their value, or
// with any when that is nil.
var refusedParams = []struct {
	name   string
	value  any
	reason string
}{
	{"grantUniveralAccess", true, "a world with universal access reads what pages of other sites hold"}, // Chromium's spelling
	{"grantUniversalAccess", true, "a world with universal access reads what pages of other sites hold"},
	{"perfettoConfig", nil, "it can write files of the machine"},
	{"tracingBackend", "system", "it traces the machine"},
}

// checkCommand says why a command of a script's own session is refused, or gives
// the parameters to send it with. own is the id of the page's context, targetID
// the page's.
func (a *Automation) checkCommand(method string, raw json.RawMessage, own, targetID string) (map[string]any, error) {
	refusal := func(reason string) error {
		return errorf("%s is not available in Takeover: %s", method, reason)
	}
	domain, _, _ := strings.Cut(method, ".")
	if reason, ok := refusedDomains[domain]; ok && !allowedCommands[method] {
		return nil, refusal(reason)
	}
	if reason, ok := refusedCommands[method]; ok {
		return nil, refusal(reason)
	}
	params := map[string]any{}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, errorf("params: expected object")
		}
	}
	for _, p := range refusedParams {
		if value, ok := params[p.name]; ok && (p.value == nil || value == p.value) {
			return nil, refusal(p.reason)
		}
	}
	if id, ok := params["browserContextId"]; ok && id != own {
		return nil, refusal("it names another context")
	}
	if contextCommands[method] && own != a.browser.DefaultContext().ID() {
		return nil, refusal("it is about another context's cookies; use context.cookies() or Network.getCookies")
	}
	if id, ok := params["targetId"]; ok && id != targetID {
		return nil, refusal("it names another page")
	}
	if method == "Input.dispatchDragEvent" {
		if data, ok := params["data"].(map[string]any); ok && data["files"] != nil {
			return nil, refusal("it drops files of the machine; use page.dispatchEvent() with a DataTransfer")
		}
	}
	if method == "Input.dispatchKeyEvent" && params["type"] == "rawKeyDown" {
		params["type"] = "keyDown" // with a raw key Chromium carries out its own shortcuts
	}
	if name, ok := addressParams[method]; ok {
		if value, ok := params[name]; ok {
			text, ok := value.(string)
			if !ok {
				return nil, errorf("params.%s: expected string", name)
			}
			address, err := a.address(text)
			if err != nil {
				return nil, err
			}
			params[name] = address
		}
	}
	return params, nil
}
