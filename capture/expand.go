package capture

import (
	"context"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
	"takeover/text"
)

const (
	// maxDepth is how deep the background log shows objects.
	maxDepth = 3
	// maxMembers bounds the shown members of an object.
	maxMembers = 100
	// maxExpansions bounds the requests to the browser for one line.
	maxExpansions = 30
)

// expansion shows the objects of one line. V8's previews describe flat objects.
// Deeper properties are requested one by one. Requesting them does not call
// getters or run any other code of the page.
type expansion struct {
	ctx     context.Context
	session *cdp.Session
	calls   int // number of requests left
}

// structured reports whether a value is an object, an array or a number.
func structured(o *remoteObject) bool {
	switch o.Type {
	case "number":
		return o.Unserializable == ""
	case "object":
		return o.Subtype != "null" && !opaque(o.Subtype)
	}
	return false
}

// opaque reports whether an object is shown by its description.
func opaque(subtype string) bool {
	switch subtype {
	case "error", "node", "regexp", "date", "proxy", "promise", "weakmap", "weakset", "generator":
		return true
	}
	return false
}

// word returns a value as part of a line: objects and arrays as JSON, everything
// else as text.
func (x *expansion) word(o *remoteObject) string {
	if o.Type == "object" && o.Subtype != "null" && !opaque(o.Subtype) {
		return string(x.append(nil, o, 1, nil))
	}
	return o.text(false)
}

// append appends an object as JSON. above lists the ids of the objects that
// contain it.
func (x *expansion) append(b []byte, o *remoteObject, depth int, above []string) []byte {
	switch {
	case o.Type != "object" || o.Subtype == "null" || opaque(o.Subtype):
		value, _ := o.json()
		return append(b, value...)
	case depth > maxDepth:
		return text.AppendQuoted(b, o.Description)
	case o.Preview != nil && !o.Preview.Overflow && o.Preview.flat():
		b, _ = o.Preview.appendJSON(b)
		return b
	}
	members := x.members(o)
	if members == nil {
		if o.Preview != nil {
			b, _ = o.Preview.appendJSON(b)
			return b
		}
		return text.AppendQuoted(b, o.Description)
	}
	above = append(above, o.ObjectID)
	circles := x.circles(members, above)
	list := o.Subtype == "array" || o.Subtype == "typedarray"
	open, end := byte('{'), byte('}')
	if list {
		open, end = '[', ']'
	}
	b = append(b, open)
	for i := range members {
		if i > 0 {
			b = append(b, ',')
		}
		m := &members[i]
		if !list {
			b = append(text.AppendQuoted(b, m.name), ':')
		}
		switch {
		case m.value == nil:
			b = append(b, `"[Getter]"`...)
		case circles[i]:
			b = append(b, `"[Circular]"`...)
		default:
			b = x.append(b, m.value, depth+1, above)
		}
	}
	return append(b, end)
}

// flat reports whether each object in a preview has a preview of its own, unless
// it is shown by its description.
func (p *preview) flat() bool {
	for i := range p.Properties {
		q := &p.Properties[i]
		if q.Type == "object" && q.Nested == nil && q.Subtype != "null" && !opaque(q.Subtype) {
			return false
		}
	}
	return true
}

// member is a property of an object. An accessor has no value.
type member struct {
	name  string
	value *remoteObject
}

// members requests an object's enumerable own properties. It returns nil when
// that fails, for maps and sets, and when there are far too many.
func (x *expansion) members(o *remoteObject) []member {
	if o.ObjectID == "" || len(o.previewEntries()) > 0 || o.Preview != nil && o.Preview.Overflow && !x.few(o) {
		return nil
	}
	var answer struct {
		Result []struct {
			Name       string        `json:"name"`
			Enumerable bool          `json:"enumerable"`
			Own        bool          `json:"isOwn"`
			Value      *remoteObject `json:"value"`
			Symbol     *remoteObject `json:"symbol"`
		} `json:"result"`
	}
	if !x.call(runtime.GetProperties.Method, map[string]any{"objectId": o.ObjectID, "ownProperties": true, "generatePreview": true}, &answer) {
		return nil
	}
	list := []member{}
	for _, p := range answer.Result {
		if !p.Enumerable || !p.Own || p.Symbol != nil {
			continue
		}
		if len(list) == maxMembers {
			return append(list, member{"…", &remoteObject{Type: "string", Value: jsonValue(`"…"`)}})
		}
		list = append(list, member{p.Name, p.Value})
	}
	return list
}

func (o *remoteObject) previewEntries() []previewEntry {
	if o.Preview == nil {
		return nil
	}
	return o.Preview.Entries
}

// few reports whether an object whose preview is incomplete has few enough
// members to show. Arrays with an incomplete preview have too many.
func (x *expansion) few(o *remoteObject) bool {
	if o.Subtype != "" {
		return false
	}
	n, err := strconv.Atoi(x.ask(o.ObjectID, `function() { let n = 0; for (const k in this) if (++n > 200) break; return "" + n }`, nil))
	return err == nil && n <= 2*maxMembers
}

// circles reports for each member whether it is one of the enclosing objects.
func (x *expansion) circles(members []member, above []string) []bool {
	circles := make([]bool, len(members))
	var ids []string
	var at []int
	for i, m := range members {
		if m.value != nil && m.value.Type == "object" && m.value.ObjectID != "" && !opaque(m.value.Subtype) {
			ids, at = append(ids, m.value.ObjectID), append(at, i)
		}
	}
	if len(ids) == 0 {
		return circles
	}
	// Only comparisons, because the page could have replaced any function.
	found := x.ask(above[0], `function(n, ...all) {
		let found = "";
		for (let i = n; i < all.length; i++) for (let k = 0; k < n; k++) if (all[i] === all[k]) { found += (i - n) + " "; break; }
		return found;
	}`, append(append([]string{}, above...), ids...), len(above))
	for _, word := range strings.Fields(found) {
		if i, err := strconv.Atoi(word); err == nil && i >= 0 && i < len(at) {
			circles[at[i]] = true
		}
	}
	return circles
}

// ask calls one of our functions on an object. The function must not have side
// effects. Its arguments are the numbers, followed by the objects.
func (x *expansion) ask(on, function string, objects []string, numbers ...int) string {
	args := []map[string]any{}
	for _, n := range numbers {
		args = append(args, map[string]any{"value": n})
	}
	for _, id := range objects {
		args = append(args, map[string]any{"objectId": id})
	}
	var answer struct {
		Result remoteObject `json:"result"`
	}
	if !x.call(runtime.CallFunctionOn.Method, map[string]any{
		"objectId": on, "functionDeclaration": function, "arguments": args, "returnByValue": true, "silent": true, "throwOnSideEffect": true,
	}, &answer) || answer.Result.Type != "string" {
		return ""
	}
	return answer.Result.stringValue()
}

// call sends a request to the browser, if any are left.
func (x *expansion) call(method string, params, answer any) bool {
	if x.calls == 0 {
		return false
	}
	x.calls--
	var raw jsonValue
	return x.session.Call(x.ctx, method, params, &raw) == nil && decode(raw, answer) == nil
}
