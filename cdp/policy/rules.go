package policy

import (
	"strings"

	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
)

// rule checks the parameters of a command, and may change them.
type rule func(s *Scope, cmd *Command, o Object) (changed bool, err error)

// ruled is the rule of a command. With members, it is needed only if one of these parameters
// is there.
type ruled struct {
	check   rule
	members []string
}

// rules are the rules of commands that need more than the table and the check of the
// worlds that they name. Those that programs send most name the members they are about.
var rules = map[string]ruled{
	page.Navigate.Method:               {check: checkURL},
	network.LoadNetworkResource.Method: {check: checkURL},
	fetch.ContinueRequest.Method:       {check: checkURL},
	target.CreateTarget.Method:         {check: checkURL},
	fetch.FulfillRequest.Method:        {check: responseHead},
	fetch.ContinueResponse.Method:      {check: responseHead},

	input.DispatchKeyEvent.Method: {check: pressKey},

	runtime.Evaluate.Method:       inWorld("contextId"),
	runtime.CallFunctionOn.Method: inWorld("executionContextId"),
	runtime.RunScript.Method:      {check: runScript},
	runtime.AddBinding.Method:     {check: addBinding},
	runtime.RemoveBinding.Method:  {check: removeBinding},

	page.CreateIsolatedWorld.Method:              {check: makeWorld},
	page.AddScriptToEvaluateOnNewDocument.Method: {check: makeWorld},

	debugger.EvaluateOnCallFrame.Method: {check: withoutCommandLine},
}

// commandLine is the parameter that gives a program's code the command line API.
const commandLine = "includeCommandLineAPI"

// Writes reports whether a command changes what a person sees or works with. A script for
// later documents that also runs at once does; an empty one does nothing, and programs
// send one to make a world.
func Writes(method string, params []byte) bool {
	if method != page.AddScriptToEvaluateOnNewDocument.Method {
		m, _ := Find(method)
		return m.Writes
	}
	var p struct {
		Source string `json:"source"`
		Now    bool   `json:"runImmediately"`
	}
	return Decode(params, &p) == nil && p.Now && p.Source != ""
}

// HasRule reports whether package policy has a rule for a command, besides the table and
// the check of the worlds that it names.
func HasRule(method string) bool {
	m, known := Find(method)
	return known && (rules[method].check != nil || m.Draws || needsPause[method])
}

// checkURL replaces an address by the form that was checked.
func checkURL(s *Scope, cmd *Command, o Object) (bool, error) {
	const name = "url"
	if o[name] == nil {
		return false, nil
	}
	text, ok := o.Text(name)
	if !ok {
		return false, Refuse(cmd.Method.Name, name+": string value expected")
	}
	address, err := s.host.Address(text)
	if err != nil {
		return false, err
	}
	return true, o.Put(name, address)
}

// responseHead refuses the head of a response that would redirect the browser to an
// address that the program may not open.
func responseHead(s *Scope, cmd *Command, o Object) (bool, error) {
	if len(o["binaryResponseHeaders"]) > 0 {
		return false, Refuse(cmd.Method.Name, "use responseHeaders") // whose values are checked
	}
	var head []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if err := Decode(o["responseHeaders"], &head); err != nil {
		return false, err
	}
	for _, h := range head {
		if !strings.EqualFold(h.Name, "location") {
			continue
		}
		value := strings.ReplaceAll(strings.TrimSpace(h.Value), `\`, "/")
		if strings.HasPrefix(value, "//") {
			value = "http:" + value
		}
		if _, err := s.host.Address(value); err != nil {
			return false, err
		}
	}
	return false, nil
}

// KeyCategories are the categories of traces whose events contain the keys that somebody
// presses. No trace has them.
var KeyCategories = []string{"latency", "disabled-by-default-devtools.timeline.inputs"}

// pressKey turns a rawKeyDown into a keyDown, which the page cannot tell apart, because
// Chromium's own shortcuts would run.
func pressKey(_ *Scope, _ *Command, o Object) (bool, error) {
	if kind, _ := o.Text("type"); kind != "rawKeyDown" {
		return false, nil
	}
	return true, o.Put("type", "keyDown")
}

// runScript refuses a world's number: no unique id can stand for it here.
func runScript(s *Scope, cmd *Command, o Object) (bool, error) {
	if len(o["executionContextId"]) > 0 && !s.open {
		return false, Refuse(cmd.Method.Name+" with executionContextId", "another world may have this number when the command arrives; use Runtime.evaluate")
	}
	return withoutCommandLine(s, cmd, o)
}

// withoutCommandLine takes the command line API from a program's code: its debug() would
// run a condition in functions that all worlds share.
func withoutCommandLine(_ *Scope, _ *Command, o Object) (bool, error) {
	return o.remove(commandLine), nil
}
