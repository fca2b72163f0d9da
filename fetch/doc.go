// Package fetch makes the HTTP requests that scripts ask for outside a page:
// redirects, cookies, credentials, compressed bodies. Every address it connects
// to is asked of a policy, the one that a name resolves to as well as the one
// that is written in the URL.
package fetch
