package scripting_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"takeover/automation"
	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/scripting"
	"takeover/scripting/workertest"
)

// TestFiftyContexts starts fifty runs at once, each in a context of its own: none
// sees another's pages, cookies or storage, and a run that misbehaves does not
// disturb others.
func TestFiftyContexts(t *testing.T) {
	const runs = 50
	server := httptest.NewServer(http.HandlerFunc(serveSite))
	defer server.Close()
	b, err := browser.Attach(t.Context(), browsertest.Start(t).Conn(), &browser.Options{Downloads: browsertest.Start(t).DownloadsDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	a := automation.New(b, automation.Options{Files: browsertest.Files(t)})
	defer a.Close()
	pool := scripting.NewPool(scripting.PoolOptions{Executable: workertest.Command(scripting.Subcommand), Limits: scripting.Limits{TurnTime: 30 * time.Second}}) // all start at once
	defer func() { _ = pool.Close() }()

	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() {
			bc, err := b.NewContext(t.Context(), browser.ContextOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
				defer cancel()
				_ = bc.Close(ctx)
			}()
			ready := make(chan struct{})
			var run *scripting.Run
			client := a.NewClient(automation.ClientOptions{Context: bc, Emit: func(event string, params json.RawMessage) {
				<-ready
				run.Emit(event, params)
			}})
			defer client.Close()
			code := `page.setDefaultTimeout(60_000);
				await page.goto(args.url + '/form', { timeout: 60_000 });
				await page.evaluate(i => { localStorage.setItem('who', i); document.cookie = 'who=' + i }, args.i);
				await page.getByLabel('Name').fill('run ' + args.i);
				return [await page.getByLabel('Name').inputValue(), await page.localStorage.items(), await page.evaluate(() => document.cookie), context.pages().length]`
			if i%10 == 9 {
				code = `for (;;) { const a = []; while (a.length < 1e5) a.push({}); }`
			}
			args, _ := json.Marshal(map[string]any{"url": server.URL, "i": fmt.Sprint(i)})
			script := scripting.Script{Code: code, Args: args}
			if i%10 == 9 {
				script.Timeout = time.Second
			}
			run, err = pool.Start(t.Context(), script, operations{client}, &logs{})
			if err != nil {
				t.Error(err)
				return
			}
			close(ready)
			res := run.Wait()
			if i%10 == 9 {
				if res.Status != scripting.StatusTimeout {
					t.Errorf("run %d without end: %s %v", i, res.Status, res.Err)
				}
				return
			}
			if want := fmt.Sprintf(`["run %d",[{"name":"who","value":"%[1]d"}],"who=%[1]d",1]`, i); string(res.Value) != want {
				t.Errorf("run %d: %s %v\n got %s\nwant %s", i, res.Status, res.Err, res.Value, want)
			}
		})
	}
	wg.Wait()
}

func TestWebStorage(t *testing.T) {
	res := runIn(t, `
		await page.goto(args.url);
		const { localStorage: l, sessionStorage: s } = page;
		await l.setItem('a', '1'); await page.evaluate(() => { localStorage.setItem('b', '"2"'); sessionStorage.setItem('c', '3') });
		const out = [await l.items(), await l.getItem('b'), await l.getItem('none'), await s.items(), l === page.localStorage, l.constructor.name];
		await l.removeItem('a'); out.push((await l.items()).length); await l.clear(); out.push(await page.evaluate(() => localStorage.length), await s.getItem('c'));
		for (const bad of [() => l.getItem(5), () => l.setItem('a', {})]) try { await bad() } catch (e) { out.push(e.message) }
		return out`)
	want := `[[{"name":"a","value":"1"},{"name":"b","value":"\"2\""}],"\"2\"",null,[{"name":"c","value":"3"}],true,"WebStorage",1,0,"3",` +
		`"webStorage.getItem: name: expected string, got number","webStorage.setItem: value: expected string, got object"]`
	if string(res.Value) != want {
		t.Errorf("%v\n got %s\nwant %s", res.Err, res.Value, want)
	}
}
