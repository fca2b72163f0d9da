package cdp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	cdpio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/layertree"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/cdproto/tracing"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/limits"
	"takeover/session"
	"takeover/text"
)

// mapping changes a command before it is sent. It returns true if it has answered
// the command itself, or will.
type mapping func(c *Client, cmd *call, on attached) (done bool, err error)

// mappings are the commands that methods.txt calls mapped; a test compares the two.
var mappings map[string]mapping

func init() { //nolint:gochecknoinits // a map of functions that use it would be a cycle
	mappings = map[string]mapping{
		browser.Close.Method:               closeBrowser,
		browser.SetDownloadBehavior.Method: setDownloads,
		"Page.setDownloadBehavior":         setDownloads,

		dom.SetFileInputFiles.Method:   setFiles,
		input.DispatchDragEvent.Method: dropFiles,
		input.DispatchKeyEvent.Method:  pressKey,

		page.Navigate.Method:               addressIn("url"),
		network.LoadNetworkResource.Method: addressIn("url"),
		fetch.ContinueRequest.Method:       addressIn("url"),
		page.HandleJavaScriptDialog.Method: answerDialog,
		page.CaptureScreenshot.Method:      whenUnveiled,
		page.CaptureSnapshot.Method:        whenUnveiled,
		page.PrintToPDF.Method:             whenUnveiled,
		layertree.MakeSnapshot.Method:      whenUnveiled,
		layertree.LoadSnapshot.Method:      whenUnveiled,
		layertree.ReplaySnapshot.Method:    whenUnveiled,
		tracing.Start.Method:               startTracing,
		cdpio.Read.Method:                  readStream,
		cdpio.Close.Method:                 readStream,

		target.CreateTarget.Method:         createTarget,
		target.CreateBrowserContext.Method: createContext,
		target.GetTargets.Method:           getTargets,
		target.GetBrowserContexts.Method:   getContexts,
		target.AttachToTarget.Method:       flatAndOpen,
		target.ActivateTarget.Method:       ofOpenTarget,
		target.CloseTarget.Method:          ofOpenTarget,
		target.GetTargetInfo.Method:        ofOpenTarget,
		target.GetDevToolsTarget.Method:    ofOpenTarget,
		target.SetAutoAttach.Method:        flat,
		target.AutoAttachRelated.Method:    ofOpenTarget,
		target.SetDiscoverTargets.Method:   asItIs,

		debugger.EvaluateOnCallFrame.Method:         withoutCommandLine,
		debugger.RestartFrame.Method:                asItIs,
		debugger.SetVariableValue.Method:            asItIs,
		debugger.SetReturnValue.Method:              asItIs,
		debugger.SetBreakpoint.Method:               asItIs,
		debugger.SetBreakpointOnFunctionCall.Method: asItIs,
		debugger.SetBreakpointByURL.Method:          asItIs,

		runtime.Evaluate.Method:                      inOpenWorld,
		runtime.CallFunctionOn.Method:                inOpenWorld,
		runtime.CompileScript.Method:                 inOpenWorld,
		runtime.RunScript.Method:                     inOpenWorld,
		runtime.GlobalLexicalScopeNames.Method:       inOpenWorld,
		runtime.AddBinding.Method:                    inOpenWorld,
		runtime.RemoveBinding.Method:                 inOpenWorld,
		dom.ResolveNode.Method:                       inOpenWorld,
		page.CreateIsolatedWorld.Method:              inOpenWorld,
		page.AddScriptToEvaluateOnNewDocument.Method: inOpenWorld,
	}
}

// mapCommand changes a mapped command.
func (c *Client) mapCommand(cmd *call, on attached) (done bool, err error) {
	m := mappings[cmd.method]
	if m == nil {
		return false, refuse(cmd.method, "the server does not know how to map it")
	}
	return m(c, cmd, on)
}

// asItIs is for commands whose events or replies are changed, or that checkPause
// checks.
func asItIs(*Client, *call, attached) (bool, error) { return false, nil }

// object is a command's parameters, to be changed.
type object map[string]jsontext.Value

// object decodes the parameters. A name that stands twice is refused, because
// Chromium might read the other one.
func (cmd *call) object() (object, error) {
	o := object{}
	if len(cmd.params) > 0 {
		if err := cmd.decode(&o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// decode decodes the parameters. The error names the one that is wrong.
func (cmd *call) decode(into any, options ...jsonv2.Options) error {
	if len(cmd.params) == 0 {
		return nil
	}
	err := jsonv2.Unmarshal(cmd.params, into, append(options, jsontext.AllowInvalidUTF8(true))...)
	if err == nil {
		return nil
	}
	reason := err.Error()
	if e, ok := errors.AsType[*jsonv2.SemanticError](err); ok && e.JSONPointer != "" {
		reason = strings.TrimPrefix(string(e.JSONPointer), "/") + ": must not be a " + e.JSONKind.String()
		if errors.Is(err, jsonv2.ErrUnknownName) {
			reason = strings.TrimPrefix(string(e.JSONPointer), "/") + ": unknown parameter"
		}
	}
	return &refusal{code: codeParams, message: "Invalid parameters: " + text.Clip(reason, 200)}
}

// set replaces the parameters.
func (cmd *call) set(o object) error {
	raw, err := jsonv2.Marshal(o, jsontext.AllowInvalidUTF8(true))
	cmd.params = raw
	return err
}

// put sets a parameter.
func (o object) put(name string, value any) error {
	raw, err := jsonv2.Marshal(value, jsontext.AllowInvalidUTF8(true))
	o[name] = raw
	return err
}

// text returns a parameter that is a string.
func (o object) text(name string) (value string, ok bool) {
	raw, there := o[name]
	return value, there && jsonv2.Unmarshal(raw, &value, jsontext.AllowInvalidUTF8(true)) == nil
}

// closeBrowser detaches the client, and lets the browser live.
func closeBrowser(c *Client, cmd *call, _ attached) (bool, error) {
	c.send(item{ready: appendReply(nil, cmd.id, cmd.session, nil, nil), last: true})
	return true, nil
}

// setDownloads keeps downloads in the session's folder, under the names that the
// events say. A client may refuse them, and ask for their events.
func setDownloads(c *Client, cmd *call, on attached) (bool, error) {
	o, err := cmd.object()
	if err != nil {
		return false, err
	}
	behavior, ok := o.text("behavior")
	if !ok {
		return false, &refusal{code: codeParams, message: "Invalid parameters: behavior: string value expected"}
	}
	context, _ := o.text("browserContextId")
	if cmd.method != browser.SetDownloadBehavior.Method {
		context = c.raw.ContextOf(on.target)
	}
	folder := c.raw.DownloadsFolder(context)
	if behavior != "deny" {
		if err := o.put("behavior", browser.SetDownloadBehaviorBehaviorAllowAndName); err != nil {
			return false, err
		}
		if err := o.put("downloadPath", folder); err != nil {
			return false, err
		}
	}
	if cmd.method != browser.SetDownloadBehavior.Method { // Page.setDownloadBehavior names no context, and cannot name files by their id
		cmd.method = browser.SetDownloadBehavior.Method
		cmd.on = c.raw.Browser()
		if err := o.put("browserContextId", context); err != nil {
			return false, err
		}
	}
	return false, cmd.set(o)
}

// setFiles gives a file input files of the session.
func setFiles(c *Client, cmd *call, _ attached) (bool, error) {
	o, err := cmd.object()
	if err != nil {
		return false, err
	}
	if err := c.mapFiles(o); err != nil {
		return false, err
	}
	return false, cmd.set(o)
}

// dropFiles does the same for files that are dropped.
func dropFiles(c *Client, cmd *call, _ attached) (bool, error) {
	o, err := cmd.object()
	if err != nil || len(o["data"]) == 0 {
		return false, err
	}
	data := object{}
	if err := (&call{params: json.RawMessage(o["data"])}).decode(&data); err != nil {
		return false, err
	}
	if len(data["files"]) == 0 {
		return false, cmd.set(o)
	}
	if err := c.mapFiles(data); err != nil {
		return false, err
	}
	if err := o.put("data", data); err != nil {
		return false, err
	}
	return false, cmd.set(o)
}

// mapFiles replaces the paths in a list "files".
func (c *Client) mapFiles(o object) error {
	var names []string
	if err := jsonv2.Unmarshal(o["files"], &names); err != nil {
		return &refusal{code: codeParams, message: "Invalid parameters: files: array of strings expected"}
	}
	paths, err := c.raw.FilePaths(names)
	if err != nil {
		return err
	}
	return o.put("files", paths)
}

// pressKey turns a rawKeyDown into a keyDown, which the page cannot tell apart.
func pressKey(_ *Client, cmd *call, _ attached) (bool, error) {
	o, err := cmd.object()
	if err != nil {
		return false, err
	}
	if kind, _ := o.text("type"); kind != "rawKeyDown" {
		return false, nil
	}
	if err := o.put("type", "keyDown"); err != nil {
		return false, err
	}
	return false, cmd.set(o)
}

// addressIn checks the address in a parameter.
func addressIn(name string) mapping {
	return func(c *Client, cmd *call, _ attached) (bool, error) {
		if !bytes.Contains(cmd.params, []byte(name)) && !bytes.Contains(cmd.params, []byte(`\u`)) {
			return false, nil
		}
		o, err := cmd.object()
		if err != nil {
			return false, err
		}
		if err := c.checkAddress(o, name); err != nil {
			return false, err
		}
		return false, cmd.set(o)
	}
}

// checkAddress replaces the address in a parameter by the form that was checked.
func (c *Client) checkAddress(o object, name string) error {
	text, ok := o.text(name)
	if !ok {
		return nil // Chromium refuses what is not a string
	}
	address, err := c.raw.Address(text)
	if err != nil {
		return &refusal{code: codeServer, message: err.Error()}
	}
	return o.put(name, address)
}

// answerDialog remembers which dialog is meant.
func answerDialog(_ *Client, cmd *call, on attached) (bool, error) {
	cmd.dialogs = on.dialogs
	return false, nil
}

// whenUnveiled takes a picture when no person is in a secret field of the page.
func whenUnveiled(c *Client, cmd *call, on attached) (bool, error) {
	if !c.raw.Veiled(on.target) {
		return false, nil
	}
	if !c.waiting.hold(cmd) {
		c.options.Limits.Add(limits.Waiting, 1)
		return false, tooMany()
	}
	c.work.Go(func() {
		err := c.raw.AwaitUnveiled(c.ctx, on.target)
		c.waiting.letGo(cmd)
		if err == nil {
			err = c.post(cmd)
		}
		if err != nil {
			c.reply(cmd, nil, err)
		}
	})
	return true, nil
}

// createTarget opens a page. A hidden one would be taken for one of the server's.
func createTarget(c *Client, cmd *call, _ attached) (bool, error) {
	o, err := cmd.object()
	if err != nil {
		return false, err
	}
	if string(o["hidden"]) == "true" {
		return false, refuse(cmd.method, "pages are not hidden from the people of a session")
	}
	if err := c.checkAddress(o, "url"); err != nil {
		return false, err
	}
	return false, cmd.set(o)
}

// createContext opens a context, whose way out is the session's.
func createContext(c *Client, cmd *call, _ attached) (bool, error) {
	o, err := cmd.object()
	if err != nil {
		return false, err
	}
	const ownProxy = "the session's proxy is set with proxyUrl when it is created"
	for name, reason := range map[string]string{
		"proxyServer": ownProxy, "proxyBypassList": ownProxy, "originsWithUniversalNetworkAccess": "it lets pages read those of other sites",
	} {
		if value, ok := o[name]; ok && string(value) != `""` && string(value) != "[]" {
			return false, refuse(cmd.method+" with "+name, reason)
		}
		delete(o, name)
	}
	cmd.result = func(result json.RawMessage) (json.RawMessage, error) {
		var made struct {
			ID string `json:"browserContextId"`
		}
		if decode(result, &made) {
			if err := c.raw.ContextMade(made.ID); err != nil {
				c.log.Warn("prepare context", "error", err)
			}
		}
		return result, nil
	}
	return false, cmd.set(o)
}

// getTargets leaves out the server's own targets.
func getTargets(c *Client, cmd *call, _ attached) (bool, error) {
	cmd.result = func(result json.RawMessage) (json.RawMessage, error) {
		var list struct {
			Infos []jsontext.Value `json:"targetInfos"`
		}
		if !decode(result, &list) {
			return nil, &refusal{code: codeServer, message: "the list of targets cannot be read"}
		}
		list.Infos = slices.DeleteFunc(list.Infos, func(raw jsontext.Value) bool {
			var info targetInfo
			return !decode(raw, &info) || c.sight.isStrange(info)
		})
		return jsonv2.Marshal(list, jsontext.AllowInvalidUTF8(true))
	}
	return false, nil
}

// getContexts leaves out the contexts in which only targets of the server are.
func getContexts(c *Client, cmd *call, _ attached) (bool, error) {
	var all struct {
		Infos []targetInfo `json:"targetInfos"`
	}
	if err := c.raw.Call(c.ctx, target.GetTargets.Method, json.RawMessage(`{"filter":[{}]}`), &all); err != nil {
		return false, err
	}
	ours, open := map[string]bool{}, map[string]bool{}
	for _, info := range all.Infos {
		if info.isOurs() {
			ours[info.Context] = true
		} else {
			open[info.Context] = true
		}
	}
	cmd.result = func(result json.RawMessage) (json.RawMessage, error) {
		o := object{}
		var ids []string
		if !decode(result, &o) || !decode(o["browserContextIds"], &ids) {
			return nil, &refusal{code: codeServer, message: "the list of contexts cannot be read"}
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return ours[id] && !open[id] })
		if err := o.put("browserContextIds", ids); err != nil {
			return nil, err
		}
		return jsonv2.Marshal(o, jsontext.AllowInvalidUTF8(true))
	}
	return false, nil
}

// ofOpenTarget answers a command about a target that the client must not see as if
// there were none.
func ofOpenTarget(c *Client, cmd *call, _ attached) (bool, error) {
	var p struct {
		Target string `json:"targetId"`
	}
	if err := cmd.decode(&p); err != nil || p.Target == "" {
		return false, err
	}
	var told struct {
		Info targetInfo `json:"targetInfo"`
	}
	if err := c.raw.Call(c.ctx, target.GetTargetInfo.Method, map[string]string{"targetId": p.Target}, &told); err != nil {
		return false, err
	}
	if c.sight.isStrange(told.Info) {
		return false, &refusal{code: codeParams, message: "No target with given id found"}
	}
	return false, nil
}

// flatAndOpen is flat for a target that the client may see.
func flatAndOpen(c *Client, cmd *call, on attached) (bool, error) {
	if _, err := ofOpenTarget(c, cmd, on); err != nil {
		return false, err
	}
	return flat(c, cmd, on)
}

// flat makes a session whose messages have its id, because those of another kind
// pass Target.sendMessageToTarget by the table of commands.
func flat(_ *Client, cmd *call, _ attached) (bool, error) {
	o, err := cmd.object()
	if err != nil {
		return false, err
	}
	if err := o.put("flatten", true); err != nil {
		return false, err
	}
	return false, cmd.set(o)
}

// inOpenWorld refuses to run anything in the server's own worlds, where a program
// could keep the server from learning what people type in secret.
func inOpenWorld(c *Client, cmd *call, on attached) (bool, error) {
	var p struct {
		Name      string `json:"name"`
		World     string `json:"worldName"`
		Execution string `json:"executionContextName"`
		Context   int64  `json:"contextId"`
		ContextID int64  `json:"executionContextId"`
		Unique    string `json:"uniqueContextId"`

		CommandLine bool `json:"includeCommandLineAPI"`
	}
	if err := cmd.decode(&p); err != nil {
		return false, err
	}
	for _, name := range []string{p.Name, p.World, p.Execution} {
		if session.ReservedName(name) {
			return false, refuse(cmd.method, "the name is the server's own")
		}
	}
	for _, id := range []int64{p.Context, p.ContextID} {
		if id != 0 && c.raw.Reserved(on.target, id, "") {
			return false, refuse(cmd.method, "the world is the server's own")
		}
	}
	if p.Unique != "" && c.raw.Reserved(on.target, 0, p.Unique) {
		return false, refuse(cmd.method, "the world is the server's own")
	}
	if p.CommandLine {
		return withoutCommandLine(c, cmd, on)
	}
	return false, nil
}

// withoutCommandLine takes the command line API from a program's code: debug() would run
// a condition in functions that all worlds share, and code may keep it until the program
// has a debugger.
func withoutCommandLine(_ *Client, cmd *call, _ attached) (bool, error) {
	o, err := cmd.object()
	if err != nil || o["includeCommandLineAPI"] == nil {
		return false, err
	}
	delete(o, "includeCommandLineAPI")
	return false, cmd.set(o)
}

// actsAtOnce reports whether a command that adds a script for later documents also
// runs it in those that are there. An empty script does nothing in them: programs
// send one to make a world.
func actsAtOnce(cmd *call) bool {
	if cmd.method != page.AddScriptToEvaluateOnNewDocument.Method {
		return false
	}
	var p struct {
		Source string `json:"source"`
		Now    bool   `json:"runImmediately"`
	}
	return cmd.decode(&p) == nil && p.Now && p.Source != ""
}

// notAtOnce makes a script wait for later documents: at once, it could reach the page
// that has opened this one.
func notAtOnce(cmd *call) error {
	o, err := cmd.object()
	if err != nil {
		return err
	}
	delete(o, "runImmediately")
	return cmd.set(o)
}
