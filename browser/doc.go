// Package browser keeps a live model of a Chromium ([Attach]): contexts, pages, frames,
// JavaScript worlds, navigation with its lifecycle, and dialogs. It knows the DevTools
// protocol and nothing about Playwright. Package chromium starts it.
//
// # The model
//
// One goroutine owns the model. It takes events and replies to the model's own
// commands from one queue, in the order in which Chromium sent them, changes the
// model, and calls the subscribers ([Browser.Subscribe]). It does so in turns, one
// for each entry of the queue, and never blocks. All other goroutines read the
// model through methods, under one mutex, and wait for changes.
//
// This order gives two guarantees. A caller that waits for a state (a commit, a
// lifecycle, a reply to [World.Call] or [Call]) continues only after the
// subscribers have got every event that led to it. And the model does not change
// within [Browser.Do], so a snapshot and a subscription made there miss nothing
// in between.
package browser
