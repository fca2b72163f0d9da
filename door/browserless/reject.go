package browserless

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"takeover/door/page"
	"takeover/invalid"
)

const (
	// maxRejects bounds the entries of rejectRequestPattern.
	maxRejects = 100
	// maxRejectPattern bounds each of them, in bytes.
	maxRejectPattern = 1024
)

// resourceTypes are the types of resources whose requests can fail. Their names are those
// of Puppeteer.
var resourceTypes = []string{
	"document", "stylesheet", "image", "media", "font", "script", "texttrack", "xhr", "fetch", "eventsource", "manifest", "ping", "other",
}

// rejects returns which requests of the page fail. The error is an *invalid.Error.
func (r *PageRequest) rejects() (page.Rejects, error) {
	rejects := page.Rejects{Types: r.RejectResourceTypes}
	for i, name := range r.RejectResourceTypes {
		field := fmt.Sprintf("rejectResourceTypes[%d]", i)
		if name == "websocket" {
			return rejects, invalid.Field(field, "Chromium lets nobody hold WebSockets; hosts can be refused with a session's deniedHosts")
		}
		if !slices.Contains(resourceTypes, name) {
			return rejects, invalid.Field(field, "must be %s", strings.Join(resourceTypes, ", "))
		}
	}
	if len(r.RejectRequestPattern) > maxRejects {
		return rejects, invalid.Field("rejectRequestPattern", "must have at most %d entries", maxRejects)
	}
	for i, text := range r.RejectRequestPattern {
		field := fmt.Sprintf("rejectRequestPattern[%d]", i)
		if text == "" || len(text) > maxRejectPattern {
			return rejects, invalid.Field(field, "must have 1 to %d bytes", maxRejectPattern)
		}
		pattern, err := regexp.Compile(text)
		if err != nil {
			return rejects, invalid.Field(field, "is no regular expression in Go's syntax: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		rejects.Patterns = append(rejects.Patterns, pattern)
	}
	return rejects, nil
}
