package session

import "testing"

// TestRunSaysWhereItIs runs a script with a call that lasts: viewers are told of it, with
// its line, while it lasts, and a run that has ended is in none.
func TestRunSaysWhereItIs(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	v := join(t, s, RoleControl)
	run := startRun(t, s, "await page.title();\nawait page.waitForFunction(() => window.go);\nawait expect(page.locator('body')).toBeVisible()")
	in := await(v, "run", func(m RunMessage) bool { return m.Run.Step != nil && m.Run.Step.Line == 2 }).Run.Step
	if in.Title != "page.waitForFunction()" || in.Line != 2 || in.DurationMS != 0 {
		t.Errorf("the run is in %+v", in)
	}
	inPage(t, s, "window.go = true")
	info := endOf(t, run)
	if info.Step != nil || len(info.Steps) != 3 {
		t.Errorf("at its end, the run is in %+v, after %d steps", info.Step, len(info.Steps))
	}
	if got := info.Steps[1]; got.Title != in.Title || !got.StartedAt.Equal(in.StartedAt) || got.Line != in.Line {
		t.Errorf("the call ended as %+v", got)
	}
	await(v, "run", func(m RunMessage) bool { return m.Run.Step == nil && m.Run.Status.Ended() })
}
