// Package steel gives programs that were written for Steel's API its names: the
// fields of its sessions, contexts and files, and its calls that read one page.
// The routes and the rights to call them belong to package web.
package steel
