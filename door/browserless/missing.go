package browserless

import "strings"

// Missing returns why this server does not have a call of Browserless' API, and what to
// use instead, or "" for other paths.
func Missing(path string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if (first == "chromium" || first == "chrome") && rest != "" {
		if rest == "playwright" {
			return playwright
		}
		first, _, _ = strings.Cut(rest, "/")
	} else if rest != "" {
		return ""
	}
	switch first {
	case "content", "screenshot", "pdf", "function":
		return "this call is at /" + first
	case "scrape":
		return "use POST /v1/scrape, or a script: POST /v1/scripts"
	case "performance":
		return "run Lighthouse with this server's CDP endpoint, or POST /v1/diagnose"
	case "download":
		return "run a script that downloads: POST /v1/sessions/:id/scripts; the files are at /v1/sessions/:id/files"
	case "export":
		return "use POST /content or POST /pdf"
	case "unblock", "bql", "stealth":
		return "this server hides no browsers; ask a person with a takeover: POST /v1/sessions/:id/takeovers"
	case "playwright":
		return playwright
	}
	return ""
}

const playwright = "create a session, and connect to /v1/sessions/:id/playwright"
