// Package fetch makes HTTP requests for scripts outside a page: redirects,
// cookies, credentials, compressed bodies. A policy checks every address before
// the client connects to it, both the one in the URL and the one that its name
// resolves to.
package fetch
