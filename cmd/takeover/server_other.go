//go:build !linux

package main

import "context"

// hasServer says whether the program contains the server.
const hasServer = false

// startServer is the advice when no server answers.
const startServer = "Start one on Linux, or in a container"

// serverCommands stand for the commands of the server, so that whoever tries one
// reads why it is missing.
type serverCommands struct {
	Serve  missingCommand `cmd:"" hidden:"" passthrough:""`
	Doctor missingCommand `cmd:"" hidden:"" passthrough:""`
}

// missingCommand is a command of the server, with whatever flags.
type missingCommand struct {
	Args []string `arg:"" optional:""`
}

// Run says where the server runs.
func (*missingCommand) Run() error {
	return usage("the server runs on Linux; elsewhere, run its container image. This program talks to a server: name it with --server or TAKEOVER_URL")
}

// runAsChild returns: no server has started this process.
func runAsChild([]string) {}

// chromiumVersion finds nothing: there is no server that would start a Chromium.
func chromiumVersion(context.Context) (found, path string) { return "", "" }

// pageNotices returns nothing: the program has no scripts for pages.
func pageNotices() string { return "" }
