// Package automation implements Playwright's semantics on top of package browser:
// selectors, actionability, auto-waiting, actions, evaluation, expectations.
//
// Operations are listed in one table (operations.go), to which each file adds its
// own. Scripts, agents' commands and debug actions all use that table, each
// through a [Client] of their own. Parameters and results are JSON.
//
// Work inside a page is done by the page side: Playwright's own injected script
// and a thin layer over it (automation/page). Finding an element, waiting until it
// is ready, checking what is under the point, and filling or reading it take one
// round trip; the waiting and the retries happen in the page. Both scripts are put
// into a frame's isolated world when they are first needed. The page's own world
// gets only a small evaluator, which is held by object id, so no global variable
// reveals it to the page.
package automation
