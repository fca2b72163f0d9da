package scripting_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"takeover/scripting"
)

// TestGlobs holds the dialect of globs to what playwright-core 1.65 was seen to
// match, by the same script.
func TestGlobs(t *testing.T) {
	type glob struct {
		Glob  string   `json:"glob"`
		Base  string   `json:"base,omitempty"`
		Yes   []string `json:"yes"`
		No    []string `json:"no"`
		Error string   `json:"error,omitempty"`
	}
	urls := func(paths ...string) []string { return paths }
	const base = "http://a.test/dir/page?z"
	cases := []glob{
		{Glob: "**/*.{png,jpg}", Yes: urls("/x.png", "/d/x.jpg"), No: urls("/x.jpeg", "/x.png?q=1", "/x.PNG")},
		{Glob: "*", No: urls("/", "/x")},
		{Glob: "**", Yes: urls("/", "/a/b?c")},
		{Glob: "http://a.test/*", Yes: urls("/", "/a", "/a?b"), No: urls("/a/b")},
		{Glob: "http://a.test/**/x", Yes: urls("/x", "/a/x", "/a/b/x"), No: urls("/ax")},
		{Glob: "http://a.test/a**/b", Yes: urls("/a/b", "/ax/y/b"), No: urls("/ab")},
		{Glob: "http://a.test/a?c", Yes: urls("/a?c"), No: urls("/abc", "/a")},
		{Glob: `http://a.test/x\?q`, Yes: urls("/x?q"), No: urls("/xq")},
		{Glob: `http://a.test/\*`, Yes: urls("/*"), No: urls("/abc")},
		{Glob: "http://a.test/[ab]", Yes: urls("/[ab]"), No: urls("/a")},
		{Glob: "http://a.test/x.js", Yes: urls("/x.js"), No: urls("/xxjs")},
		{Glob: "http://a.test/{a,*.js}", Yes: urls("/x.js", "/a"), No: urls("/d/x.js")},
		{Glob: "http://a.test/{a/b,c}", Yes: urls("/a/b", "/c"), No: urls("/a")},
		{Glob: `http://a.test/{a\,b}`, Yes: urls("/a,b"), No: urls("/a")},
		{Glob: "http://a.test/a,b", Yes: urls("/a,b")},
		// As browsers write URLs.
		{Glob: "http://a.test", Yes: urls("/"), No: urls("/x")},
		{Glob: "http://A.TEST:80/Path", Yes: urls("/Path"), No: urls("/path")},
		{Glob: "HTTP{,s}://A.test/x", Yes: urls("/x")},
		{Glob: "http://*.TEST", Yes: urls("/"), No: urls("/x")},
		{Glob: "http://a.test?x", Yes: urls("/?x")},
		{Glob: "http://a.test/a b", Yes: urls("/a b")},
		{Glob: "http://a.test/ä", Yes: urls("/ä")},
		{Glob: "http://a.test/ä*", No: urls("/ä")},
		{Glob: "http://a.test/*/../x", Yes: urls("/x"), No: urls("/a/x")},
		{Glob: "http://a.test/x?a=/b/../c", Yes: urls("/x?a=/b/../c"), No: urls("/x?a=/c")},
		{Glob: "http://a.test/x#part", No: urls("/x")},
		{Glob: "**/ä", No: urls("/ä")},
		// From a base.
		{Glob: "a*", Base: base, Yes: urls("/dir/ab"), No: urls("/ab")},
		{Glob: "../*", Base: base, Yes: urls("/x"), No: urls("/dir/x")},
		{Glob: "/{a,b}", Base: base, Yes: urls("/a", "/b"), No: urls("/c", "/dir/a")},
		{Glob: "?q=*", Base: base, Yes: urls("/dir/page?q=1"), No: urls("/dir/?q=1")},
		{Glob: "*/x", Base: base, No: urls("/dir/y/x")},
		{Glob: "http{,s}://a.test/x", Base: base, Yes: urls("/x"), No: urls("/dir/x")},
		{Glob: "a.test/x", Base: base, Yes: urls("/dir/a.test/x"), No: urls("/x")},
		// What is no glob.
		{Glob: "**/{a", Error: `page.route: Invalid glob pattern "**/{a": unmatched '{'`},
		{Glob: "/a}", Base: base, Error: `page.route: Invalid glob pattern "http://a.test/a}": unmatched '}'`},
		{Glob: "{a,{b,c}}", Error: `page.route: Invalid glob pattern "{a,{b,c}}": nested '{' is not supported`},
	}
	list, err := json.Marshal(cases)
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
				if (told !== error)
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
