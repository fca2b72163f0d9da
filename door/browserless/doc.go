// Package browserless gives programs that were written for Browserless its names:
// calls that read one page, a call that runs a function, and the list of sessions.
// The routes and the rights to call them belong to package web.
package browserless
