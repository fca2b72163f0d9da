package session

import (
	"encoding/json"
	"strings"
	"testing"

	"takeover/browser/browsertest"
)

// TestTestFile runs a Playwright Test file. Each test is reported when it ends
// and has a tab of its own while it runs. A person can take over inside a test,
// whose clock is stopped meanwhile.
func TestTestFile(t *testing.T) {
	base := site(t)
	s := borrow(t, base+"/own")
	v := join(t, s, RoleTakeover)
	await(v, "the session's own tab", func(m TabsMessage) bool { return len(m.Tabs) == 1 && m.Tabs[0].Title == "Page own" })
	r := startRun(t, s, `
import { test, expect } from '@playwright/test';
test.use({ baseURL: '`+base+`' });
test('asks for a person', async ({ page }) => {
	const began = Date.now();
	await page.goto('/asking');
	const asked = Date.now();
	test.setTimeout(asked - began + 3000); // however long the page took
	const { changes } = await requestTakeover('look', { until: () => page.url().endsWith('/looked') && Date.now() - asked > 4000 });
	test.setTimeout(0);
	expect(changes.urlAfter).toBe('`+base+`/looked');
	await expect(page).toHaveTitle('Page looked');
});
test('fails', async ({ page }) => {
	await page.goto('/failing');
	expect(await page.title()).toBe('Something else');
});
test.skip('later', async () => {});`)
	to := openTakeoverOf(t, r)
	m := await(v, "the test's tab", func(m TabsMessage) bool { return len(m.Tabs) == 2 && m.Tabs[1].Title == "Page asking" })
	if m.Active != m.Tabs[1].Tab {
		t.Errorf("tab %d is shown, want the test's: %+v", m.Active, m.Tabs)
	}
	if err := v.Takeover("claim", to.ID(), ""); err != nil {
		t.Fatal(err)
	}
	if err := v.Navigate(t.Context(), 0, "goto", base+"/looked"); err != nil {
		t.Fatal(err)
	}
	await(v, "the page", func(m TabsMessage) bool { return len(m.Tabs) == 2 && m.Tabs[1].Title == "Page looked" })
	await(v, "the second test's tab", func(m TabsMessage) bool { return len(m.Tabs) == 2 && m.Tabs[1].Title == "Page failing" })
	info := endOf(t, r)
	await(v, "the session's own tab alone", func(m TabsMessage) bool { return len(m.Tabs) == 1 && m.Active == m.Tabs[0].Tab })

	if info.Status != RunFailed || info.Error == nil || info.Error.Line != 16 || !strings.Contains(info.Error.Message, "expect(received).toBe(expected)") {
		t.Errorf("%s: %+v", info.Status, info.Error)
	}
	var streamed []RunTest
	for ev, err := range r.Stream(browsertest.Context(t, "stream")) {
		if err != nil {
			t.Fatal(err)
		}
		if test, ok := ev.Data.(RunTest); ok && ev.Type == "test" {
			streamed = append(streamed, test)
		}
	}
	got, err := json.Marshal(info.Tests)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(streamed); err != nil || string(again) != string(got) {
		t.Errorf("streamed were %s, %v, the run has %s", again, err, got)
	}
	if len(info.Tests) != 3 || info.Tests[0].Status != "passed" || info.Tests[0].Title != "asks for a person" || info.Tests[0].Error != nil ||
		info.Tests[1].Status != "failed" || info.Tests[1].Error == nil || info.Tests[1].Error.Line != 16 || info.Tests[1].DurationMS <= 0 ||
		info.Tests[2].Status != "skipped" {
		t.Errorf("tests %s", got)
	}
}
