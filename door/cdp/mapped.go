package cdp

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	cdpio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/cdproto/tracing"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/cdp/policy"
)

// mapping changes a command before it is sent. It returns true if it has answered
// the command itself, or will.
type mapping func(c *Client, cmd *call, on attached) (done bool, err error)

// mappings are the commands that this package changes or answers; package policy has
// rules for others.
var mappings map[string]mapping

func init() { //nolint:gochecknoinits // a map of functions that use it would be a cycle
	mappings = map[string]mapping{
		browser.Close.Method:               closeBrowser,
		browser.SetDownloadBehavior.Method: setDownloads,
		"Page.setDownloadBehavior":         setDownloads,

		dom.SetFileInputFiles.Method:   setFiles,
		input.DispatchDragEvent.Method: dropFiles,

		page.HandleJavaScriptDialog.Method: answerDialog,
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
	}
}

// object decodes the parameters.
func (cmd *call) object() (policy.Object, error) { return policy.ReadObject(cmd.params) }

// decode decodes the parameters. The error names the one that is wrong.
func (cmd *call) decode(into any, options ...jsonv2.Options) error {
	return policy.Decode(cmd.params, into, options...)
}

// set replaces the parameters.
func (cmd *call) set(o policy.Object) (err error) {
	cmd.params, err = o.Encode()
	return err
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
	behavior, ok := o.Text("behavior")
	if !ok {
		return false, wrong("behavior: string value expected")
	}
	context, _ := o.Text("browserContextId")
	if cmd.method != browser.SetDownloadBehavior.Method {
		context = c.raw.ContextOf(on.target)
	}
	folder := c.raw.DownloadsFolder(context)
	if behavior != "deny" {
		if err := o.Put("behavior", browser.SetDownloadBehaviorBehaviorAllowAndName); err != nil {
			return false, err
		}
		if err := o.Put("downloadPath", folder); err != nil {
			return false, err
		}
	}
	if cmd.method != browser.SetDownloadBehavior.Method { // Page.setDownloadBehavior names no context, and cannot name files by their id
		cmd.method = browser.SetDownloadBehavior.Method
		cmd.on = c.raw.Browser()
		if err := o.Put("browserContextId", context); err != nil {
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
	data := policy.Object{}
	if err := policy.Decode(o["data"], &data); err != nil {
		return false, err
	}
	if len(data["files"]) == 0 {
		return false, cmd.set(o)
	}
	if err := c.mapFiles(data); err != nil {
		return false, err
	}
	if err := o.Put("data", data); err != nil {
		return false, err
	}
	return false, cmd.set(o)
}

// mapFiles replaces the paths in a list "files".
func (c *Client) mapFiles(o policy.Object) error {
	var names []string
	if err := jsonv2.Unmarshal(o["files"], &names); err != nil {
		return wrong("files: array of strings expected")
	}
	paths, err := c.raw.FilePaths(names)
	if err != nil {
		return err
	}
	return o.Put("files", paths)
}

// answerDialog remembers which dialog is meant.
func answerDialog(_ *Client, cmd *call, on attached) (bool, error) {
	cmd.dialogs = on.dialogs
	return false, nil
}

// draw sends a command that draws a page. It waits while a person is in a secret field of the
// page. Only one picture of a page is taken at a time, so a screenshot waits for others. The error is the reply.
func (c *Client) draw(cmd *call, on attached) error {
	if err := c.count(cmd, len(cmd.params)); err != nil {
		return err
	}
	if !c.raw.Veiled(on.target) {
		if done, ok := c.tryShooting(cmd, on); ok {
			return c.shoot(cmd, done)
		}
	}
	c.work.Go(func() {
		done, err := c.awaitShooting(cmd, on)
		if err == nil {
			err = c.shoot(cmd, done)
		} else {
			c.uncount(cmd)
		}
		if err != nil {
			c.reply(cmd, nil, err)
		}
	})
	return nil
}

// tryShooting takes the turn that a command needs. ok is false while others have it.
func (c *Client) tryShooting(cmd *call, on attached) (done func(error), ok bool) {
	if cmd.method != page.CaptureScreenshot.Method {
		return func(error) {}, true
	}
	return c.raw.TryShooting(on.target)
}

// awaitShooting waits until the command may be sent, and takes the turn that it needs. One
// command of a client waits for a turn at a time, so that others get theirs.
func (c *Client) awaitShooting(cmd *call, on attached) (done func(error), err error) {
	for {
		if err := c.raw.AwaitUnveiled(c.ctx, on.target); err != nil {
			return nil, err
		}
		if cmd.method != page.CaptureScreenshot.Method {
			return func(error) {}, nil
		}
		c.shooting.Lock()
		done, err = c.raw.Shooting(c.ctx, on.target)
		c.shooting.Unlock()
		if err != nil || !c.raw.Veiled(on.target) {
			return done, err
		}
		done(nil)
	}
}

// shoot sends a command that draws a page in the client's turn, which the reply ends.
func (c *Client) shoot(cmd *call, done func(error)) error {
	stop := context.AfterFunc(c.ctx, func() { done(context.Cause(c.ctx)) })
	cmd.shot = func() {
		stop()
		done(nil)
	}
	_, err := c.post(cmd)
	if err != nil {
		c.uncount(cmd)
		cmd.shot()
	}
	return err
}

// createTarget opens a page. A hidden one would be taken for one of the server's.
func createTarget(_ *Client, cmd *call, _ attached) (bool, error) {
	o, err := cmd.object()
	if err != nil {
		return false, err
	}
	if string(o["hidden"]) == "true" {
		return false, policy.Refuse(cmd.method, "pages are not hidden from the people of a session")
	}
	return false, nil
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
			return false, policy.Refuse(cmd.method+" with "+name, reason)
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
			return nil, &policy.RefusedError{Code: policy.CodeServer, Message: "the list of targets cannot be read"}
		}
		list.Infos = slices.DeleteFunc(list.Infos, func(raw jsontext.Value) bool {
			var info targetInfo
			return !decode(raw, &info) || c.targets.isStrange(info)
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
		o := policy.Object{}
		var ids []string
		if !decode(result, &o) || !decode(o["browserContextIds"], &ids) {
			return nil, &policy.RefusedError{Code: policy.CodeServer, Message: "the list of contexts cannot be read"}
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return ours[id] && !open[id] })
		if err := o.Put("browserContextIds", ids); err != nil {
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
	if c.targets.isStrange(told.Info) {
		return false, &policy.RefusedError{Code: policy.CodeParams, Message: "No target with given id found"}
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
	if err := o.Put("flatten", true); err != nil {
		return false, err
	}
	return false, cmd.set(o)
}

// actsAtOnce reports whether a command that adds a script for later documents also runs
// it in those that are there.
func actsAtOnce(cmd *call) bool {
	return cmd.method == page.AddScriptToEvaluateOnNewDocument.Method && policy.Writes(cmd.method, cmd.params)
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
