package scripting

import "testing"

func TestErrorsAreWordedAsV8Does(t *testing.T) {
	p := newPool(t, Limits{})
	for code, want := range map[string]string{
		"page.clik('#x')":                               "page.clik is not a function: did you mean click?",
		"page\n  .locator('a')\n  .clik()":              "page.locator(...).clik is not a function: did you mean click?",
		"page.getByTestID('x')":                         "page.getByTestID is not a function: did you mean getByTestId?",
		"page.mouse.mvoe(1, 2)":                         "page.mouse.mvoe is not a function: did you mean move?",
		"page.frobnicate()":                             "page.frobnicate is not a function",
		"page.title().trim()":                           "page.title().trim is not a function: page.title() gives a promise, put await before it",
		"const o = {}; o['k-l']()":                      "o.k-l is not a function",
		"const o = { n: 5 }; o.n()":                     "o.n is not a function",
		"const x = 5; x()":                              "x is not a function",
		"[1].map(3)":                                    "3 is not a function",
		"const F = 3; new F()":                          "F is not a constructor",
		"new Promise()":                                 "Promise resolver undefined is not a function",
		"class A {} A()":                                "Class constructor A cannot be invoked without 'new'",
		"let u; u.foo":                                  "Cannot read properties of undefined or null (reading 'foo')",
		"args.a.b()":                                    "Cannot read properties of undefined or null (reading 'b')",
		"let u; u.x = 1":                                "Cannot set properties of undefined or null (setting 'x')",
		"const o = { i: {} }; for (const x of o.i) {}":  "o.i is not iterable",
		"for (const x of page.locator('li')) {}":        "page.locator(...) is not iterable: loop over what its all() gives, with await",
		"console.log(z); let z = 1":                     "Cannot access 'z' before initialization",
		"const c = 1; c = 2":                            "Assignment to constant variable.",
		"pgae.title()":                                  "pgae is not defined: did you mean page?",
		"test('x', () => {})":                           "test is not defined: import it: import { test, expect } from '@playwright/test'",
		"decodeURIComponent('%')":                       "URI malformed",
		"throw new Error(\"Object has no member 'x'\")": "Object has no member 'x'",
		"'(' + \"')\"; page.locator(')').clik()":        "page.locator(...).clik is not a function: did you mean click?",
	} {
		if res := run(t, p, newWorld(), code); res.Err == nil || res.Err.Message != want {
			t.Errorf("%s\n got %v\nwant %s", code, res.Err, want)
		}
	}
}

func TestScriptsCatchErrorsInTheWordsOfV8(t *testing.T) {
	p := newPool(t, Limits{})
	const want = `"page.clik is not a function: did you mean click?"`
	for _, code := range []string{
		"try { page.clik() } catch (e) { return e.message }",
		"try { page.clik() } catch ({ message }) { let other = 1; return message }",
		"try { page.clik() } catch (e) { return e.stack.split('\\n')[0].replace('TypeError: ', '') }",
		"try { try { page.clik() } finally {} } catch (e) { return String(e).replace('TypeError: ', '') }",
		"const f = async () => page.clik(); try { await f() } catch (e) { return e.message }",
		"const f = async () => page.clik(); return await f().catch(e => e.message)",
		"const f = async () => page.clik(); return new Promise(r => f().catch(e => r(e.message)))",
	} {
		if got := mustSucceed(t, p, newWorld(), code); got != want {
			t.Errorf("%s\n got %s", code, got)
		}
	}
	for code, want := range map[string]string{
		"expect(() => page.clik()).toThrow('page.clik is not a function')":                               "null",
		"try { throw 5 } catch (e) { return e }":                                                         "5",
		"try { throw { message: \"Object has no member 'x'\" } } catch ({ message }) { return message }": `"Object has no member 'x'"`,
		"try { throw [1, 2] } catch ([a, b = 3, ...rest]) { return [a, b, rest] }":                       "[1,2,[]]",
		"try { x } catch { return 1 }":                                                                   "1",
		"try { throw Object.freeze(new TypeError('Malformed URI')) } catch (e) { return e.message }":     `"Malformed URI"`,
		"return Promise.reject(1).catch()":                                                               "",
	} {
		res := run(t, p, newWorld(), code)
		if string(res.Value) != want && !(want == "" && res.Status == StatusFailed) {
			t.Errorf("%s: %s %v", code, res.Value, res.Err)
		}
	}
}
