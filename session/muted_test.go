package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/redact"
)

// TestMutedReports lets a script stop what the server runs in the page from
// reporting secret fields. What a person types into one is hidden all the same.
func TestMutedReports(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: secretSite(t)})
	passwords := []string{"Tr0ub4dor&3", "c0rrect-Horse", "Battery+5taple"}
	for name, mute := range map[string]string{
		"a debugger in the server's world": `
			await cdp.send('Debugger.enable');
			cdp.on('Debugger.paused', async ({ callFrames: [{ callFrameId }] }) => {
				await cdp.send('Debugger.evaluateOnCallFrame', { callFrameId, expression: 'globalThis.takeoverReport = () => {}' });
				await cdp.send('Debugger.resume');
			});
			await cdp.send('DOMDebugger.setEventListenerBreakpoint', { eventName: 'mousemove' });
			await page.mouse.move(5, 5); // ends after the pause
			await cdp.send('DOMDebugger.removeEventListenerBreakpoint', { eventName: 'mousemove' });
			await cdp.send('Debugger.disable');`,
		"a binding in place of what the server's world uses": `for (const name of ['JSON', 'HTMLElement', 'HTMLInputElement', 'setTimeout']) await cdp.send('Runtime.addBinding', { name });`,
		"no scripts in the page":                             `await cdp.send('Emulation.setScriptExecutionDisabled', { value: true });`,
	} {
		password := passwords[0]
		passwords = passwords[1:]
		t.Run(name, func(t *testing.T) {
			r := startRun(t, s, `
				await page.reload();
				const cdp = await context.newCDPSession(page);`+mute+`
				await requestTakeover('sign in');
				const value = await page.locator('#pw').inputValue();
				await cdp.detach();
				console.log('typed ' + value);
				return value;`)
			to := openTakeoverOf(t, r)
			v, epoch := claim(t, s, to)
			v.press(t, epoch, 100, 75)
			p, err := s.activePage()
			if err != nil {
				t.Fatal(err)
			}
			ctx := browsertest.Context(t, "notice of the field")
			for changed := s.secrets.Changed(); !s.veiled(p); changed = s.secrets.Changed() {
				select {
				case <-changed:
				case <-ctx.Done():
					t.Fatal(context.Cause(ctx))
				}
			}
			v.typeText(t, epoch, password)
			if _, _, err := s.Screenshot(t.Context(), "", false); !errors.Is(err, ErrSecret) {
				t.Errorf("a screenshot gave %v", err)
			}
			if err := v.Takeover("done", to.ID(), ""); err != nil {
				t.Fatal(err)
			}
			info := endOf(t, r)
			all, err := json.Marshal(info)
			if err != nil {
				t.Fatal(err)
			}
			absent(t, "the run", string(all), password)
			if info.Status != RunSucceeded || !strings.Contains(string(all), "typed "+redact.Mark) {
				t.Errorf("the script did not read the field: %s", all)
			}
		})
	}
}
