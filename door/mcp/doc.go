// Package mcp serves the Model Context Protocol: tools with which a language model
// uses the browsers of a server, and asks people for help.
//
// A Door is mounted over HTTP. Each caller has one conversation per session: a program that
// acts through session.Program, so that the rules of every program apply. What a
// tool answers is written for a model and kept small: package comments of tokens.go
// and tree.go say how.
package mcp
