package scripting_test

import (
	"net/http"
	"os"
	"testing"

	"takeover/scripting"
)

// TestGlobs compares the dialect of globs with ../urlglob/globs.json, which
// records what playwright-core 1.65 matched with the same script.
func TestGlobs(t *testing.T) {
	const base = "http://a.test/dir/page?z" // base URL of the cases that have one
	list, err := os.ReadFile("../urlglob/globs.json")
	if err != nil {
		t.Fatal(err)
	}
	res := runOn(t, http.NotFoundHandler(), `
		const wrong = [];
		for (const base of [undefined, '`+base+`']) {
			const page = await (await browser.newContext({ baseURL: base })).newPage();
			await page.route(() => true, route => route.fulfill({ body: 'no' }));
			await page.goto('http://a.test/');
			for (const { glob, yes, no, error, base: from } of `+string(list)+`) {
				if (from !== base)
					continue;
				let told;
				await page.route(glob, route => route.fulfill({ body: 'yes' })).catch(e => { told = e.message; });
				if (told !== (error && 'page.route: ' + error))
					wrong.push([glob, told]);
				for (const [want, paths] of [['yes', yes], ['no', no]]) {
					for (const path of paths ?? []) {
						const got = await page.evaluate(path => fetch(path).then(r => r.text()), 'http://a.test' + path);
						if (got !== want)
							wrong.push([glob, path, got]);
					}
				}
				await page.unroute(glob);
			}
		}
		return wrong`, &logs{})
	if res.Status != scripting.StatusSucceeded || string(res.Value) != "[]" {
		t.Errorf("%s %+v: wrong are %s", res.Status, res.Err, res.Value)
	}
}
