package web

import "strings"

// sampleScript is what the editor starts with: it opens the demo site, asks a
// person to sign in, and returns who did.
func sampleScript(base string) string {
	return strings.ReplaceAll(`// Open the demo site, ask a person to sign in, and return who did.
await page.goto('BASE/demo/login');
await page.getByLabel('Email').fill('ada@example.com');

const outcome = await requestTakeover('Sign in to the demo: password, slider and code');
console.log('signed in by hand after', Math.round(outcome.durationMs / 1000), 's');

await page.waitForURL('**/demo/welcome');
return await page.locator('#user').textContent();
`, "BASE", base)
}
