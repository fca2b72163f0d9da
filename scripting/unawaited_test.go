package scripting

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestUnawaitedCallsAreTold(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct {
		name, code string
		want       []string // the log lines about it
	}{
		{"a click", "\npage.click('#x');\nawait page.title()", []string{"page.click was not awaited (script.ts:2:6): put await before it"}},
		{"several, once a line", "for (const x of '123') page.click(x); page.fill('#y', 'z')", []string{"page.click was not awaited (script.ts:1:29): ", "page.fill was not awaited (script.ts:1:44)"}},
		{"inside an object", "return { title: page.title() }", []string{"page.title was not awaited (script.ts:1:22): "}},
		{"evaluate", "page.evaluate(() => 1)", []string{"page.evaluate was not awaited"}},
		{"an expectation", "expect(page.getByText('a')).not.toBeVisible()", []string{"expect(getByText('a')).not.toBeVisible was not awaited"}},
		{"a script that fails", "page.click('#x'); throw new Error('boom')", []string{"page.click was not awaited"}},
		{"a test", "import { test } from '@playwright/test'; test('t', async ({ page }) => { page.click('#x'); test.step('s', async () => {}); })",
			[]string{"page.click was not awaited", "test.step('s') was not awaited"}},
		{"awaited", "await page.click('#x'); const p = page.title(); return await p", nil},
		{"returned", "return page.title()", nil},
		{"returned by a function", "const f = () => page.title(); return f()", nil},
		{"together", "await Promise.all([page.click('#x'), page.title()]); await Promise.allSettled([page.title()])", nil},
		{"with a handler", "page.click('#x').catch(() => {}); page.title().then(() => {})", nil},
		{"begun for later by a script that fails", "const later = page.waitForEvent('popup'); throw new Error('boom')", nil},
		{"what a listener returns", "page.on('x', () => page.title()); page.emit('x')", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld().answer("frame.title", map[string]string{"value": "Start"}).answer("frame.evaluate", json.RawMessage(`{"value":1}`)).
				answer("context.new", json.RawMessage(`{"context":"context@2"}`)).answer("context.newPage", json.RawMessage(`{"page":"page@1"}`))
			run(t, p, w, c.code)
			var got []string
			for line := range strings.Lines(w.logged()) {
				if strings.Contains(line, "not awaited") {
					got = append(got, line)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("%q", got)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(got[i], "warn: "+want) {
					t.Errorf("got %q\nwant %q", got[i], want)
				}
			}
		})
	}
}

func TestUnawaitedCallsAreCounted(t *testing.T) {
	w := newWorld()
	run(t, newPool(t, Limits{}), w, "for (let i = 0; i < 15; i++)\n"+strings.Repeat("page.click('#x');\n", 15)+"for (let i = 0; i < 3000; i++) page.click('#y')")
	if got := w.logged(); strings.Count(got, "was not awaited") != 10 || !strings.HasSuffix(got, "warn: 6 more calls were not awaited\n") {
		t.Error(got)
	}
}

func TestDialogsNeedNotBeAwaited(t *testing.T) {
	w := newWorld()
	w.handlers["dialog.dismiss"] = func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("it is gone") }
	p := newPool(t, Limits{})
	const open = `page._onDialog({ dialog: 'dialog@1', type: 'alert', message: 'm' }); await page.title()`
	run(t, p, w, "page.on('dialog', d => { d.accept() }); "+open)
	if got := w.logged(); strings.Contains(got, "not awaited") {
		t.Error(got)
	}
	run(t, p, w, "page.on('dialog', d => { d.dismiss() }); "+open)
	if got := w.logged(); !strings.Contains(got, "dialog.dismiss was not awaited") {
		t.Error(got)
	}
}
