package snippets

import "strings"

// Connection says how one kind of program connects to a session.
type Connection struct {
	ID       string // such as playwright
	Label    string // such as Playwright (Node.js)
	Language string // of the code: javascript, python, json or bash; empty for an address
	Code     string // reads the key from the variable KeyVariable, where the program can
}

// Connections returns how programs connect to a session of a server, or, without a
// session, to one that is made for them. server is its address, without a slash at the
// end. devTools is what opens Chrome's DevTools when a key is appended, or "".
func Connections(server, session, devTools string) []Connection {
	tools := server + "/mcp"
	socket, look := "ws"+strings.TrimPrefix(server, "http")+"/?", "SERVER/v1/sessions/"+session
	if session == "" {
		look = "-X POST SERVER/v1/sessions"
	} else {
		socket += "sessionId=" + session + "&"
		tools += "?session=" + session
	}
	fill := strings.NewReplacer("TOOLS", tools, "LOOK", strings.Replace(look, "SERVER", server, 1), "SERVER", server, "SOCKET", socket, "KEY_VARIABLE", KeyVariable)
	list := []Connection{
		{"playwright", "Playwright (Node.js)", "javascript", `import { chromium } from 'playwright-core';
const browser = await chromium.connectOverCDP('SOCKETtoken=' + process.env.KEY_VARIABLE);
const page = browser.contexts()[0].pages()[0];`},
		{"python", "Playwright (Python)", "python", `import os
from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    browser = p.chromium.connect_over_cdp("SOCKETtoken=" + os.environ["KEY_VARIABLE"])
    page = browser.contexts[0].pages[0]`},
		{"puppeteer", "Puppeteer", "javascript", `import puppeteer from 'puppeteer-core';
const browser = await puppeteer.connect({ browserWSEndpoint: 'SOCKETtoken=' + process.env.KEY_VARIABLE, defaultViewport: null });
const [page] = await browser.pages();`},
		{"mcp", "Hosts of MCP servers", "json", `{
  "mcpServers": {
    "takeover": { "type": "http", "url": "TOOLS", "headers": { "Authorization": "Bearer ${KEY_VARIABLE}" } }
  }
}`},
		{"playwright-mcp", "playwright-mcp", "bash", `npx @playwright/mcp --cdp-endpoint "SOCKETtoken=$KEY_VARIABLE"`},
		{"chrome-devtools-mcp", "chrome-devtools-mcp", "bash", `npx chrome-devtools-mcp --wsEndpoint "SOCKETtoken=$KEY_VARIABLE"`},
		{"curl", "curl", "bash", `curl -H "Authorization: Bearer $KEY_VARIABLE" LOOK`},
	}
	if devTools != "" {
		list = append(list, Connection{"devtools", "Chrome’s DevTools", "", devTools + KeyVariable})
	}
	for i := range list {
		list[i].Code = fill.Replace(list[i].Code)
	}
	return list
}
