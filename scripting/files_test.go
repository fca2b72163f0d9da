package scripting_test

import (
	"testing"

	"takeover/scripting"
)

// cases runs scripts that return something.
func cases(t *testing.T, list []struct{ name, code, want string }) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			res := runIn(t, c.code)
			if res.Status != scripting.StatusSucceeded || string(res.Value) != c.want {
				t.Errorf("%s %+v\n got %s\nwant %s", res.Status, res.Err, res.Value, c.want)
			}
		})
	}
}

func TestFilesOfTheSession(t *testing.T) {
	cases(t, []struct{ name, code, want string }{
		{"what is written can be uploaded", `
			await page.setContent('<input type=file multiple>');
			const shot = await page.screenshot({ path: 'shots/page.png' });
			await page.locator('input').screenshot({ path: 'input.png' });
			await page.setInputFiles('input', ['page.png', './input.png']);
			return await page.locator('input').evaluate((i, n) => [...i.files].map(f => f.name + (f.size === n)), shot.length)`,
			`["page.pngtrue","input.pngfalse"]`},
		{"buffers", `
			await page.setContent('<input type=file>');
			await page.locator('input').setInputFiles({ name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('hällo') });
			return await page.locator('input').evaluate(async i => [i.files[0].name, i.files[0].type, await i.files[0].text()])`,
			`["x.txt","text/plain","hällo"]`},
		{"refusals", `
			await page.setContent('<input type=file>');
			const messages = [];
			for (const files of ['none.pdf', ['a', { name: 'b', mimeType: '', buffer: Buffer.from('') }], { name: 'big', mimeType: '', buffer: Buffer.alloc(50 * 1024 * 1024 + 1) }])
				await page.setInputFiles('input', files).catch(e => messages.push(e.message.split('\n')[0]));
			return messages`,
			`["page.setInputFiles: ENOENT: no such file or directory, open 'none.pdf' (paths are names of the session's files)","page.setInputFiles: File paths cannot be mixed with buffers",` +
				`"page.setInputFiles: Cannot set buffer larger than 50Mb, please write it to a file and pass its path instead."]`},
	})
}
