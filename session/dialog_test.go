package session

import "testing"

// TestScriptAnswersItsDialogs lets a script that listens for dialogs answer them,
// even when viewers are present.
func TestScriptAnswersItsDialogs(t *testing.T) {
	s := borrow(t, site(t))
	const code = `
		const seen = [];
		page.on('dialog', async d => { seen.push(d.type()); await d.accept('four'); });
		const answers = await page.evaluate(() => [confirm('sure?'), prompt('how many?')]);
		return JSON.stringify([...seen, ...answers]);`
	const want = `["confirm","prompt",true,"four"]`
	if got := resultOf[string](t, startRun(t, s, code)); got != want {
		t.Errorf("with nobody looking: %s", got)
	}
	v := join(t, s, RoleControl)
	v.picture("the page")
	if got := resultOf[string](t, startRun(t, s, code)); got != want {
		t.Errorf("with a viewer: %s", got)
	}
}
