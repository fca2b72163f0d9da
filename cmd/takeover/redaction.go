//go:build linux

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"takeover/redact"
)

// minRedactKey is the minimum length of a name in --redact-keys, in letters and
// digits. A shorter name would be part of nearly every name.
const minRedactKey = 2

// parseRedaction parses --redact-keys and --redact-patterns. One value may hold
// several patterns, one per line.
func parseRedaction(keys, patterns []string) (o redact.Options, err error) {
	for _, key := range keys {
		if len(notInNames.ReplaceAllString(key, "")) < minRedactKey {
			return o, fmt.Errorf("--redact-keys: %q has fewer than %d letters or digits", key, minRedactKey)
		}
		o.Keys = append(o.Keys, strings.TrimSpace(key))
	}
	for line := range strings.SplitSeq(strings.Join(patterns, "\n"), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		pattern, err := regexp.Compile(line)
		if err == nil && pattern.MatchString("") {
			err = errors.New("it matches an empty text")
		}
		if err != nil {
			return o, fmt.Errorf("--redact-patterns: %q: %w", line, err)
		}
		o.Patterns = append(o.Patterns, pattern)
	}
	return o, nil
}

// notInNames matches characters that are ignored when names are compared.
var notInNames = regexp.MustCompile("[^A-Za-z0-9]+")
