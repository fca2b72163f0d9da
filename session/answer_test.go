package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/control"
	"takeover/links"
)

// runLater makes the shown page run code in a separate task.
func runLater(t *testing.T, s *Session, code string) {
	t.Helper()
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, p, code)
}

// runIn makes a page run code in a separate task.
func runIn(t *testing.T, p *browser.Page, code string) {
	t.Helper()
	expression := "void setTimeout(() => {" + code + "})"
	if _, err := cdp.Call(browsertest.Context(t, "run "+code), p.Session(), runtime.Evaluate, runtime.EvaluateParams{Expression: expression}); err != nil {
		t.Fatal(err)
	}
}

// TestNobodyAnswersUnderAScript lets a person open a dialog and leave control to
// a script. Other people then cannot answer any question without taking control,
// and people who may only watch never can.
func TestNobodyAnswersUnderAScript(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	v, other, onlooker := join(t, s, RoleControl), join(t, s, RoleControl), join(t, s, RoleView)
	v.picture("the page")
	v.take()
	runLater(t, s, "confirm('now?')")
	d := await(other, "dialog", func(m DialogMessage) bool { return !m.Closed })
	answers := func(v *viewer) map[string]func() error {
		ctx := browsertest.Context(t, "answer")
		return map[string]func() error{
			"dialog":     func() error { return v.Dialog(d.ID, true, "") },
			"chooser":    func() error { return v.Chooser(ctx, "fc_1", nil) },
			"auth":       func() error { return v.Auth(ctx, "au_1", true, "ann", "x") },
			"permission": func() error { return v.Permission(ctx, "pm_1", true, nil) },
			"select":     func() error { return v.Select(ctx, "sel_1", nil) },
			"download":   func() error { return v.Download(ctx, "dl_1", "cancel") },
		}
	}
	refused := func(while string, v *viewer, want error) {
		t.Helper()
		for kind, answer := range answers(v) {
			if err := answer(); !errors.Is(err, want) {
				t.Errorf("%s while %s: %v, want %v", kind, while, err, want)
			}
		}
	}
	refused("another person is in control", other, ErrNotController)
	run := releaseAndRun(t, v, `await page.waitForTimeout(600_000)`)
	refused("a script is in control", other, ErrNotController)
	refused("a script is in control", onlooker, ErrRole)
	run.Cancel()
	endOf(t, run)
	refused("nobody is in control", onlooker, ErrRole)
	if err := other.Dialog(d.ID, true, ""); err != nil {
		t.Errorf("once nobody is in control: %v", err)
	}
	await(other, "the dialog's end", func(m DialogMessage) bool { return m.Closed && m.ID == d.ID })
}

// TestGuestsHearNoDialogsAfterwards checks that visitors with the link of a
// takeover get no dialogs after it has ended.
func TestGuestsHearNoDialogsAfterwards(t *testing.T) {
	s := borrow(t, site(t))
	v := join(t, s, RoleControl)
	v.picture("the page")
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "look", RequestedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	guest, err := s.Join(ViewerOptions{Role: RoleTakeover, Link: &links.Grant{Takeover: to.ID(), Role: RoleTakeover}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(guest.Leave)
	dialogsUntil := func(state string, mark control.Holder) (n int) {
		t.Helper()
		ctx := browsertest.Context(t, state)
		for {
			m, err := guest.NextMessage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			switch m := m.(type) {
			case DialogMessage:
				n++
			case ControlMessage:
				if m.Holder == mark {
					return n
				}
			}
		}
	}
	ask := func() {
		t.Helper()
		runLater(t, s, "alert('a word for one person')")
		d := await(v, "dialog", func(m DialogMessage) bool { return !m.Closed })
		if err := v.Dialog(d.ID, true, ""); err != nil {
			t.Fatal(err)
		}
		await(v, "the dialog's end", func(m DialogMessage) bool { return m.Closed && m.ID == d.ID })
		s.control.GiveUp(v.holder())
	}
	v.take()
	dialogsUntil("control", v.holder())
	ask()
	if n := dialogsUntil("free control", control.Nobody); n != 2 {
		t.Errorf("while the takeover is open the guest is told %d times of a dialog, want 2", n)
	}
	if err := to.Cancel("test"); err != nil {
		t.Fatal(err)
	}
	v.take()
	dialogsUntil("control", v.holder())
	ask()
	if n := dialogsUntil("free control", control.Nobody); n != 0 {
		t.Errorf("after its end the guest is told %d times of a dialog", n)
	}
}

// TestGuestsReadNoTokens opens an address that signs in: a guest reads it whole only while
// they are in control, and an operator always does.
func TestGuestsReadNoTokens(t *testing.T) {
	const token = "SEKRET123456"
	s := borrow(t, site(t)+"/?api_token="+token)
	has := func(whole bool) func(TabsMessage) bool {
		return func(m TabsMessage) bool {
			return len(m.Tabs) > 0 && strings.Contains(m.Tabs[0].URL, "api_token=") && strings.Contains(m.Tabs[0].URL, token) == whole
		}
	}
	operator := join(t, s, RoleControl)
	await(operator, "the address", has(true))
	guest := joinWith(t, s, ViewerOptions{Role: RoleControl, Link: &links.Grant{Role: RoleControl}})
	await(guest, "the address without its token", has(false))
	guest.take()
	await(guest, "the whole address in control", has(true))
	s.control.GiveUp(guest.holder())
	await(guest, "the address without its token again", has(false))
}

// TestControlReleasesWhatAScriptHolds lets a person take control from a script
// that holds down a button and a key.
func TestControlReleasesWhatAScriptHolds(t *testing.T) {
	s := borrow(t, site(t))
	v := join(t, s, RoleControl)
	run := startRun(t, s, `
		await page.evaluate(() => { for (const type of ['mouseup', 'keyup']) addEventListener(type, e => { document.title += ' ' + type }) });
		await page.mouse.move(20, 20);
		await page.mouse.down();
		await page.keyboard.down('a');
		console.log('down');
		await page.waitForTimeout(600_000)`)
	logged(t, run)
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	v.take()
	browsertest.Until(t, "the script's key and button are up", func() bool { return strings.HasSuffix(p.Title(), " keyup mouseup") })
	run.Cancel()
	endOf(t, run)
}
