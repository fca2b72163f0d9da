package steel

import "strings"

// Missing returns why this server does not have a call of Steel's API, and what to
// use instead, or "" for other paths.
func Missing(path string) string {
	const onesOwn = "files belong to sessions here: /v1/sessions/:id/files"
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 2 || parts[0] != "v1" {
		return ""
	}
	switch {
	case parts[1] == "credentials":
		return "this server keeps no credentials; start with a profile that is signed in, or ask a person with a takeover"
	case parts[1] == "extensions":
		return "this server installs no extensions"
	case parts[1] == "files":
		return onesOwn
	case len(parts) < 4 || parts[1] != "sessions":
		return ""
	case parts[3] == "captchas":
		return "this server solves no captchas; ask a person with a takeover: POST /v1/sessions/:id/takeovers"
	case parts[3] == "computer" && len(parts) == 4:
		return "this server moves no bare mouse; use its CDP endpoint, /v1/sessions/:id/actions, or MCP"
	}
	return ""
}

// LiveDetails is what Steel's call live-details returns: the pages of a live session
// and where people see them.
type LiveDetails struct {
	Pages      []LivePage `json:"pages" doc:"The pages, the newest first."`
	Viewer     string     `json:"sessionViewerUrl" doc:"The page in which people see the session and take it over."`
	Fullscreen string     `json:"sessionViewerFullscreenUrl" doc:"The same as sessionViewerUrl."`
	Socket     string     `json:"wsUrl" doc:"The browser's socket for programs that speak the DevTools protocol."`
}

// LivePage is a page in LiveDetails.
type LivePage struct {
	ID         string  `json:"id" doc:"The page's id in the DevTools protocol."`
	URL        string  `json:"url" doc:"Its address."`
	Title      string  `json:"title" doc:"Its title."`
	Favicon    *string `json:"favicon" doc:"null."`
	Viewer     string  `json:"sessionViewerUrl" doc:"As the session's: people switch tabs there."`
	Fullscreen string  `json:"sessionViewerFullscreenUrl" doc:"The same."`
}
