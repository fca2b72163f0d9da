package scripting_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"takeover/automation"
	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/scripting"
	"takeover/scripting/workertest"
)

// site serves the pages that the scripts below visit.
var site = map[string]string{
	"/": `<title>Start</title><h1>Welcome</h1><a href="/form">To the form</a><iframe name="inner" src="/inner"></iframe>
		<button onclick="window.open('/popup')">Open</button>`,
	"/inner": `<p id="in">inside</p><button onclick="document.querySelector('#in').textContent='pressed'">Press</button>`,
	"/popup": `<title>Popup</title>`,
	"/form": `<title>Form</title><form onsubmit="event.preventDefault(); document.querySelector('output').textContent =
			name.value + ' ' + mail.value + ' ' + color.value + ' ' + terms.checked; history.pushState(0, '', '/done?ok=1')">
		<label>Name <input name="name"></label><input name="mail" placeholder="Your mail">
		<select name="color" aria-label="Color"><option>red</option><option value="b">blue</option></select>
		<label><input type="checkbox" name="terms"> I agree</label><button>Send</button><output data-testid="out"></output></form>
		<ul><li>one</li><li>two</li><li>three</li></ul>`,
}

// logs collects the log lines of a run.
type logs struct {
	mu    sync.Mutex
	lines []string
	tests []scripting.Test
}

func (l *logs) Log(line scripting.Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line.Text)
}

func (l *logs) Begun(scripting.Step) {}

func (l *logs) Step(s scripting.Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, "step "+s.Title+" "+s.Err)
}

func (l *logs) Test(t scripting.Test) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := "test " + t.Status + " " + t.Title
	if t.Err != nil {
		line += ": " + t.Err.Error()
	}
	l.lines = append(l.lines, line)
	l.tests = append(l.tests, t)
}

// runIn runs a script against a real page; args.url is the site above.
func runIn(t *testing.T, code string) scripting.Result {
	t.Helper()
	return runOn(t, http.HandlerFunc(serveSite), code, &logs{})
}

// runWith is like runIn, and also returns the log.
func runWith(t *testing.T, code string, l *logs) scripting.Result {
	t.Helper()
	return runOn(t, http.HandlerFunc(serveSite), code, l)
}

func serveSite(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	body, ok := site[r.URL.Path]
	if !ok {
		body = "not here" // without a body, Chromium shows a page of its own
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = w.Write([]byte(body))
}

// runOn runs a script against a real page; args.url is the URL of the handler.
func runOn(t *testing.T, handler http.Handler, code string, l *logs) scripting.Result {
	t.Helper()
	for _, dir := range []string{"dist/api.js", "../automation/dist/injected.js"} {
		if _, err := os.Stat(dir); err != nil {
			t.Skip("not built: run make generate")
		}
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	b, err := browser.Attach(t.Context(), browsertest.Start(t).Conn(), &browser.Options{Downloads: browsertest.Start(t).DownloadsDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	bc, err := b.NewContext(t.Context(), browser.ContextOptions{Viewport: &browser.Viewport{Width: 1000, Height: 700}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
		defer cancel()
		_ = bc.Close(ctx)
	})
	a := automation.New(b, automation.Options{Files: browsertest.Files(t)})
	t.Cleanup(a.Close)

	run := make(chan *scripting.Run, 1)
	var started *scripting.Run
	var once sync.Once
	client := a.NewClient(automation.ClientOptions{Context: bc, Emit: func(event string, params json.RawMessage) {
		once.Do(func() { started = <-run })
		started.Emit(event, params)
	}})
	t.Cleanup(client.Close)
	pool := scripting.NewPool(scripting.PoolOptions{Executable: workertest.Command(scripting.Subcommand), Cold: true}) // there is one run only
	t.Cleanup(func() { _ = pool.Close() })
	args, err := json.Marshal(map[string]string{"url": server.URL})
	if err != nil {
		t.Fatal(err)
	}
	r, err := pool.Start(t.Context(), scripting.Script{Code: code, Args: args}, operations{client}, l)
	if err != nil {
		t.Fatal(err)
	}
	run <- r
	res := r.Wait()
	if t.Failed() || res.Status == scripting.StatusFailed {
		t.Log(strings.Join(l.lines, "\n"))
	}
	return res
}

func TestWithBrowser(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"navigation", `
			const r = await page.goto(args.url);
			const missing = await page.goto(args.url + '/missing');
			await page.goBack();
			return [r.status(), r.ok(), await page.title(), page.url() === args.url + '/', missing.status(), await page.textContent('h1'), (await page.content()).includes('<h1>Welcome</h1>')]`,
			`[200,true,"Start",true,404,"Welcome",true]`},
		{"form", `
			await page.goto(args.url);
			await page.getByRole('link', { name: 'To the form' }).click();
			await page.waitForURL('**/form');
			await page.getByLabel('Name').fill('Ada');
			await page.getByPlaceholder('Your mail').pressSequentially('a@b.c');
			await page.getByLabel('Color').selectOption({ label: 'blue' });
			await page.getByLabel('I agree').check();
			await page.getByPlaceholder('Your mail').press('Enter');
			await page.waitForURL(/done\?ok=1$/);
			await expect(page.getByTestId('out')).toHaveText('Ada a@b.c b true');
			await expect(page).toHaveURL(/done/);
			return [await page.getByTestId('out').textContent(), new URL(page.url()).search]`,
			`["Ada a@b.c b true","?ok=1"]`},
		{"locators", `
			await page.goto(args.url + '/form');
			const items = page.locator('li');
			return [await items.count(), await items.allTextContents(), await items.nth(1).textContent(), await items.filter({ hasText: 'three' }).innerText(),
				await page.getByText('two').isVisible(), await page.getByText('four').isVisible(), await page.getByRole('button').getAttribute('name'), await items.last().evaluate(e => e.tagName),
				(await page.locator('ul').boundingBox()).width > 0, (await items.all()).length]`,
			`[3,["one","two","three"],"two","three",true,false,null,"LI",true,3]`},
		{"evaluate and handles", `
			await page.goto(args.url + '/form');
			const h = await page.evaluateHandle(() => ({ list: [1, 2], el: document.querySelector('button') }));
			const el = (await h.getProperty('el')).asElement();
			const v = await page.evaluate(([o, el, d]) => ({ n: o.list.length, t: el.textContent, y: d.getUTCFullYear(), u: undefined, x: -0 }), [h, el, new Date(0)]);
			return [v.n, v.t, v.y, 'u' in v, Object.is(v.x, -0), await page.$$eval('li', l => l.map(e => e.id || e.textContent)), await el.textContent(), await page.evaluate('1 + 1')]`,
			`[2,"Send",1970,true,true,["one","two","three"],"Send",2]`},
		{"frames", `
			await page.goto(args.url);
			const inner = page.frame('inner');
			await page.frameLocator('iframe').getByRole('button').click();
			return [await inner.locator('#in').textContent(), inner.url().endsWith('/inner'), inner.parentFrame() === page.mainFrame(), page.frames().length]`,
			`["pressed",true,true,2]`},
		{"popup", `
			await page.goto(args.url);
			const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Open' }).click()]);
			await popup.waitForLoadState();
			const out = [await popup.title(), await popup.opener() === page, context.pages().length];
			await popup.close();
			return [...out, context.pages().length, popup.isClosed()]`,
			`["Popup",true,2,1,true]`},
		{"keyboard and mouse", `
			await page.goto(args.url + '/form');
			await page.getByLabel('Name').focus();
			await page.keyboard.type('Hello');
			await page.keyboard.press('Shift+ArrowLeft');
			await page.keyboard.insertText('ö');
			const box = await page.getByLabel('I agree').boundingBox();
			await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
			return [await page.getByLabel('Name').inputValue(), await page.getByLabel('I agree').isChecked()]`,
			`["Hellö",true]`},
		{"screenshot", `
			await page.setContent('<body style="background:red">');
			const shot = await page.screenshot();
			return [shot.subarray(1, 4).toString(), shot.readUInt32BE(16)]`,
			`["PNG",1000]`},
		{"library script", `
			const { chromium } = require('playwright');
			const browser = await chromium.launch();
			const context = await browser.newContext();
			const page = await context.newPage();
			await page.goto(args.url);
			const title = await page.title();
			await browser.close();
			return title`,
			`"Start"`},
		{"timeout", `
			await page.goto(args.url);
			try { await page.getByText('never').click({ timeout: 200 }) } catch (e) { return [e.name, e.message.split('\n').slice(0, 3)] }`,
			`["TimeoutError",["locator.click: Timeout 200ms exceeded.","Call log:","  - waiting for getByText('never')"]]`},
		{"expectation that does not hold", `
			await page.goto(args.url + '/form');
			try { await expect(page.locator('li').first()).toHaveText('two', { timeout: 200 }) } catch (e) { return e.message.split('\n').slice(0, 6) }`,
			`["expect(locator).toHaveText(expected) failed","","Locator:  locator('li').first()","Expected: \"two\"","Received: \"one\"","Timeout:  200ms"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := runIn(t, c.code)
			if res.Status != scripting.StatusSucceeded || string(res.Value) != c.want {
				t.Errorf("%s %v\n got %s\nwant %s", res.Status, res.Err, res.Value, c.want)
			}
		})
	}
}

// operations runs the operations of a script in a client.
type operations struct{ client *automation.Client }

func (o operations) Begin(op string, params json.RawMessage) func(context.Context) (json.RawMessage, error) {
	return func(ctx context.Context) (json.RawMessage, error) {
		return o.client.Do(ctx, automation.Call{Name: op, Params: params})
	}
}
