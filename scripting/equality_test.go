package scripting

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestEquality checks values under toEqual, toStrictEqual and toMatchObject: 1
// means equal, 0 not equal, and E that the matcher refuses its arguments.
func TestEquality(t *testing.T) {
	p := newPool(t, Limits{})
	cases := []struct{ name, a, b, want string }{
		{"holes", `[,1]`, `[undefined,1]`, "101"},
		{"holes inside", `[1,,3]`, `[1,undefined,3]`, "101"},
		{"length", `[1,undefined]`, `[1]`, "101"},
		{"fields that are undefined", `{a:undefined}`, `{}`, "101"},
		{"the same, inside", `[{a:undefined}]`, `[{}]`, "101"},
		{"order in a map", `new Map([[1,2],[3,4]])`, `new Map([[3,4],[1,2]])`, "111"},
		{"objects in a set", `new Set([{a:1}])`, `new Set([{a:1}])`, "111"},
		{"order in a set", `new Set([1,2])`, `new Set([2,1])`, "111"},
		{"objects as keys", `new Map([[{a:1},1]])`, `new Map([[{a:1},1]])`, "111"},
		{"undefined in a map", `new Map([['a',undefined]])`, `new Map([['b',undefined]])`, "000"},
		{"maps inside", `{m:new Map([['a',{b:1}]])}`, `{m:new Map([['a',{b:1}]])}`, "111"},
		{"invalid dates", `new Date(NaN)`, `new Date(NaN)`, "000"},
		{"zeros", `0`, `-0`, "00E"},
		{"NaN", `NaN`, `NaN`, "11E"},
		{"boxed number", `new Number(1)`, `1`, "00E"},
		{"boxed string", `new String('a')`, `'a'`, "00E"},
		{"boxed booleans", `Object(true)`, `Object(true)`, "111"},
		{"symbols as keys", `{[Symbol.for('a')]:1}`, `{[Symbol.for('a')]:2}`, "000"},
		{"messages of errors", `new Error('a')`, `new Error('a')`, "111"},
		{"causes of errors", `new Error('a',{cause:1})`, `new Error('a',{cause:2})`, "111"},
		{"fields of errors", `Object.assign(new Error('a'),{x:1})`, `new Error('a')`, "111"},
		{"classes of errors", `new RangeError('a')`, `new TypeError('a')`, "101"},
		{"an error and an object", `new Error('a')`, `{message:'a'}`, "001"},
		{"an object and an error", `{message:'a'}`, `new Error('a')`, "000"},
		{"buffers", `Buffer.from('a')`, `Buffer.from('a')`, "111"},
		{"a buffer and bytes", `Buffer.from('a')`, `new Uint8Array([97])`, "101"},
		{"bytes and numbers", `new Uint8Array([1])`, `[1]`, "000"},
		{"array buffers", `new Uint8Array([1]).buffer`, `new Uint8Array([2]).buffer`, "101"},
		{"data views", `new DataView(new ArrayBuffer(1))`, `new DataView(new ArrayBuffer(1))`, "111"},
		{"floats", `new Float32Array([NaN])`, `new Float32Array([NaN])`, "111"},
		{"functions", `()=>1`, `()=>1`, "00E"},
		{"fields of an array", `Object.assign([1],{x:1})`, `[1]`, "000"},
		{"hidden fields", `Object.defineProperty({},'a',{value:1})`, `{}`, "111"},
		{"inherited fields", `Object.create({a:1})`, `{}`, "111"},
		{"getters", `{get a(){return 1}}`, `{a:1}`, "111"},
		{"generators", `(function*(){yield 1})()`, `(function*(){yield 1})()`, "111"},
		{"patterns", `/a/`, `/a/`, "111"},
		{"URLs", `new URL('http://a/')`, `new URL('http://a/')`, "111"},
		{"no prototype", `Object.create(null)`, `{}`, "101"},
		{"arguments", `(function(){return arguments})(1)`, `[1]`, "000"},
		{"classes", `new (class A{a=1})()`, `{a:1}`, "101"},
		{"bigints", `1n`, `1`, "00E"},
		{"promises", `Promise.resolve(1)`, `Promise.resolve(1)`, "001"},
		{"weak maps", `new WeakMap()`, `new WeakMap()`, "111"},
		{"itself", `(()=>{const c={a:1};c.self=c;return c})()`, `(()=>{const c={a:1};c.self=c;return c})()`, "111"},
		{"itself in a map", `(()=>{const c=new Map();c.set(1,c);return c})()`, `(()=>{const c=new Map();c.set(1,c);return c})()`, "111"},
		{"a part", `{a:1,b:{c:1}}`, `{b:{c:1}}`, "001"},
		{"part of an array", `{a:[1,2,3]}`, `{a:[1,2]}`, "000"},
		{"parts in an array", `[{a:1,b:1}]`, `[{a:1}]`, "001"},
		{"undefined in a part", `{}`, `{a:undefined}`, "100"},
		{"a matcher in a part", `{a:{b:1}}`, `{a:expect.any(Object)}`, "111"},
		{"inherited part", `Object.create({a:1})`, `{a:1}`, "001"},
		{"other number of parts", `{a:[{b:1},{c:2}]}`, `{a:[{b:1}]}`, "000"},
		{"parts in a set", `{a:new Set([{b:1,c:1}])}`, `{a:new Set([{b:1}])}`, "001"},
		{"an array for an object", `{a:1}`, `[]`, "000"},
	}
	var code strings.Builder
	code.WriteString(`const verdict = (a, b) => ['toEqual', 'toStrictEqual', 'toMatchObject'].map(m => {
		try { expect(a())[m](b()); return '1'; } catch (e) { return /Matcher error/.test(e.message) ? 'E' : /^expect\(received\)/.test(e.message) ? '0' : e.message; } }).join('');
	return [`)
	for _, c := range cases {
		fmt.Fprintf(&code, "verdict(() => (%s), () => (%s)),\n", c.a, c.b)
	}
	code.WriteString("]")
	var got []string
	if err := json.Unmarshal([]byte(mustSucceed(t, p, newWorld(), code.String())), &got); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if got[i] != c.want {
			t.Errorf("%s: %s and %s: got %s, want %s", c.name, c.a, c.b, got[i], c.want)
		}
	}
}

// TestAsymmetric checks which values asymmetric matchers match.
func TestAsymmetric(t *testing.T) {
	p := newPool(t, Limits{})
	for code, want := range map[string]string{
		`[[Number,1],[String,'a'],[Boolean,true],[Object,{}],[Function,()=>1],[Symbol,Symbol()],[BigInt,1n],[Array,[]],[Object,null],[Number,new Number(1)],[Map,new Map()],[Object,[]],[Object,Object.create(null)]].every(([t, v]) => expect.any(t).asymmetricMatch(v))`:                 "true",
		`[[Number,'1'],[String,1],[Object,()=>1],[Array,{}],[Map,new Set()],[Function,{}]].some(([t, v]) => expect.any(t).asymmetricMatch(v))`:                                                                                                                                             "false",
		`[expect.anything().asymmetricMatch(0), expect.anything().asymmetricMatch(null), expect.anything().asymmetricMatch(undefined)]`:                                                                                                                                                    "[true,false,false]",
		`[expect.closeTo(1.005).asymmetricMatch(1.006), expect.closeTo(1).asymmetricMatch('1'), expect.closeTo(1, 0).asymmetricMatch(1.4), expect.not.closeTo(1).asymmetricMatch(2)]`:                                                                                                      "[true,false,true,true]",
		`[expect.stringMatching('a.c').asymmetricMatch('xabcx'), expect.stringMatching(/^b/).asymmetricMatch('abc'), expect.not.stringContaining('x').asymmetricMatch('abc'), expect.not.stringContaining('x').asymmetricMatch(5)]`:                                                        "[true,false,true,true]",
		`[expect.arrayContaining([]).asymmetricMatch([]), expect.arrayContaining([1,{a:2}]).asymmetricMatch([{a:2},0,1]), expect.not.arrayContaining([3]).asymmetricMatch([1]), expect.arrayOf(expect.any(Number)).asymmetricMatch([1,2]), expect.arrayOf(1).asymmetricMatch([1,2])]`:      "[true,true,true,true,false]",
		`[expect.objectContaining({a:expect.anything()}).asymmetricMatch({a:1,b:2}), expect.objectContaining({a:undefined}).asymmetricMatch({}), expect.objectContaining({toString:expect.any(Function)}).asymmetricMatch({}), expect.not.objectContaining({a:1}).asymmetricMatch({a:2})]`: "[true,false,true,true]",
	} {
		if got := mustSucceed(t, p, newWorld(), "return "+code); got != want {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}
