package source

import (
	"strings"
	"testing"
)

func TestNesting(t *testing.T) {
	for _, c := range []struct {
		name, code string
		limit      int
		line       int // 0: accepted
	}{
		{"flat", "f(); [1]; {}", 1, 0},
		{"at the limit", "((()))", 3, 0},
		{"beyond it", "\n((()))", 2, 2},
		{"in a string", `"(((" + '[[[' + "\"((("`, 1, 0},
		{"in a comment", "// (((\n/* ((( */ 1", 1, 0},
		{"in a regular expression", `x = /[(](\(/; y = a / (b) / c`, 1, 0},
		{"regular expression after a condition", `if (x) /(((/.test(y)`, 1, 0},
		{"in a template", "`((( ${f()} (((`", 2, 0},
		{"template in a template", "`${`${`${1}`}`}`", 2, 1},
		{"closed too often", ")))(((", 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := CheckNesting(c.code, c.limit)
			if (e != nil) != (c.line > 0) || e != nil && e.Line != c.line {
				t.Errorf("got %v, want line %d", e, c.line)
			}
		})
	}
}

func TestImports(t *testing.T) {
	for _, c := range []struct{ code, declarations, body string }{
		{`import { chromium } from 'playwright'; x`, `require("playwright");const {chromium:chromium}=require("playwright");`, `                                       x`},
		{"import {\n  test as it,\n  type Page,\n} from \"@playwright/test\"\nx", `require("@playwright/test");const {test:it}=require("@playwright/test");`, "        \n             \n            \n                         \nx"},
		{`import type { Page } from 'anything'; x`, ``, `                                      x`},
		{`import type from 'playwright';`, `require("playwright");const type=require("playwright").default;`, ``},
		{`import pw, * as all from 'playwright';`, `require("playwright");const pw=require("playwright").default;const all=require("playwright");`, ``},
		{`import 'playwright';`, `require("playwright");`, ``},
		{`import a from 'playwright' with { type: 'json' }; x`, `require("playwright");const a=require("playwright").default;`, `                                                  x`},
		{`import pw = require('playwright');`, ``, `const  pw = require('playwright');`},
		{`export const a = 1; export {}; export function f() {}`, ``, `       const a = 1; ;                 function f() {}`},
		{`export default defineConfig({ a: 1 }); x`, ``, `       void    defineConfig({ a: 1 }); x`},
		{`export default async function f() {} x`, ``, `               async function f() {} x`},
		{`export default function () {} x`, ``, `       void    function () {} x`},
		{`export default class extends A {} x`, ``, `       void    class extends A {} x`},
		{`export { a, b as c }; x`, ``, `;                     x`},
		{`export { test, expect } from '@playwright/test'; x`, ``, `;                                                x`},
		{`export * from "playwright"; x`, ``, `;                           x`},
		{`export type { A } from './types'; x`, ``, `;                                 x`},
		{`export type A = string; x`, ``, `       type A = string; x`},
		{`import { type A, type B as C } from './types'; x`, ``, `                                               x`},
		{"const s = `${`import x from 'fs'`}`; a.import = 1; ({ import: 2 })", ``, "const s = `${`import x from 'fs'`}`; a.import = 1; ({ import: 2 })"},
		{`// import fs from 'fs'`, ``, `// import fs from 'fs'`},
	} {
		declarations, body, refused := extractImports(c.code)
		if refused != nil {
			t.Errorf("%s: %v", c.code, refused)
		}
		if declarations != c.declarations || strings.TrimRight(body, " ") != strings.TrimRight(c.body, " ") {
			t.Errorf("%s\n got %q, %q\nwant %q, %q", c.code, declarations, body, c.declarations, c.body)
		}
	}
}

// FuzzExtractImports checks that looking at any text ends, keeps positions, and
// never fails.
func FuzzExtractImports(f *testing.F) {
	for _, s := range []string{"", "import", "import {", "import { a as", "import x from", "import x = ", "export {", "export default", "export default class", "export type", "export * from", "`${", "/[/", "require(", "import(\"x\")", "#!x", "import type", "'\\", "import a, { b } from 'playwright' with {"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		CheckNesting(code, 100)
		_, body, refused := extractImports(code)
		if refused == nil && (len(body) != len(code) || strings.Count(body, "\n") != strings.Count(code, "\n")) {
			t.Errorf("%q became %q", code, body)
		}
		if refused != nil && (refused.Line < 1 || refused.Column < 1) {
			t.Errorf("%q refused at %d:%d", code, refused.Line, refused.Column)
		}
	})
}
