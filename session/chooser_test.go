package session

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
)

// serve serves one page.
func serve(t *testing.T, html string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, html)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// chooserPage opens file choosers: a press on its left half uses an input that is
// not in the document, a press on its right half uses one for a single file. Its
// title shows what it received.
const chooserPage = `<title>loading</title><body style="margin:0;height:700px"><script>
	const told = [];
	const tell = text => document.title = told[told.push(text) - 1];
	function ask(multiple, accept) {
		const input = Object.assign(document.createElement('input'), { type: 'file', multiple, accept });
		input.onchange = async e => tell((e.isTrusted ? 'trusted ' : '') + (await Promise.all([...input.files].map(async f => f.name + '=' + await f.text()))).join());
		input.oncancel = () => tell('cancelled ' + input.files.length);
		input.click();
	}
	addEventListener('click', e => e.clientX < 600 ? ask(true, '.txt,image/*') : ask(false, ''));
	addEventListener('dragover', e => e.preventDefault());
	document.title = 'ready';
	addEventListener('drop', async e => { e.preventDefault();
		tell('dropped at ' + e.clientX + ',' + e.clientY + ' ' + (await Promise.all([...e.dataTransfer.files].map(async f => f.name + '=' + await f.text()))).join()) });
</script>`

// take makes the viewer take control while no other person has it, and returns
// the epoch.
func (v *viewer) take() uint64 {
	v.t.Helper()
	if err := v.Control("take"); err != nil {
		v.t.Fatal(err)
	}
	holder, epoch, _ := v.session.control.State()
	if holder != v.holder() {
		v.t.Fatalf("%q is in control", holder)
	}
	return epoch
}

// click clicks at a point of the page.
func (v *viewer) click(x, y float64, epoch uint64) {
	v.t.Helper()
	for _, m := range []Mouse{
		{Event: "down", Button: "left", Buttons: 1}, {Event: "up", Button: "left"},
	} {
		m.X, m.Y, m.ClickCount = x, y, 1
		if err := v.Mouse(m, Stamp{Epoch: epoch}); err != nil {
			v.t.Fatal(err)
		}
	}
}

// titled waits until the active tab has the given title.
func (v *viewer) titled(title string) {
	v.t.Helper()
	await(v, "title "+title, func(m TabsMessage) bool {
		for _, tab := range m.Tabs {
			if tab.Tab == m.Active && tab.Title == title {
				return true
			}
		}
		return false
	})
}

func addFile(t *testing.T, s *Session, name, text string) {
	t.Helper()
	folder, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Add(name, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
}

// TestChooser lets people answer file choosers.
func TestChooser(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: 50 * time.Millisecond}), CreateOptions{URL: serve(t, chooserPage)})
	addFile(t, s, "a.txt", "A")
	addFile(t, s, "b.txt", "B")
	onlooker := join(t, s, RoleView)
	other := join(t, s, RoleControl)
	v := join(t, s, RoleControl)
	v.titled("ready")
	epoch := v.take()
	opened := func(m ChooserMessage) bool { return !m.Closed }

	v.click(100, 100, epoch)
	asked := await(v, "chooser", opened)
	if !asked.Multiple || asked.Accept != ".txt,image/*" || asked.URL == "" {
		t.Errorf("asked %+v", asked)
	}
	for name, files := range map[string][]string{"unknown": {"none"}, "outside": {"../profile"}, "many": make([]string, maxChosen+1)} {
		if err := v.Chooser(t.Context(), asked.ID, files); err == nil {
			t.Errorf("%s files were taken", name)
		}
	}
	if err := onlooker.Chooser(t.Context(), asked.ID, nil); !errors.Is(err, ErrRole) {
		t.Errorf("an onlooker answers: %v", err)
	}
	if err := other.Chooser(t.Context(), asked.ID, nil); !errors.Is(err, ErrNotController) {
		t.Errorf("somebody who is not in control answers: %v", err)
	}
	late := join(t, s, RoleControl)
	await(late, "chooser for one who comes late", func(m ChooserMessage) bool { return m.ID == asked.ID })
	if err := v.Chooser(t.Context(), asked.ID, []string{"b.txt", "a.txt"}); err != nil {
		t.Fatal(err)
	}
	await(other, "the chooser's end", func(m ChooserMessage) bool { return m.Closed && m.ID == asked.ID })
	v.titled("trusted b.txt=B,a.txt=A")
	if err := v.Chooser(t.Context(), asked.ID, nil); err == nil {
		t.Error("answered twice")
	}

	v.click(700, 100, epoch)
	asked = await(v, "second chooser", opened)
	if asked.Multiple || asked.Accept != "" {
		t.Errorf("asked %+v", asked)
	}
	if err := v.Chooser(t.Context(), asked.ID, []string{"a.txt", "b.txt"}); err == nil {
		t.Error("two files where one is asked for")
	}
	if err := v.Chooser(t.Context(), asked.ID, nil); err != nil {
		t.Fatal(err)
	}
	v.titled("cancelled 0")

	if err := v.Drop(Drop{X: 300, Y: 200, Files: []string{"a.txt"}}, Stamp{Epoch: epoch}); err != nil {
		t.Fatal(err)
	}
	v.titled("dropped at 300,200 a.txt=A")
	if err := other.Drop(Drop{X: 300, Y: 200, Files: []string{"a.txt"}}, Stamp{Epoch: epoch}); !errors.Is(err, ErrNotController) {
		t.Errorf("somebody who is not in control drops: %v", err)
	}

	// A page that is left no longer asks. A chooser that nobody can see is
	// cancelled.
	v.click(700, 100, epoch)
	asked = await(v, "third chooser", opened)
	if err := v.Navigate(browsertest.Context(t, "leave"), 0, "reload", ""); err != nil {
		t.Fatal(err)
	}
	await(v, "the chooser's end with its page", func(m ChooserMessage) bool { return m.Closed && m.ID == asked.ID })
	v.titled("ready")
	v.click(100, 100, epoch)
	await(v, "fourth chooser", opened)
	newcomer := join(t, s, RoleView) // has not got any title yet
	newcomer.titled("ready")
	other.Leave()
	late.Leave()
	v.Lost() // and does not return in time
	newcomer.titled("cancelled 0")
	for {
		select {
		case m := <-onlooker.messages:
			if _, ok := m.(ChooserMessage); ok {
				t.Errorf("an onlooker was asked: %+v", m)
			}
			continue
		default:
		}
		break
	}
}

// TestChooserOfScript checks that file choosers are left to a script that listens
// for them, whoever is in control.
func TestChooserOfScript(t *testing.T) {
	s := borrow(t, serve(t, chooserPage))
	v := join(t, s, RoleControl)
	v.titled("ready")
	r := startRun(t, s, `
		const chosen = page.waitForEvent('filechooser');
		const help = requestTakeover('press');
		await (await chosen).setFiles({ name: 'script.txt', mimeType: 'text/plain', buffer: Buffer.from('S') });
		await help;
		await page.waitForFunction(() => document.title.endsWith('script.txt=S'));
		return page.title()`)
	to := openTakeoverOf(t, r)
	epoch := v.take()
	v.click(100, 100, epoch)
	if err := to.Done("test", ""); err != nil {
		t.Fatal(err)
	}
	if got := resultOf[string](t, r); got != "script.txt=S" {
		t.Errorf("the page received %q", got)
	}
	// Nobody listens any more, so the person is asked.
	epoch = v.take()
	v.click(100, 100, epoch)
	m := await(v, "chooser", func(ChooserMessage) bool { return true })
	if err := v.Chooser(t.Context(), m.ID, nil); err != nil {
		t.Fatal(err)
	}
	v.titled("cancelled 0")
}
