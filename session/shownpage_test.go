package session

import (
	"strings"
	"testing"
)

// TestPageIsTheShownTab checks that a script's page is the tab that people see,
// both when the script starts and after a takeover in which a person switched
// tabs.
func TestPageIsTheShownTab(t *testing.T) {
	base := site(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base + "/one"})
	v := join(t, s, RoleControl)
	await(v, "the first page", func(m TabsMessage) bool { return m.Tabs[0].Title == "Page one" })
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	if err := v.Tab(t.Context(), "new", 0); err != nil {
		t.Fatal(err)
	}
	await(v, "the second tab", func(m TabsMessage) bool { return m.Active == 2 })
	if err := v.Navigate(t.Context(), 0, "goto", base+"/two"); err != nil {
		t.Fatal(err)
	}
	await(v, "the second page", func(m TabsMessage) bool { return len(m.Tabs) == 2 && m.Tabs[1].Title == "Page two" })
	show := func(t *testing.T, tab uint32) {
		t.Helper()
		if err := v.Control("take"); err != nil {
			t.Fatal(err)
		}
		if err := v.Tab(t.Context(), "activate", tab); err != nil {
			t.Fatal(err)
		}
	}
	pathOf := func(url string) string { return strings.TrimPrefix(url, base) }

	t.Run("when the script begins", func(t *testing.T) {
		show(t, 1)
		if got := pathOf(resultOf[string](t, startRun(t, s, `return page.url()`))); got != "/one" {
			t.Errorf("page is %s, but the first tab is shown", got)
		}
		show(t, 2)
		if got := pathOf(resultOf[string](t, startRun(t, s, `return page.url()`))); got != "/two" {
			t.Errorf("page is %s, but the second tab is shown", got)
		}
	})

	const asking = `
		const before = page, body = page.locator('body');
		const outcome = await requestTakeover('choose a tab').then(r => Object.keys(r).join(), e => e.name);
		return { outcome, url: page.url(), before: before.url(), text: await body.innerText(), visible: await page.evaluate(() => document.visibilityState) };`
	type result struct{ Outcome, URL, Before, Text, Visible string }
	for _, c := range []struct {
		name, outcome string
		act           func(t *testing.T, to *Takeover)
		want          string
	}{
		{"after another tab was chosen", "outcome,durationMs,by,changes", func(t *testing.T, to *Takeover) {
			show(t, 2)
			if err := v.Takeover("done", to.ID(), ""); err != nil {
				t.Fatal(err)
			}
		}, "/two"},
		{"after a takeover that failed", "TakeoverFailedError", func(t *testing.T, to *Takeover) {
			show(t, 2)
			if err := v.Takeover("fail", to.ID(), "cannot"); err != nil {
				t.Fatal(err)
			}
		}, "/two"},
		{"after a tab that the person opened", "outcome,durationMs,by,changes", func(t *testing.T, to *Takeover) {
			if err := v.Control("take"); err != nil {
				t.Fatal(err)
			}
			if err := v.Tab(t.Context(), "new", 0); err != nil {
				t.Fatal(err)
			}
			await(v, "the third tab", func(m TabsMessage) bool { return m.Active == 3 })
			if err := v.Navigate(t.Context(), 0, "goto", base+"/three"); err != nil {
				t.Fatal(err)
			}
			await(v, "the third page", func(m TabsMessage) bool { return len(m.Tabs) == 3 && m.Tabs[2].Title == "Page three" })
			if err := v.Takeover("done", to.ID(), ""); err != nil {
				t.Fatal(err)
			}
		}, "/three"},
		{"after no tab was chosen", "TakeoverCancelledError", func(t *testing.T, to *Takeover) {
			if err := to.Cancel("operator"); err != nil {
				t.Fatal(err)
			}
		}, "/one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			show(t, 1)
			if err := v.Control("release"); err != nil {
				t.Fatal(err)
			}
			r := startRun(t, s, asking)
			c.act(t, openTakeoverOf(t, r))
			got := resultOf[result](t, r)
			if got.Outcome != c.outcome || pathOf(got.URL) != c.want || got.Visible != "visible" {
				t.Errorf("after the takeover page is %s and %s, the outcome %s; want %s and visible", got.URL, got.Visible, got.Outcome, c.want)
			}
			if pathOf(got.Before) != "/one" || got.Text != "/one" {
				t.Errorf("the page from before is %s, its locator finds %q", got.Before, got.Text)
			}
		})
	}

	t.Run("a page that the script chose itself stays", func(t *testing.T) {
		show(t, 1)
		if err := v.Control("release"); err != nil {
			t.Fatal(err)
		}
		r := startRun(t, s, `
			page = context.pages().find(p => p.url().endsWith('/one'));
			page = await context.newPage();
			await requestTakeover('choose a tab');
			return page.url();`)
		to := openTakeoverOf(t, r)
		show(t, 2)
		if err := to.Done("operator", ""); err != nil {
			t.Fatal(err)
		}
		if got := resultOf[string](t, r); got != "about:blank" {
			t.Errorf("page is %s after the script had put its own there", got)
		}
	})
}

// TestScriptShowsAPage checks that people see the page that a script brings to the front.
func TestScriptShowsAPage(t *testing.T) {
	base := site(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base + "/one"})
	resultOf[string](t, startRun(t, s, `const second = await context.newPage(); await second.goto('`+base+`/two'); return ''`))
	if f := s.shown(); f == nil || f.tab != 2 {
		t.Fatal("people do not see the new page")
	}
	resultOf[string](t, startRun(t, s, `await context.pages().find(p => p.url().endsWith('/one')).bringToFront(); return ''`))
	if f := s.shown(); f == nil || f.tab != 1 {
		t.Error("people do not see the page that the script brought to the front")
	}
	if got := resultOf[string](t, startRun(t, s, `return page.url()`)); !strings.HasSuffix(got, "/one") {
		t.Errorf("the next script's page is %s", got)
	}
}
