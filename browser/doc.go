// Package browser is Chromium as it is: starting and supervising the process
// ([Launch]), and a live model of what runs in it ([Attach]): contexts, pages,
// frames, JavaScript worlds, navigation with its lifecycle, and dialogs. It
// knows the DevTools protocol and nothing of Playwright.
//
// # The model
//
// One goroutine owns the model. It takes the client's events and the replies to
// the model's own commands from one queue, in the order Chromium sent them,
// changes the model, and calls the subscribers ([Browser.Subscribe]). Nothing it
// does waits for anything. Everybody else reads the model through methods,
// under one mutex, and waits for it to change.
//
// Two promises follow from the order. Whoever waited for a state (a commit, a
// lifecycle, a reply to [World.Call] or [Call]) goes on only after the
// subscribers were told everything that led to it. And within [Browser.Do]
// nothing changes, so that a snapshot and a subscription fit together.
package browser
