package automation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strings"
)

// operation is one row of the table. One that writes changes the page or sends
// it input, and waits for the client's gate before it runs.
type operation struct {
	writes bool
	run    func(ctx context.Context, c *Client, params json.RawMessage) (any, error)
}

// operations is the table: what a client can be asked to do, by name.
//
// Parameters are a JSON object; a field that the operation does not know is
// refused by name. timeout is in milliseconds, 0 or absent for none. Positions
// and sizes are in CSS pixels.
//
//   - A target is {frame, selector, strict}, or {handle} for an element handle,
//     or {handle, selector} for what is found under one. Each operation on a
//     target exists as frame.<name> and as handle.<name>; they are the same.
//   - An arg is {value, handles}: a value tagged by automation/page/serialize.ts
//     and the ids of the handles that {h: index} stands for.
//   - A handle comes as {handle, preview, element}: id, text as JSHandle.toString
//     gives it, and whether it is an element.
//   - A value that was evaluated comes as {value}, tagged; what is read of an
//     element comes as {value}, plain.
//
// Errors have a name (TimeoutError, TargetClosedError, Error) and Playwright's
// words without the API's prefix: "Timeout 30000ms exceeded.\nCall log:\n  - …".
var operations map[string]operation

// The table is filled by init because operations call the client, which reads it.
func init() {
	operations = map[string]operation{
		// {} → {browser:{name,version}, context:{id}, pages:[PageInit], activePage}; events are told from here on.
		"init":       op(false, opInit),
		"activePage": op(false, opActivePage), // {} → {page} that people look at, or empty
		// {} → {context} an incognito one; ended by context.close or with the client.
		"browser.newContext": op(true, opNewContext),
		"context.close":      op(true, opCloseContext),
		"context.newPage":    op(true, opNewPage),

		"page.close":           op(true, opPageClose),
		"page.bringToFront":    op(true, opBringToFront),
		"page.reload":          op(true, opReload),
		"page.goBack":          op(true, opGoBack),
		"page.goForward":       op(true, opGoForward),
		"page.setViewportSize": op(true, opSetViewport),
		"page.hideHighlight":   op(false, opHideHighlights),
		"page.pdf":             op(false, opPDF),            // {page,scale,paperWidth,marginTop,…: inches} → {data}
		"page.waitForSettled":  op(false, opWaitForSettled), // {page,timeout}
		"page.requestGC":       op(false, opRequestGC),      // {page}
		// {page,type,quality,fullPage,clip,omitBackground,scale,caret,animations,style,mask:[targets],maskColor,timeout} → {data}
		// One that changes more than the caret waits for the gate.
		"page.screenshot": op(false, opPageScreenshot),

		// {page|context}: WebSockets that pages make from now on are Playwright's, see opMockWebSockets.
		"mockWebSockets": op(true, opMockWebSockets),
		"page.requests":  op(false, opPageRequests), // {page} → {requests:[requestInit]}
		// {page|context, patterns:[regular expression|null]}: route {request: requestInit} is told, and must be answered.
		"page.setRoutes":    op(false, opSetRoutes),
		"context.setRoutes": op(false, opSetRoutes),
		// A page that waits for its route stands still for a person, too: these do not wait for the gate.
		"route.continue":              op(false, opRouteContinue),
		"route.fulfill":               op(false, opRouteFulfill),
		"route.abort":                 op(false, opRouteAbort),
		"page.setExtraHTTPHeaders":    op(true, opPageHeaders),
		"context.setExtraHTTPHeaders": op(true, opContextHeaders),
		"context.setOffline":          op(true, opSetOffline),
		"context.setHTTPCredentials":  op(true, opSetCredentials),

		// dialog.opened {dialog,page,type,message,defaultValue} is told to a client that listens; then it must answer.
		// {page|context, event: "dialog"|"console"|"pageerror"|"filechooser", on}: events of the kind are told only to who listens
		"listen":         op(false, opListen),
		"dialog.accept":  op(true, opDialogAccept),  // {dialog, text}
		"dialog.dismiss": op(true, opDialogDismiss), // {dialog}

		// {page,filter: "all"|"since-navigation"} → {messages:[as console is told]}, {errors:[as pageerror is told]}
		"page.consoleMessages":      op(false, opConsoleMessages),
		"page.pageErrors":           op(false, opPageErrors),
		"page.clearConsoleMessages": op(false, opClearConsole),
		"page.clearPageErrors":      op(false, opClearErrors),

		// {page|context,source,now} or {page|context,code,arg,functions} → {script}; it ends with the client at the latest
		"addInitScript":    op(true, opAddInitScript),
		"removeInitScript": op(true, opRemoveInitScript), // {script}
		// {page|context,name} → {binding}: a function of pages whose calls are told as
		// binding.called {binding,call,page,frame,args:[tagged]}; each wants one binding.settle {call,ok,value: arg}.
		"expose":         op(true, opExpose),
		"unexpose":       op(true, opUnexpose),      // {binding}
		"makeFunction":   op(false, opPageFunction), // {frame|handle} → {binding, handle}: the same without a name
		"binding.settle": op(false, opSettle),

		// {page,frame,selector,noWaitAfter} → {handler}; overlay {handler} is told when the element is visible before
		// an action or an expectation, which goes on after page.locatorHandled {handler,remove}.
		"page.addLocatorHandler": op(false, opAddOverlayHandler),
		"page.locatorHandled":    op(false, opOverlayHandled),
		// {context, method: "install"|"fastForward"|"runFor"|"pauseAt"|"resume"|"setFixedTime"|"setSystemTime", value in ms}
		"clock": op(true, opClock),

		"download.wait":   op(false, opDownloadWait),   // {download} → {name,failure} when it has ended
		"download.cancel": op(false, opDownloadCancel), // {download}
		"download.delete": op(false, opDownloadDelete), // {download}
		"download.saveAs": op(false, opDownloadSaveAs), // {download,to}

		"worker.evaluate":       op(true, opWorkerEvaluate), // {worker,expression,isFunction,arg}
		"worker.evaluateHandle": op(true, opWorkerEvaluateHandle),

		"files.write":  op(false, opFilesWrite),  // {name,data(base64)} → {name,size}: in place of one of the same name
		"files.read":   op(false, opFilesRead),   // {name,entry} → {data(base64)}: the file's, or of a .zip the first entry's whose name fits
		"files.copy":   op(false, opFilesCopy),   // {name,to} → {name,size}
		"files.delete": op(false, opFilesDelete), // {name}

		"keyboard.down":       op(true, opKeyboardDown),
		"keyboard.up":         op(true, opKeyboardUp),
		"keyboard.press":      op(true, opKeyboardPress),
		"keyboard.type":       op(true, opKeyboardType),
		"keyboard.insertText": op(true, opKeyboardInsertText),
		"mouse.move":          op(true, opMouseMove),
		"mouse.down":          op(true, opMouseDown),
		"mouse.up":            op(true, opMouseUp),
		"mouse.click":         op(true, opMouseClick),
		"mouse.dblclick":      op(true, opMouseDblclick),
		"mouse.wheel":         op(true, opMouseWheel),
		"touchscreen.tap":     op(true, opTouchscreenTap),

		"frame.goto":       op(true, opGoto),
		"frame.title":      op(false, opTitle),
		"frame.content":    op(false, opContent),
		"frame.setContent": op(true, opSetContent),
		// {frame, state: "load"|"domcontentloaded"|"networkidle"|"commit", timeout}; also possible from the events alone.
		"frame.waitForLoadState": op(false, opWaitForLoadState),
		"frame.frameElement":     op(false, opFrameElement), // {frame} → handle
		"frame.evaluate":         op(true, opEvaluate),
		"frame.evaluateHandle":   op(true, opEvaluateHandle),
		"frame.addScriptTag":     op(true, opAddScriptTag), // {frame,url,content,type} → handle
		"frame.addStyleTag":      op(true, opAddStyleTag),  // {frame,url,content} → handle
		// {frame,expression,isFunction,arg,polling,timeout} → handle; polling in milliseconds, absent for each animation frame.
		"frame.waitForFunction": op(true, opWaitForFunction),
		// {frame,sourceSelector,targetSelector,strict,sourcePosition,targetPosition,force,trial,steps,timeout}
		"frame.dragAndDrop": op(true, opDragAndDrop),

		"handle.evaluate":       op(true, opHandleEvaluate), // {handle,expression,isFunction,arg} → {value}
		"handle.evaluateHandle": op(true, opHandleEvaluateHandle),
		"handle.jsonValue":      op(false, opJSONValue),
		"handle.dispose":        op(false, opDispose),
		"handle.getProperty":    op(false, opGetProperty),   // {handle,name} → handle
		"handle.getProperties":  op(false, opGetProperties), // {handle} → {properties:[{name, handle, preview, element}]}
		"handle.asElement":      op(false, opAsElement),     // {handle} → {element, preview}, the preview with the element's markup
		"handle.contentFrame":   op(false, opContentFrame),  // {handle} → {frame|null}
		"handle.ownerFrame":     op(false, opOwnerFrame),    // {handle} → {frame|null}
		// {handle,state,timeout}: visible hidden stable enabled disabled editable
		"handle.waitForElementState": op(false, opWaitForElementState),
	}
	maps.Copy(operations, contextOperations)
	maps.Copy(operations, apiOperations)
	maps.Copy(operations, cdpOperations)
	maps.Copy(operations, requestOperations)
	maps.Copy(operations, selectorOperations)
	maps.Copy(operations, recordingOperations)
	for name, o := range targetOperations {
		operations["frame."+name] = o
		operations["handle."+name] = o
	}
}

// targetOperations are those on a target.
var targetOperations = map[string]operation{
	"querySelector":     op(false, opQuerySelector),    // → {handle|null, preview, element}
	"querySelectorAll":  op(false, opQuerySelectorAll), // → {handles:[{handle, preview, element}]}
	"evalOnSelector":    op(true, opEvalOnSelector),
	"evalOnSelectorAll": op(true, opEvalOnSelectorAll),
	// {…,state,timeout,omitReturnValue} → handle, or {handle:null}
	"waitForSelector": op(false, opWaitForSelector),
	// {…,expression,isFunction,arg,timeout} → {value}: waits for the element and calls the function with it in the page's world.
	"evaluateOnElement":       op(true, opEvaluateOnElement),
	"evaluateOnElementHandle": op(true, opEvaluateOnElementHandle),

	"click":    op(true, opClick),
	"dblclick": op(true, opDblclick),
	"hover":    op(true, opHover),
	"tap":      op(true, opTap),
	"check":    op(true, opCheck),
	"uncheck":  op(true, opUncheck),
	"fill":     op(true, opFill),
	"type":     op(true, opType),
	"press":    op(true, opPress),
	"focus":    op(true, opFocus),
	"blur":     op(true, opBlur),
	// {…,options:[{valueOrLabel|value|label|index}],elements:[handle ids]} → {value:[selected values]}
	"selectOption":           op(true, opSelectOption),
	"selectText":             op(true, opSelectText),
	"setInputFiles":          op(true, opSetInputFiles), // {…,files:[{name,mimeType,buffer(base64),lastModifiedMs}]} or {…,names} of files.write
	"dispatchEvent":          op(true, opDispatchEvent), // {…,type,eventInit: arg}
	"scrollIntoViewIfNeeded": op(true, opScrollIntoView),

	"textContent":  op(false, getter("textContent")),
	"innerText":    op(false, getter("innerText")),
	"innerHTML":    op(false, getter("innerHTML")),
	"inputValue":   op(false, getter("inputValue")),
	"getAttribute": op(false, getter("attribute")),
	"isEnabled":    op(false, getter("enabled")),
	"isDisabled":   op(false, getter("disabled")),
	"isEditable":   op(false, getter("editable")),
	"isChecked":    op(false, getter("checked")),
	// → {value}: a selector as Playwright's codegen would write it.
	"generateSelector": op(false, getter("selector")),
	"normalize":        op(false, opNormalize), // → {selector, text}: the same with the frames on the way, and as a locator
	// {…,expression,isFunction,arg,timeout}: until the function is truthy for the element.
	"waitForFunctionOn": op(true, opWaitForFunctionOn),
	"drop":              op(true, opDrop),       // {…,files:[as setInputFiles],data:{type: text},position}
	"highlight":         op(false, opHighlight), // {…,style}
	"hideHighlight":     op(false, opHideHighlight),
	"isVisible":         op(false, opIsVisible),
	"isHidden":          op(false, opIsHidden),
	"count":             op(false, opCount),
	"allInnerTexts":     op(false, opAllInnerTexts),
	"allTextContents":   op(false, opAllTextContents),
	"boundingBox":       op(false, opBoundingBox),      // → {value:{x,y,width,height}|null}, relative to the page's viewport
	"ariaSnapshot":      op(false, opAriaSnapshot),     // {…,mode,depth,boxes} → {value: YAML}
	"ariaSnapshotJSON":  op(false, opAriaSnapshotJSON), // the same as a tree
	"screenshot":        op(true, opElementScreenshot), // it scrolls
	// {…,expression,expressionArg,expectedText,expectedNumber,expectedValue: arg,useInnerText,isNot,timeout}
	// → {matches, received?:{value: tagged, ariaSnapshot}, log:[…], timedOut?, errorMessage?}
	"expect": op(false, opExpect),
}

// op makes an operation of a function with typed parameters.
func op[P any](writes bool, run func(context.Context, *Client, *P) (any, error)) operation {
	return operation{writes: writes, run: func(ctx context.Context, c *Client, params json.RawMessage) (any, error) {
		var p P
		if err := decode(params, &p); err != nil {
			return nil, &Error{Name: "Error", Message: err.Error()}
		}
		return run(ctx, c, &p)
	}}
}

// decode reads an object of parameters strictly.
func decode(params json.RawMessage, into any) error {
	if len(bytes.TrimSpace(params)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
			return errors.New(mismatch(e))
		}
		return fmt.Errorf("bad parameters: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // Token returns it bare
		return fmt.Errorf("bad parameters: more than one value")
	}
	return nil
}

// mismatch says of a parameter that it is of the wrong type, as Playwright does.
func mismatch(e *json.UnmarshalTypeError) string {
	var want string
	switch e.Type.Kind() {
	case reflect.Bool:
		want = "boolean"
	case reflect.String:
		want = "string"
	case reflect.Float32, reflect.Float64:
		want = "float"
	case reflect.Slice, reflect.Array:
		want = "array"
	case reflect.Map, reflect.Struct:
		want = "object"
	default:
		want = "integer"
	}
	got, _, _ := strings.Cut(e.Value, " ") // of a number, the number follows
	if got == "bool" {
		got = "boolean"
	}
	return fmt.Sprintf("%s: expected %s, got %s", strings.TrimPrefix(e.Field, "target."), want, got)
}
