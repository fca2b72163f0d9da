package scripting

import "testing"

// TestModernLanguage checks features of the language that operators use: what
// goja has, what is lowered for it (source/transpile.go), and what the API adds
// (api/node/polyfills.ts).
func TestModernLanguage(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ name, code, want string }{
		{"copying arrays", `return [[3,1,2].toSorted(), [1,2,3].toReversed(), [1,2,3].with(0,9), [1,2,3].toSpliced(0,1), [1,2,3].findLast(x => x < 3), [1,2,3].findLastIndex(x => x < 3), [1,2].at(-1), [[1,[2]]].flat(Infinity)]`,
			`[[1,2,3],[3,2,1],[9,2,3],[2,3],2,1,2,[1,2]]`},
		{"strings", `return ['a-b-c'.replaceAll('-', '+'), 'abc'.isWellFormed(), 'a\ud800'.toWellFormed(), 'x'.padStart(3), ' x '.trimEnd(), 'abc'.at(-1), [...'aXbX'.matchAll(/X/g)].length, 'é'.normalize('NFD').length, 'ﬁ'.normalize('NFKC')]`,
			`["a+b+c",true,"a�","  x"," x","c",2,2,"fi"]`},
		{"sets", `const a = new Set([1,2]), b = new Set([2,3]); return [a.union(b), a.intersection(b), a.difference(b), a.symmetricDifference(b), a.isSubsetOf(b), a.isSupersetOf(new Set([1])), a.isDisjointFrom(new Set([9]))]`,
			`[[1,2,3],[2],[1],[1,3],false,true,true]`},
		{"grouping", `return [Object.groupBy([1,2,3], x => x % 2 ? 'odd' : 'even'), Map.groupBy([1,2,3], x => x % 2).get(1)]`, `[{"odd":[1,3],"even":[2]},[1,3]]`},
		{"promises", `return [await Promise.any([Promise.reject(1), 2]), (await Promise.allSettled([1, Promise.reject(2)])).map(x => x.status), await Promise.try(() => 5), await Promise.race([1, new Promise(() => {})])]`, `[2,["fulfilled","rejected"],5,1]`},
		{"AggregateError", `try { await Promise.any([Promise.reject(1)]) } catch (e) { return [e instanceof AggregateError, e.errors, e.message, e.name] }`, `[true,[1],"All promises were rejected","AggregateError"]`},
		{"causes", `const e = new Error('x', { cause: 'y' }); return [e.cause, new AggregateError([1], 'm', { cause: 2 }).cause, 'cause' in new Error('z')]`, `["y",2,false]`},
		{"classes", `class A { #x = 1; static #p() { return 2 } static has(o) { return #x in o } static s = A.#p(); get y() { return this.#x } set y(v) { this.#x = v } static { this.t = 3 } #m() { return 4 } m() { return this.#m() } async *g() { yield this.#x } }
			const a = new A(); a.y = 7; const out = []; for await (const v of a.g()) out.push(v); return [A.has(a), A.has({}), A.s, A.t, a.y, a.m(), out]`, `[true,false,2,3,7,4,[7]]`},
		{"inheritance", `class Base { constructor(page) { this.page = page } get title() { return 'base' } static create(...a) { return new this(...a) } } class Login extends Base { get title() { return super.title + '!' } button = () => this.page } const l = Login.create(5); return [l.title, l.button(), l instanceof Base, new.target === undefined]`, `["base!",5,true,true]`},
		{"regular expressions", `const m = 'k=v; x=y'.match(/(?<key>\w+)=(?<value>\w+)/); return [m.groups.key, '2020-01'.replace(/(?<y>\d+)-(?<m>\d+)/, '$<m>/$<y>'), /(?<=\$)\d+/.exec('$42')[0], /(?<!\$)\b\d+/.exec('$42 17')[0], /a.b/s.test('a\nb'), /\u{1F600}/u.test('😀'), 'a1b2'.split(/(\d)/)]`,
			`["k","01/2020","42","17",true,true,["a","1","b","2",""]]`},
		{"sticky", `const r = /foo/y; r.lastIndex = 3; const u = /\p{L}+/uy; u.lastIndex = 1; return [r.test('barfoo'), r.lastIndex, u.exec('1äö2')[0]]`, `[true,6,"äö"]`},
		{"indices of matches", `return [...'12'.matchAll(/(?<d>\d)/gd)].map(m => m.indices.groups.d)`, `[[0,1],[1,2]]`},
		{"async iteration", `const it = { async *[Symbol.asyncIterator]() { yield 1; yield* [2, 3] } }; const o = []; for await (const x of it) o.push(x); for await (const x of [Promise.resolve(4)]) o.push(x); return [o, await Array.fromAsync(it), await Array.fromAsync([1, Promise.resolve(2)], x => x * 2)]`, `[[1,2,3,4],[1,2,3],[2,4]]`},
		{"leaving async iteration", `let closed = false; async function* g() { try { yield 1; yield 2 } finally { closed = true } } for await (const x of g()) break; return closed`, `true`},
		{"labels and operators", `let a = null, b = 0, c = 1, n = 0; a ??= 5; b ||= 6; c &&= 7; outer: for (const i of [1,2]) for (const j of [1,2]) { if (j === 2) continue outer; n++ } return [a, b, c, n, a?.b?.c ?? 'none', a?.[0] ?? 1, (void 0)?.() ?? 2, 2 ** 10, 1_000_000, 0b11, 0o17, 10n ** 20n]`,
			`[5,6,7,2,"none",1,2,1024,1000000,3,15,"100000000000000000000"]`},
		{"destructuring", `const { a, ...rest } = { a: 1, b: 2, c: 3 }; const [x, , y = 5, ...z] = [1, 2, undefined, 4]; const fn = ({ p = 1, q: { r } = { r: 2 } } = {}) => p + r; for (const [k, { v }] of Object.entries({ k: { v: 1 } })) z.push(k + v); return [a, rest, x, y, z, fn()]`, `[1,{"b":2,"c":3},1,5,[4,"k1"],3]`},
		{"generators", `function* g() { const x = yield 1; try { yield x } finally { yield 'last' } } const i = g(); return [i.next(), i.next(5), i.return(9), i.next()]`, `[{"value":1,"done":false},{"value":5,"done":false},{"value":"last","done":false},{"value":9,"done":true}]`},
		{"iterator helpers", `return [Iterator.from([1,2,3]).map(x => x * 2).take(2).toArray(), [1,2,3].values().filter(x => x > 1).drop(1).toArray(), new Map([[1,2]]).entries().map(([k, v]) => k + v).toArray(), [1,2].values().flatMap(x => [x, x]).toArray(), [1,2,3].values().reduce((a, b) => a + b), [1,2].values().some(x => x > 1), [].values() instanceof Iterator]`,
			`[[2,4],[3],[3],[1,1,2,2],6,true,true]`},
		{"proxies", `const p = new Proxy({}, { get: (t, k) => k, has: () => true, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) }); return [p.foo, 'z' in p, Object.keys(p), Reflect.ownKeys(p)]`, `["foo",true,["a"],["a"]]`},
		{"weak references", `const r = new WeakRef({ a: 1 }); new FinalizationRegistry(() => {}).register({}, 1); return [r.deref().a, new WeakMap([[r, 1]]).get(r), new WeakSet([r]).has(r)]`, `[1,1,true]`},
		{"typed arrays", `const v = new DataView(new ArrayBuffer(8)); v.setBigInt64(0, 5n); return [new Float64Array([1.5, 2]).at(-1), Array.from(new Uint8ClampedArray([300])), v.getBigInt64(0), new Uint8Array([3,1]).toSorted().join(), new Uint8Array([1,255]).toHex(), Uint8Array.fromBase64('aGk=').length]`, `[2,[255],"5","1,3","01ff",2]`},
		{"tagged templates", "const t = (s, ...v) => s.raw.join('|') + v.join(); return t`a${1}\\n${2}c`", `"a|\\n|c1,2"`},
		{"symbols", `const o = { [Symbol.iterator]: function* () { yield 1 }, get [Symbol.toStringTag]() { return 'Mine' } }; return [[...o], String(o), Symbol('d').description, Symbol.for('x') === Symbol.for('x')]`, `[[1],"[object Mine]","d",true]`},
		{"getters and computed names", `const k = 'x'; const o = { [k + 1]: 1, get y() { return this.x1 + 1 }, async *[Symbol.asyncIterator]() {}, 'quoted-name': 2, 3: 4 }; return [o.x1, o.y, o['quoted-name'], o[3]]`, `[1,2,2,4]`},
		{"closures in loops", `const f = []; for (let i = 0; i < 3; i++) f.push(() => i); return f.map(g => g())`, `[0,1,2]`},
		{"exceptions", `const out = []; try { try { throw new TypeError('a') } finally { out.push('f') } } catch ({ name, message }) { out.push(name, message) } try { null.x } catch { out.push('c') } return out`, `["f","TypeError","a","c"]`},
		{"eval and Function", `const x = 2; return [eval('x + 1'), new Function('a', 'b', 'return a * b')(3, 4), (0, eval)('typeof page'), await new (Object.getPrototypeOf(async function () {}).constructor)('return 5')()]`, `[3,12,"object",5]`},
		{"numbers", `return [(1234.5678).toFixed(2), (255).toString(16), Math.trunc(1.7), Math.hypot(3, 4), Number.isInteger(5), (0.000001234).toString(), (1234.5).toExponential(2), Number('0x1f'), Math.max(...[1, 3]), (25).toString(36)]`, `["1234.57","ff",1,5,true,"0.000001234","1.23e+3",31,3,"p"]`},
		{"dates", `return [new Date('2024-01-02T03:04:05Z').toISOString(), new Date(2024, 0, 31).getMonth(), new Date('Jan 5, 2024 10:00').toISOString(), Number.isNaN(new Date('x').getTime()), Date.UTC(2020, 1, 1)]`, `["2024-01-02T03:04:05.000Z",0,"2024-01-05T10:00:00.000Z",true,1580515200000]`},
		{"JSON", `return [JSON.stringify({ a: [1, { b: undefined, c: () => 1, e: new Date(0), f: NaN }] }), JSON.stringify({ a: 1 }, null, 2), JSON.parse('[1,{"a":null}]', (k, v) => v ?? 'null')]`,
			`["{\"a\":[1,{\"e\":\"1970-01-01T00:00:00.000Z\",\"f\":null}]}","{\n  \"a\": 1\n}",[1,{"a":"null"}]]`},
		{"invalid JSON", `return ['', '<title>One</title>', '{"a":1,}', '{a', '[1 2]', '{"a" 1}', '"x', '01', '1 2', 'undefined', '['.repeat(15) + 'x' + ' '.repeat(15), 'tru', '"\\x"', ' '.repeat(2 << 20) + 'x'].map(text => { try { return JSON.parse(text) } catch (e) { return e instanceof SyntaxError && e.message } })`,
			`["Unexpected end of JSON input","Unexpected token '<', \"<title>One</title>\" is not valid JSON","Expected double-quoted property name in JSON at position 7","Expected property name or '}' in JSON at position 1","Expected ',' or ']' after array element in JSON at position 3","Expected ':' after property name in JSON at position 5","Unterminated string in JSON at position 2","Unexpected number in JSON at position 1","Unexpected non-whitespace character after JSON at position 2","\"undefined\" is not valid JSON","Unexpected token 'x', ...\"[[[[[[[[[[x         \"... is not valid JSON","Unexpected end of JSON input","Bad escaped character in JSON at position 2","invalid character 'x' looking for beginning of value"]`},
		{"JSON.parse as it was", `const own = new SyntaxError('mine'); try { JSON.parse('1', () => { throw own }) } catch (e) { return [e === own || e.message, JSON.parse.name, JSON.parse.length, JSON.parse(' {"a":[1]} ').a] }`, `["mine","parse",2,[1]]`},

		{"TypeScript: types of all kinds", `interface X { a?: number; readonly b: string } type K = keyof X; type M = { [P in K]?: X[P] } & Record<string, unknown>; declare const foo: string; const x: X = { b: 'b' }; const m = { a: 1 } as M satisfies object; function isS(a: unknown): a is string { return typeof a === 'string' } function assertS(a: unknown): asserts a is string {}
			function over(a: string): void; function over(a: number): void; function over(a: any) { return a } function g<const T extends readonly unknown[]>(this: void, ...t: T): T { return t } let v!: string; assertS(v); return [x.b, m.a, isS('x'), over(1), g(1), <number>(5 as unknown), x.a!, x!.b]`, `["b",1,true,1,[1],5,null,"b"]`},
		{"TypeScript: enums and parameter properties", `enum Color { Red = 1, Green } const enum CE { X = 'x' } abstract class B { constructor(private readonly z: number, public w = 2) {} abstract f(): void; get q() { return this.z } declare d: number } class D extends B implements Iterable<number> { override f() {} *[Symbol.iterator]() { yield this.w } } const d = new D(5); return [Color.Green, Color[1], CE.X, d.q, d.w, [...d]]`, `[2,"Red","x",5,2,[2]]`},
		{"TypeScript: arrows with type parameters", `const id = <T,>(x: T): T => x; const p = async <T extends object>(x: T): Promise<T> => x; return [id(1), await p({ a: 1 })]`, `[1,{"a":1}]`},
		{"TypeScript: type imports and exports", "import type { Page } from '@playwright/test';\nimport { type Locator, expect as e } from '@playwright/test';\nexport type X = Page | Locator;\nexport interface Y { x: X }\nexport const z = 1;\nreturn [typeof e, z]", `["function",1]`},

		{"resources", `const out = []; { using a = { [Symbol.dispose]() { out.push('a') } }; await using b = { async [Symbol.asyncDispose]() { out.push('b') } }; out.push('body') } return out`, `["body","b","a"]`},
		{"decorators with arguments", `const seen = []; const log = (m: string) => (v: any, c: ClassMethodDecoratorContext) => function (this: any, ...a: any[]) { seen.push(m + String(c.name)); return v.apply(this, a) }; class A { @log('call ') m(x: number) { return x + 1 } } return [new A().m(1), seen]`, `[2,["call m"]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustSucceed(t, p, newWorld(), c.code); got != c.want {
				t.Errorf("returned %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestGlobals checks the globals of scripts, as in Node and on the web.
func TestGlobals(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ name, code, want string }{
		{"URL", `const u = new URL('?a=1&b=%20#h', 'https://user:p@a.test:8443/x/../y'); u.searchParams.set('c', 'ü'); u.hash = ''; u.port = '443'; return [u.href, u.origin, u.pathname, URL.canParse('nope'), URL.parse('x:y').protocol, String(new URLSearchParams({ q: 'a b' })), [...new URLSearchParams('a=1&a=2')].length, JSON.stringify(u) === JSON.stringify(u.href)]`,
			`["https://user:p@a.test/y?a=1&b=+&c=%C3%BC","https://a.test","/y",false,"x:","q=a+b",2,true]`},
		{"URL of an international name", `return [new URL('https://münchen.test/ü').href, new URL('HTTP://EXAMPLE.test:80/%7Efoo/../a b').href]`, `["https://xn--mnchen-3ya.test/%C3%BC","http://example.test/a%20b"]`},
		{"text", `return [[...new TextEncoder().encode('é😀')], new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 65, 255])), new TextDecoder('utf-16le').decode(new Uint8Array([65, 0, 172, 32])), new TextDecoder('latin1').decode(new Uint8Array([228, 128])), new TextEncoder().encodeInto('aé', new Uint8Array(2)), new TextDecoder('latin1').encoding]`,
			`[[195,169,240,159,152,128],"A�","A€","ä€",{"read":1,"written":1},"windows-1252"]`},
		{"text in pieces", `const d = new TextDecoder(); return d.decode(new Uint8Array([226, 130]), { stream: true }) + d.decode(new Uint8Array([172, 33]), { stream: true }) + d.decode()`, `"€!"`},
		{"invalid text", `try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name }`, `"TypeError"`},
		{"base64", `const bad = []; for (const f of [() => atob('a'), () => btoa('€')]) try { f() } catch (e) { bad.push(e.name, e.code) } return [btoa('hi'), atob(' aGk= '), bad]`, `["aGk=","hi",["InvalidCharacterError",5,"InvalidCharacterError",5]]`},
		{"structuredClone", `const a = { d: new Date(0), m: new Map([[1, { x: 1 }]]), r: /x/g, e: new RangeError('m'), u: new Uint8Array([1]), n: 1n }; a.self = a; const b = structuredClone(a); try { structuredClone(() => {}) } catch (e) { return [b.self === b, b.d.getTime(), b.m.get(1), b.r.flags, b.e.message, b.u[0], b.n, e.name] }`,
			`[true,0,{"x":1},"g","m",1,"1","DataCloneError"]`},
		{"an invalid signal", `try { await page.click('b', { signal: 5 }) } catch (e) { return [e.name, e.message] }`, `["TypeError","page.click: signal.addEventListener is not a function"]`},
		{"abort", `const c = new AbortController(), seen = []; c.signal.onabort = e => seen.push(e.type); c.signal.addEventListener('abort', () => seen.push('once'), { once: true }); const any = AbortSignal.any([c.signal, AbortSignal.timeout(60_000)]); c.abort(new Error('mine')); c.abort();
			try { any.throwIfAborted() } catch (e) { seen.push(e.message) } return [seen, AbortSignal.abort().reason.name, any.reason === c.signal.reason]`, `[["abort","once","mine"],"AbortError",true]`},
		{"abort in time", `const s = AbortSignal.timeout(5); await new Promise(r => s.addEventListener('abort', r)); return s.reason.name`, `"TimeoutError"`},
		{"events", `const t = new EventTarget(), seen = []; t.addEventListener('x', { handleEvent(e) { seen.push(e.detail); e.preventDefault(); e.stopImmediatePropagation() } }); t.addEventListener('x', () => seen.push('never')); const e = new CustomEvent('x', { detail: 7, cancelable: true }); return [t.dispatchEvent(e), seen, e.defaultPrevented, e.target === t, e instanceof Event]`, `[false,[7],true,true,true]`},
		{"timers", `const t = setTimeout(() => {}, 60_000); const out = [typeof t.ref, t.hasRef(), t.unref().hasRef(), +t > 0]; clearTimeout(t); clearTimeout(undefined); setTimeout(x => out.push(x), 1, 'arg'); setImmediate(() => out.push('now')); const i = setInterval(() => { out.push('i'); clearInterval(i) }, 1); const r = setTimeout(() => out.push('late'), 3); r.refresh(); await new Promise(r => setTimeout(r, 40)); return out`,
			`["function",true,false,true,"now","arg","i","late"]`},
		{"a script does not wait for what is unref()ed", `setTimeout(() => {}, 60_000).unref(); AbortSignal.timeout(60_000)`, `null`},
		{"order of turns", `const out = []; setTimeout(() => out.push('timer')); queueMicrotask(() => out.push('micro')); Promise.resolve().then(() => out.push('then')); out.push('sync'); await null; out.push('await'); await new Promise(r => setTimeout(r, 5)); return out`, `["sync","micro","then","await","timer"]`},
		{"Buffer", `const b = Buffer.from('héllo'); return [b.toString('base64'), b.toString('hex'), Buffer.concat([b, Buffer.alloc(1)]).length, Buffer.isBuffer(b), b.equals(Buffer.from(b)), b.subarray(0, 1).toString(), Buffer.byteLength('é'), Buffer.from([1, 2]).readUInt16BE(0), b instanceof Uint8Array, Buffer.compare(b, b), Buffer.from('68690a', 'hex').toString('latin1')]`,
			`["aMOpbGxv","68c3a96c6c6f",7,true,true,"h",2,258,true,0,"hi\n"]`},
		{"random", `return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.getRandomValues(new Uint32Array(4)).some(x => x > 0), performance.now() > 0, performance.timeOrigin > 1e12]`, `[true,true,true,true]`},
		{"global", `return [global === globalThis, typeof process, typeof module, typeof window]`, `[true,"undefined","undefined","undefined"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustSucceed(t, p, newWorld(), c.code); got != c.want {
				t.Errorf("returned %s\nwant %s", got, c.want)
			}
		})
	}
	for code, want := range map[string]string{
		`process.env.HOME`:      "process is not defined: scripts have no environment; pass values as args",
		`document.title`:        "document is not defined: it is the page's: use page.evaluate()",
		`await crypto.subtle.x`: "crypto.subtle is not available in Takeover: use it in the page, with page.evaluate()",
	} {
		if res := run(t, p, newWorld(), code); res.Err == nil || res.Err.Message != want {
			t.Errorf("%s: %v", code, res.Err)
		}
	}
}

// TestErrorStacks checks that errors say where they were thrown and what caused
// them.
func TestErrorStacks(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ name, code, stack string }{
		{"across awaits", "async function a() {\n  await page.title();\n  throw new Error('deep');\n}\nconst b = async () => {\n  await a();\n};\nawait b();", "Error: deep\n    at a (script.ts:3:9)\n    at b (script.ts:6:9)\n    at script.ts:8:7"},
		{"in a callback", "[1].forEach(function each() { throw new RangeError('x') })", "RangeError: x\n    at each (script.ts:1:37)\n    at script.ts:1:5"},
		{"in a timer", "setTimeout(function later() {\n  throw new TypeError('x')\n}, 1);\nawait new Promise(r => setTimeout(r, 1000))", "TypeError: x\n    at later (script.ts:2:9)"},
		{"in a listener", "page.on('x', () => {\n  throw new TypeError('x')\n});\npage.emit('x')", "TypeError: x\n    at script.ts:2:9\n    at script.ts:4:6"},
		{"with causes", "throw new Error('outer', { cause: new TypeError('inner', { cause: { code: 5 } }) })", "Error: outer\n    at script.ts:1:7\n  [cause]: TypeError: inner\n      at script.ts:1:35\n    [cause]: { code: 5 }"},
		{"of several", "await Promise.any([Promise.reject(new Error('a')), Promise.reject('b')])", "AggregateError: All promises were rejected\n  [errors 0]: Error: a\n      at script.ts:1:35\n  [errors 1]: b"},
		{"of an own class", "class NotFound extends Error { name = 'NotFound' }\nthrow new NotFound('x')", "NotFound: x\n    at script.ts:2:7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := run(t, p, newWorld(), c.code)
			if res.Err == nil || res.Err.Stack != c.stack {
				t.Errorf("%s %v, stack\n%s\nwant\n%s", res.Status, res.Err, res.Err.Stack, c.stack)
			}
		})
	}
	w := newWorld()
	mustSucceed(t, p, w, "try { null.x } catch (e) { console.log(e.stack); console.error('failed', e) }")
	if want := "log: TypeError: Cannot read properties of undefined or null (reading 'x')\n    at script.ts:1:12\nerror: failed TypeError: Cannot read properties of undefined or null (reading 'x')\n    at script.ts:1:12\n"; w.logged() != want {
		t.Errorf("logged %q", w.logged())
	}
}
