package main

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
)

// duration parses the value of a flag that is a duration. A number without a unit
// means seconds.
func duration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if seconds, notNumber := strconv.ParseFloat(text, 64); notNumber == nil && math.Abs(seconds) < float64(math.MaxInt64/time.Second) {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil {
		return fmt.Errorf("%q is not a duration: write 90s, 5m or 1h30m; a number alone is seconds", text)
	}
	if d < 0 {
		return fmt.Errorf("%q is negative", text)
	}
	target.SetInt(int64(d))
	return nil
}

// foreign lists, for each command, the global flags that it does not use.
var foreign = map[string][]string{
	"serve":      {"server", "key", "json"},
	"version":    {"server", "key"},
	"doctor":     {"key"},
	"licenses":   {"server", "key", "json"},
	"mcp":        {"json"},
	"completion": {"server", "key", "json"},
}

// commandOf returns the name of the chosen command, or "".
func commandOf(ctx *kong.Context) string {
	for _, step := range ctx.Path {
		if step.Command != nil {
			return step.Command.Name
		}
	}
	return ""
}

// printHelp prints help without the flags that the command does not use.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	command := commandOf(ctx)
	for _, flag := range ctx.Model.Flags {
		for _, name := range foreign[command] {
			flag.Hidden = flag.Hidden || flag.Name == name
		}
		flag.Hidden = flag.Hidden || flag.Name == "version" && command != ""
	}
	for _, node := range ctx.Model.Children {
		if len(node.Children) > 0 {
			node.Aliases = nil // they would otherwise appear in the name of each command below it
		}
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

// misplaced returns the error for a flag that the command does not use.
func misplaced(ctx *kong.Context) error {
	command := commandOf(ctx)
	for _, step := range ctx.Path {
		for _, name := range foreign[command] {
			switch {
			case step.Flag == nil || step.Resolved || step.Flag.Name != name:
			case command == "serve" && name == "key":
				return usage("--key is what clients send; serve takes its key from TAKEOVER_API_KEY, or keeps one in its data directory")
			case command == "serve" && name == "server":
				return usage("--server is where clients find a server; serve listens on --addr")
			case command == "serve":
				return usage("serve has no --json; --log-format is for its log")
			default:
				return usage("%s has no use for --%s", command, name)
			}
		}
	}
	return nil
}
