package automation

import (
	"context"
	"encoding/json"
	"fmt"

	"takeover/browser"
	"takeover/storagestate"
)

// restoreTabStorage makes a page have the session storage of origins when it first
// shows them. After that, the storage is the page's: what a site removes does not
// come back.
func restoreTabStorage(ctx context.Context, p *browser.Page, origins []storagestate.Origin) error {
	for _, o := range origins {
		items := o.Items("sessionStorage")
		if len(items) == 0 {
			continue
		}
		raw, err := json.Marshal(items)
		if err != nil {
			return fmt.Errorf("restore session storage: %w", err)
		}
		name := o.Name()
		script, err := p.AddInitScript(ctx, browser.InitScriptOptions{
			World: browser.WorldUtility,
			Source: "if (window === top && location.origin === new URL(" + string(mustJSON(name)) + ").origin && !sessionStorage.length)\n" +
				"\tfor (const { name, value } of " + string(raw) + ")\n\t\tsessionStorage.setItem(name, value);",
		})
		if err != nil {
			return fmt.Errorf("restore session storage: %w", err)
		}
		var stop func()
		stop = p.Context().Browser().Subscribe(func(ev browser.Event) {
			if shown, ok := ev.(browser.FrameNavigated); ok && shown.Frame == p.MainFrame() && browser.Origin(shown.Frame.URL()) == name {
				script.Remove()
				stop()
			}
		})
	}
	return nil
}
