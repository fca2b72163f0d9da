package session

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	protoruntime "github.com/chromedp/cdproto/runtime"

	"takeover/background"
	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp"
	"takeover/limits"
)

// saidBy runs a script that must succeed, and returns its background events and log.
func saidBy(t *testing.T, s *Session, code string) ([]background.Event, string) {
	t.Helper()
	r := startRun(t, s, code)
	info := endOf(t, r)
	if info.Status != RunSucceeded {
		t.Fatalf("the run ended as %s: %+v", info.Status, info.Error)
	}
	return info.BackgroundEvents, r.Log()
}

// inPage runs a script in the session's page, outside of any run.
func inPage(t *testing.T, s *Session, code string) {
	t.Helper()
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := cdp.Call(t.Context(), eng.model.Pages()[0].Session(), protoruntime.Evaluate, protoruntime.EvaluateParams{Expression: code, AwaitPromise: new(true)})
	if err != nil || answer.ExceptionDetails != nil {
		t.Fatal(err, answer.ExceptionDetails)
	}
	s.monitor.Heard(t.Context())
}

// wantLines fails unless text contains the lines, directly one after the other.
func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	if want := strings.Join(lines, "\n"); !strings.Contains(text, want) {
		t.Errorf("want\n%s\nin\n%s", want, text)
	}
}

// throwLater throws in a timer and returns after that.
const throwLater = `new Promise(done => setTimeout(function later() { setTimeout(done); throw new Error('too late') }))`

// TestBackgroundLog checks what the log of a run shows.
func TestBackgroundLog(t *testing.T) {
	m := startManager(t, Options{})
	s := create(t, m, CreateOptions{URL: site(t) + "/one"})
	host := strings.TrimSuffix(strings.TrimPrefix(s.Info().URL, "http://"), "/one")

	t.Run("errors that nobody caught", func(t *testing.T) {
		events, log := saidBy(t, s, `await page.evaluate(() => `+throwLater+`);
			await page.evaluate(() => new Promise(done => { addEventListener('unhandledrejection', () => setTimeout(done), {once: true});
				const script = document.createElement('script'); script.textContent = "Promise.reject(new TypeError('no promise'))"; document.body.append(script) }));
			return {n: 1}`)
		if len(events) != 2 || events[0].Type != "error" || events[0].Source != "window.onerror" || events[0].Message != "Error: too late" ||
			!strings.Contains(events[0].Stack, "\n    at later (") || events[1].Source != "unhandledrejection" || events[1].Message != "TypeError: no promise" {
			t.Errorf("got %+v", events)
		}
		if !strings.HasPrefix(log, "> **Page one** to agent at ") {
			t.Errorf("got %s", log)
		}
		wantLines(t, log, "```JSON", `{"n":1}`, "```", "```Error window.onerror", "Error: too late", "    at later (")
		wantLines(t, log, "```Error unhandledrejection", "TypeError: no promise")
		if !strings.HasSuffix(log, "\n```\n\n"+strings.Repeat("-", 70)+"\n") {
			t.Errorf("ends %q", log[max(0, len(log)-90):])
		}
	})

	t.Run("consoles", func(t *testing.T) {
		events, log := saidBy(t, s, `await page.evaluate(() => {
			window.touched = 0;
			const circle = {name: 'circle', deep: {two: {three: {four: 4}}}, get eye() { touched++ }, run() {}};
			circle.self = circle; circle.deep.back = circle.deep;
			console.log(circle); console.log([1, {a: 'b'}]); console.log(7); console.log('text'); console.log('n', {n: 1}, [2]);
			console.info('info'); console.warn('warn'); console.error('error'); console.debug('debug');
		}); return page.evaluate(() => touched)`)
		if len(events) != 8 {
			t.Fatalf("got %+v", events)
		}
		var said []string
		for _, e := range events {
			said = append(said, e.Level+" "+e.Message)
		}
		want := []string{
			`log {"name":"circle","deep":{"two":{"three":"Object"},"back":"[Circular]"},"eye":"[Getter]","run":"[Function: run]","self":"[Circular]"}`,
			`log [1,{"a":"b"}]`, `log 7`, `log text`, `log n {"n":1} [2]`, `info info`, `warn warn`, `error error`,
		}
		if !slices.Equal(said, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
		}
		wantLines(t, log, "```JSON", "0", "```", "```JSON console.log", `{"name":"circle"`)
		wantLines(t, log, "```", "```JSON console.log", `[1,{"a":"b"}]`, "```", "```JSON console.log", "7", "```", "```Text console.log", "text", "```", "```Text console.log", `n {"n":1} [2]`,
			"```", "```Text console.info", "info", "```", "```Text console.warn", "warn", "```", "```Error console.error", "error", "```")
	})

	t.Run("workers", func(t *testing.T) {
		events, log := saidBy(t, s, `await page.evaluate(() => new Promise(done => {
			const code = "console.log('from the worker', 1); setTimeout(() => { setTimeout(() => postMessage(0)); throw new Error('in the worker') })";
			const worker = new Worker(URL.createObjectURL(new Blob([code])));
			worker.onmessage = () => { console.log('the page'); done() };
		}))`)
		if len(events) != 3 || !slices.ContainsFunc(events, func(e background.Event) bool {
			return e.Message == "Error: in the worker" && e.Source == "window.onerror"
		}) {
			t.Errorf("got %+v", events)
		}
		sections := strings.Split(log, strings.Repeat("-", 70)+"\n")
		if len(sections) != 3 || !strings.HasPrefix(sections[0], "> **Page one** to agent") || !strings.Contains(sections[0], "the page") ||
			!strings.HasPrefix(sections[1], "> **"+host+"/") || !strings.Contains(sections[1], "from the worker 1") || !strings.Contains(sections[1], "```Error window.onerror\nError: in the worker\n") {
			t.Errorf("got %d: %s", len(sections), log)
		}
	})

	t.Run("while the run goes on", func(t *testing.T) {
		r := startRun(t, s, `await page.evaluate(() => { console.log('tick'); return new Promise(done => addEventListener('go', done, {once: true})) })`)
		browsertest.Until(t, "the line is in the log", func() bool { return strings.Contains(r.Log(), "tick") })
		for _, log := range []string{r.Log(), s.Log()} {
			wantLines(t, log, "```Text console.log", "tick", "```", "executing (")
			if !strings.HasSuffix(log, "s)\n") {
				t.Errorf("got %s", log)
			}
		}
		if events := r.Info().BackgroundEvents; len(events) != 1 {
			t.Errorf("got %+v", events)
		}
		inPage(t, s, `dispatchEvent(new Event('go'))`)
		endOf(t, r)
		if log := r.Log(); strings.Contains(log, "executing") || !strings.Contains(log, "tick") {
			t.Errorf("got %s", log)
		}
	})

	t.Run("outside of runs", func(t *testing.T) {
		before := s.Log()
		inPage(t, s, `document.title = ''; 0`)
		browsertest.Until(t, "the page has no title", func() bool { return s.Info().Title != "Page one" })
		inPage(t, s, `console.warn('1'); console.warn('2'); console.warn('3'); console.warn('4'); `+throwLater)
		browsertest.Until(t, "the events are in the log", func() bool { return strings.Contains(s.Log()[len(before):], "too late") })
		log := s.Log()[len(before):]
		if !strings.HasPrefix(log, "> **"+host+"/one** background at ") {
			t.Errorf("got %s", log)
		}
		wantLines(t, log, "```Text console.warn", "1", "```", "```Text console.warn", "2", "```")
		events, _ := saidBy(t, s, `return 1`)
		if len(events) != 0 {
			t.Errorf("the next run got %+v", events)
		}
	})

	t.Run("many", func(t *testing.T) {
		events, log := saidBy(t, s, `await page.evaluate(() => { for (let i = 1; i <= 15; i++) console.info('line ' + i) })`)
		if len(events) != 15 {
			t.Errorf("got %d events", len(events))
		}
		wantLines(t, log, "line 2", "```", "... (5 more background events omitted) ...", "```Text console.info", "line 8", "```")
		if n := strings.Count(log, "```Text console.info"); n != 10 {
			t.Errorf("%d are shown", n)
		}
	})

	t.Run("the run's own errors are none", func(t *testing.T) {
		for _, code := range []string{
			`throw new Error('mine')`,
			`await page.evaluate(() => { throw new Error('mine') })`,
			`await page.evaluate(async () => { await null; throw new Error('mine') })`,
			`await page.evaluate(() => Promise.reject(new Error('mine')))`,
			`await page.waitForFunction(() => { throw new Error('mine') })`,
		} {
			r := startRun(t, s, code)
			info := endOf(t, r)
			if info.Status != RunFailed || !strings.Contains(info.Error.Message, "mine") {
				t.Errorf("%s: %s, %+v", code, info.Status, info.Error)
			}
			if len(info.BackgroundEvents) > 0 {
				t.Errorf("%s: %+v", code, info.BackgroundEvents)
			}
			if log := r.Log(); strings.Count(log, "```Error") != 1 || !strings.Contains(log, "```Error\nError: ") {
				t.Errorf("%s: %s", code, log)
			}
		}
	})

	t.Run("a page that asks not to be heard", func(t *testing.T) {
		events, _ := saidBy(t, s, `for (let i = 0; i < 12; i++) {
				await page.reload();
				await page.evaluate((i) => console.log('heard', i), i);
				await page.evaluate(() => { window.__DAEBUG_NO_CONSOLE_CAPTURE = true; console.log('unheard'); console.error('unheard') });
				await page.evaluate(() => 0); // its result follows the two lines, so the page is asked before it reloads
			}
			await page.evaluate(() => `+throwLater+`);
			await page.reload();
			await page.evaluate(() => { Object.defineProperty(window, '__DAEBUG_NO_CONSOLE_CAPTURE', {get() { document.title = 'seen'; return true }}); console.log('heard too') });
			if (await page.title() === 'seen') throw new Error('the page saw it')`)
		var said, want []string
		for i := range 12 {
			want = append(want, fmt.Sprintf("heard %d", i))
		}
		for _, e := range events {
			said = append(said, e.Message)
		}
		if want = append(want, "Error: too late", "heard too"); !slices.Equal(said, want) {
			t.Errorf("got %q, want %q", said, want)
		}
	})

	t.Run("nothing is captured by it", func(t *testing.T) {
		if state, _, _ := s.Monitor().State(); state != capture.StateOff || s.Info().EventCount != 0 {
			t.Errorf("capture is on, or has %d events", s.Info().EventCount)
		}
	})
}

// TestBackgroundFlood checks that a page that floods uses a bounded amount of
// memory and little time, and that the number of dropped lines is reported once.
func TestBackgroundFlood(t *testing.T) {
	m := startManager(t, Options{})
	s := create(t, m, CreateOptions{URL: site(t) + "/flood"})
	const lines = 20_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := startRun(t, s, fmt.Sprintf(`return page.evaluate(async () => {
		for (let i = 0; i < %d; i += 1000) { for (let j = 0; j < 1000; j++) console.log('line', i + j, {some: 'object'}); await new Promise(r => setTimeout(r)) }
		return 'done' })`, lines))
	peak := uint64(0)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for open := true; open; {
		select {
		case <-r.Done():
			open = false
		case <-look.C:
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapInuse)
			_ = r.Log()
		}
	}
	info := endOf(t, r)
	if string(info.Result) != `"done"` {
		t.Fatalf("got %s, %+v", info.Result, info.Error)
	}
	if peak > before.HeapInuse+64<<20 {
		t.Errorf("the heap grew from %d to %d MB", before.HeapInuse>>20, peak>>20)
	}
	dropped := 0
	for _, e := range info.BackgroundEvents {
		if strings.Contains(e.Message, "background events dropped (over 100/s)") {
			dropped++
			if e.Type != "console" || e.Level != "warn" {
				t.Errorf("got %+v", e)
			}
		}
	}
	if dropped != 1 || len(info.BackgroundEvents) != background.MaxKept {
		t.Errorf("%d of %d tell what was dropped: %+v", dropped, len(info.BackgroundEvents), info.BackgroundEvents)
	}
	// /metrics counts the same dropped lines.
	if rate, queue := m.Limits().Count(limits.ConsoleRate), m.Limits().Count(limits.CaptureQueue); rate == 0 || rate+queue > lines {
		t.Errorf("%d lines were too fast and %d did not fit the queue, of %d", rate, queue, lines)
	}
	t.Logf("heap %d → at most %d MB", before.HeapInuse>>20, peak>>20)
}

// TestWaitForSettled waits in a script for the effects of a click, while nothing
// is captured.
func TestWaitForSettled(t *testing.T) {
	m := startManager(t, Options{})
	s := create(t, m, CreateOptions{URL: site(t) + "/settle"})
	got := resultOf[[]string](t, startRun(t, s, `
		await page.waitForSettled();
		await page.evaluate(() => document.body.addEventListener('click', () => {
			fetch('/a').then(r => r.text()).then(() => fetch('/b')).then(r => r.text()).then(text => { document.title = 'has ' + text.length });
		}));
		await page.locator('body').click();
		await page.waitForSettled();
		const title = await page.title();
		await page.evaluate(() => { const poll = () => fetch('/c').then(r => r.text()); poll(); setInterval(poll, 100) });
		const late = await page.waitForSettled({ timeout: 700 }).catch(e => e);
		const other = await context.newPage();
		await other.waitForSettled();
		await other.evaluate(() => { const poll = () => fetch('data:,x').then(r => r.text()); poll(); setInterval(poll, 100) });
		const waiting = other.waitForSettled({ timeout: 100_000 }).catch(e => e.message);
		await other.close();
		return [title, late.name, late.message, await waiting];
	`))
	if !strings.HasPrefix(got[0], "has ") || got[1] != "TimeoutError" || !strings.HasPrefix(got[2], "page.waitForSettled: Timeout 700ms exceeded.") || !strings.Contains(got[3], "closed") {
		t.Errorf("got %q", got)
	}
	if state, config, _ := s.Monitor().State(); state != capture.StateOff || config.Network || s.Info().EventCount != 0 {
		t.Errorf("capture is on: %+v, %d events", config, s.Info().EventCount)
	}
}

// TestWaitForSettledKnowsOfEarlier waits for a request that the page sent before
// the script started.
func TestWaitForSettledKnowsOfEarlier(t *testing.T) {
	asked, released := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			close(asked)
			select {
			case <-released:
			case <-r.Context().Done():
			}
		case "/release":
			close(released)
		}
		_, _ = io.WriteString(w, "<link rel=icon href=data:,>")
	}))
	defer srv.Close()
	s := borrow(t, srv.URL)
	endOf(t, startRun(t, s, `await page.evaluate(() => { fetch('/slow').then(r => r.text()).then(text => { document.title = 'answered' }) })`))
	waitFor(t, "the request", asked)
	got := resultOf[[]string](t, startRun(t, s, `
		const early = await page.waitForSettled({ timeout: 2500 }).then(() => 'settled', e => e.name);
		await page.evaluate(() => { fetch('/release') });
		await page.waitForSettled();
		return [early, await page.title()];
	`))
	if got[0] != "TimeoutError" || got[1] != "answered" {
		t.Errorf("got %q", got)
	}
}

// TestWaitForSettledAtRest checks that waiting for a page that is already at rest
// returns at once, however the script spells the call. Detecting it afresh would
// take more than a second.
func TestWaitForSettledAtRest(t *testing.T) {
	s := borrow(t, site(t)+"/rest")
	endOf(t, startRun(t, s, `await page.waitForSettled()`))
	for _, call := range []string{"page.waitForSettled", "page['waitFor' + 'Settled']"} {
		r := startRun(t, s, `await `+call+`({ timeout: 950 })`)
		if info := endOf(t, r); info.Status != RunSucceeded {
			t.Errorf("%s of a page that rests: %+v", call, info.Error)
		}
	}
	moved := resultOf[float64](t, startRun(t, s, `
		await page.evaluate(() => new Promise(done => {
			document.body.insertAdjacentHTML('beforeend', '<div style="height:50px"></div><p>text</p>');
			requestAnimationFrame(() => requestAnimationFrame(() => {
				document.querySelector('div').style.height = '150px';
				requestAnimationFrame(() => requestAnimationFrame(done));
			}));
		}));
		const began = performance.now();
		await page.waitForSettled();
		return performance.now() - began;
	`))
	if moved < 500 {
		t.Errorf("the page rests %v ms after it moved", moved)
	}
}

// TestWaitForSettledKnowsOfFramesElsewhere waits for a request that a frame in
// another process sent before the script started.
func TestWaitForSettledKnowsOfFramesElsewhere(t *testing.T) {
	asked, released := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			_, port, _ := strings.Cut(r.Host, ":")
			_, _ = fmt.Fprintf(w, `<link rel=icon href=data:,><iframe src="http://localhost:%s/inner"></iframe>`, port)
		case "/inner":
			_, _ = io.WriteString(w, `<script>addEventListener('message', () => fetch('/slow').then(r => r.text()).then(text => { document.title = 'answered' }))</script>`)
		case "/slow":
			close(asked)
			select {
			case <-released:
			case <-r.Context().Done():
			}
		case "/release":
			close(released)
		}
	}))
	defer srv.Close()
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: srv.URL})
	endOf(t, startRun(t, s, `await page.waitForSettled(); await page.evaluate(() => frames[0].postMessage('go', '*'))`))
	waitFor(t, "the request", asked)
	got := resultOf[[]string](t, startRun(t, s, `
		const early = await page.waitForSettled({ timeout: 2500 }).then(() => 'settled', e => e.name);
		await page.evaluate(() => { fetch('/release') });
		await page.waitForSettled();
		return [early, await page.frames()[1].title()];
	`))
	if got[0] != "TimeoutError" || got[1] != "answered" {
		t.Errorf("got %q", got)
	}
}
