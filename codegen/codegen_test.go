package codegen

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestScript(t *testing.T) {
	var steps Steps
	for _, s := range []PersonStep{
		{Kind: Fill, Tab: 1, Selector: `internal:label="Email"i`, Value: "d"},
		{Kind: Fill, Tab: 1, Selector: `internal:label="Email"i`, Value: "demo@example.com"},
		{Kind: Fill, Tab: 1, Selector: `internal:label="Password"i`, Secret: "password"},
		{Kind: Fill, Tab: 1, Selector: `internal:label="Repeat your password, please"i`, Secret: "password"},
		{Kind: Check, Tab: 1, Selector: `internal:role=checkbox[name="It's me"i]`},
		{Kind: Select, Tab: 1, Selector: `internal:label="Country"i`, Values: []string{"Austria"}},
		{Kind: Click, Tab: 1, Selector: `internal:role=button[name="Sign in"i]`, X: 10, Y: 5},
		{Kind: Click, Tab: 1, Selector: `#word`},
		{Kind: DblClick, Tab: 1, Selector: `#word`},
		{Kind: Press, Tab: 1, Selector: `#word`, Key: "Enter"},
		{Kind: Click, Tab: 4, Frames: []string{`iframe[name="pay"]`}, Selector: `internal:text="Pay"s`},
		{Kind: Drag, Tab: 1, Selector: `internal:role=slider`, X: 120},
		{Kind: Files, Tab: 1, Selector: `internal:label="File"i`, Values: []string{"a\nb.txt"}},
		{Kind: Goto, Tab: 1, URL: "https://example.com/a"},
		{Kind: Goto, Tab: 1, URL: "https://example.com/b"},
		{Kind: Back, Tab: 1},
	} {
		if !steps.Add(s) {
			t.Fatalf("there is no room for %+v", s)
		}
	}
	r := Recording{Title: "Sign in, it's you", Start: "https://example.com/login", End: "https://example.com/home?session=1", Tab: 1, Steps: steps.List()}
	want := `import { expect, test } from '@playwright/test';

// What the person typed into these fields is not kept. Put it in from where you keep secrets.
const secrets = {
  password: '',
  password2: '',
};

test('Sign in, it\'s you', async ({ page }) => {
  await page.goto('https://example.com/login');
  await page.getByLabel('Email').fill('demo@example.com');
  await page.getByLabel('Password').fill(secrets.password);
  await page.getByLabel('Repeat your password, please').fill(secrets.password2);
  await page.getByRole('checkbox', { name: 'It\'s me' }).check();
  await page.getByLabel('Country').selectOption([{ label: 'Austria' }]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#word').dblclick();
  await page.locator('#word').press('Enter');
  await expect.poll(() => page.context().pages().length).toBeGreaterThan(1);
  const page2 = page.context().pages()[1];
  await page2.locator('iframe[name="pay"]').contentFrame().getByText('Pay', { exact: true }).click();
  { // A drag is made for what was there; the next time may need another one.
    await page.getByRole('slider').hover();
    const box = await page.getByRole('slider').boundingBox();
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2 + 0, { steps: 20 });
    await page.mouse.up();
  }
  // The person chose files here: a b.txt
  // await page.getByLabel('File').setInputFiles([]);
  await page.goto('https://example.com/b');
  await page.goBack();
  await expect(page).toHaveURL(/^https:\/\/example\.com\/home([?#]|$)/);
});
`
	if got := r.Script(); got != want {
		t.Errorf("the script is\n%s", got)
	}
	raw, err := r.Recorder(1280, 720)
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Title string
		Steps []struct {
			Type, URL, Key, Value string
			Selectors             [][]string
		}
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, s := range recorded.Steps {
		types = append(types, s.Type)
		if s.Type == "click" && len(s.Selectors) == 0 {
			t.Errorf("a click has no selector: %+v", s)
		}
	}
	if got := strings.Join(types, " "); got != "setViewport navigate change change change click change click doubleClick keyDown keyUp navigate" {
		t.Errorf("the Recorder's steps are %s", got)
	}
	if got := recorded.Steps[7].Selectors[0][0]; got != `aria/Sign in[role="button"]` {
		t.Errorf("the button is %s", got)
	}
}

func TestParse(t *testing.T) {
	hide := func(text string) string { return strings.ReplaceAll(text, "hunter2", "[REDACTED]") }
	s, err := Parse([]byte(`{"kind":"fill","selector":"#a","secret":true,"value":"my hunter2","tab":7,"frames":["x"],"url":"y"}`), hide, hide)
	if err != nil || s.Secret != "secret" || s.Value != "" || s.Tab != 0 || s.Frames != nil || s.URL != "" {
		t.Errorf("a secret is %+v, %v", s, err)
	}
	s, err = Parse([]byte(`{"kind":"click","selector":"text=hunter2"}`), hide, hide)
	if err != nil || s.Selector != "text=[REDACTED]" {
		t.Errorf("a press is %+v, %v", s, err)
	}
	for _, bad := range []string{``, `{}`, `{"kind":"goto","url":"https://evil.example"}`, `{"kind":"click"}`, `{"kind":"steal","selector":"a"}`, `{"kind":"press","selector":"a","key":"` + strings.Repeat("x", 21) + `"}`} {
		if _, err := Parse([]byte(bad), hide, hide); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestLateSteps adds what a document reports after the person has left it.
func TestLateSteps(t *testing.T) {
	var steps Steps
	steps.Add(PersonStep{Kind: Fill, Tab: 1, Selector: "#a", Value: "x"})
	steps.Add(PersonStep{Kind: Goto, Tab: 1, URL: "https://example.com/"})
	steps.Add(PersonStep{Kind: Click, Tab: 2, Selector: "#b"})
	steps.AddLate(PersonStep{Kind: Fill, Tab: 1, Selector: "#a", Value: "xyz"})
	steps.AddLate(PersonStep{Kind: Click, Tab: 2, Selector: "#c"})
	var told []string
	for _, s := range steps.List() {
		told = append(told, string(s.Kind)+s.Selector+s.Value)
	}
	if got := strings.Join(told, " "); got != "fill#axyz goto click#b click#c" {
		t.Errorf("the steps are %s", got)
	}
}

func TestStepsAreBounded(t *testing.T) {
	var steps Steps
	for i := range MaxSteps + 5 {
		if got := steps.Add(PersonStep{Kind: Click, Selector: "#a", X: float64(i)}); got != (i < MaxSteps) {
			t.Fatalf("step %d: %t", i, got)
		}
	}
	var typed Steps
	for i := range 400 { // a field is reported again and again while somebody types
		if !typed.Add(PersonStep{Kind: Fill, Selector: "#a", Value: strings.Repeat("x", i)}) {
			t.Fatalf("after %d reports there is no room", i)
		}
	}
	if n := len(typed.List()); n != 1 || typed.Cut {
		t.Errorf("a field has %d steps", n)
	}
	var large Steps
	for large.Add(PersonStep{Kind: Click, Selector: strings.Repeat("x", 1000)}) {
	}
	if n := len(large.List()); n < 10 || n*1000 > MaxBytes || !large.Cut {
		t.Errorf("%d large steps are kept", n)
	}
}
