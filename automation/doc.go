// Package automation is Playwright's semantics over package browser: selectors,
// actionability, auto-waiting, actions, evaluation, expectations.
//
// There is one table of operations (operations.go), to which each file adds its own, and every door, a script, an
// agent's command or a debug action, goes through it with a [Client] of its own.
// Parameters and results are JSON.
//
// What happens in a page is done on the page's side, by Playwright's own
// injected script and a thin layer over it (automation/page): finding an
// element, waiting for it to be ready, checking what is under the point, filling
// or reading it is one round trip, with the waiting and its retries in the page.
// Both are put into a frame's isolated world when they are first needed. The
// page's own world only ever gets a small evaluator, held by object id; no
// global tells the page of it.
package automation
