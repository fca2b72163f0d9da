// Package policy decides what programs may say to Chromium, and what they learn from
// it. The tables methods.txt and events.txt list the whole protocol. A Scope is one
// CDP session of a program, whether a script's own or one of a client of the CDP
// endpoint.
package policy
