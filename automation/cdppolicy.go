package automation

import (
	"encoding/json"
	"errors"

	"github.com/chromedp/cdproto/input"

	"takeover/browser"
	"takeover/cdp/policy"
)

// scopeHost answers what a Scope of a script's own session asks.
type scopeHost struct {
	client *Client
	page   *browser.Page
}

func (h scopeHost) Address(text string) (string, error) { return h.client.automation.address(text) }

func (h scopeHost) World(target string, id int64, unique string) (policy.World, bool) {
	return h.client.automation.browser.World(target, id, unique)
}

func (h scopeHost) Failure(address, text string) string {
	return h.client.automation.browser.Failure(address, text)
}

func (h scopeHost) Veiled(string) bool { return h.client.options.Veil(ended, h.page) != nil }

// contextCommands act on the default context, even if the session belongs to
// another one.
var contextCommands = map[string]bool{"Storage.getCookies": true, "Storage.setCookies": true, "Storage.clearCookies": true}

// check returns the command that Chromium is sent for one of a script, or an error that
// says why it is refused. What is said here, besides package policy, keeps the script in
// its own page and context.
func (o *ownSession) check(a *Automation, method string, params json.RawMessage) (policy.Command, error) {
	cmd, err := o.scope.Check(method, params)
	if refusal, ok := errors.AsType[*policy.RefusedError](err); ok && !refusal.Own {
		return cmd, errorf("Protocol error (%s): %s", method, refusal.Message)
	} else if ok {
		return cmd, errorf("%s", refusal.Message)
	} else if err != nil {
		return cmd, err
	}
	var p struct {
		Context string `json:"browserContextId"`
		Target  string `json:"targetId"`
		Data    struct {
			Files json.RawMessage `json:"files"`
		} `json:"data"`
	}
	_ = json.Unmarshal(cmd.Params, &p) // Chromium refuses what is of another type
	own := o.page.Context().ID()
	reason := ""
	switch {
	case p.Context != "" && p.Context != own:
		reason = "it names another context"
	case contextCommands[method] && own != a.browser.DefaultContext().ID():
		reason = "it is about another context's cookies; use context.cookies() or Network.getCookies"
	case p.Target != "" && p.Target != o.target:
		reason = "it names another page"
	case method == input.DispatchDragEvent.Method && p.Data.Files != nil:
		reason = "it drops files of the machine; use page.dispatchEvent() with a DataTransfer"
	}
	if reason != "" {
		return cmd, errorf("%s", policy.Refuse(method, reason).Error())
	}
	return cmd, nil
}
