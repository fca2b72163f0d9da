package snippets

import "strings"

// Connection says how one kind of program connects to a session.
type Connection struct {
	ID    string // such as playwright
	Label string // such as Playwright (Node.js)
	Code  string // reads the key from the variable KeyVariable, where the program can
}

// Connections returns how programs connect to a session of a server. server is its
// address, without a slash at the end.
func Connections(server, session string) []Connection {
	fill := strings.NewReplacer("SERVER", server, "SOCKET", "ws"+strings.TrimPrefix(server, "http"), "SESSION", session, "KEY_VARIABLE", KeyVariable)
	list := []Connection{
		{"playwright", "Playwright (Node.js)", `import { chromium } from 'playwright-core';
const browser = await chromium.connectOverCDP('SOCKET/?sessionId=SESSION&token=' + process.env.KEY_VARIABLE);
const page = browser.contexts()[0].pages()[0];`},
		{"python", "Playwright (Python)", `import os
from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    browser = p.chromium.connect_over_cdp("SOCKET/?sessionId=SESSION&token=" + os.environ["KEY_VARIABLE"])
    page = browser.contexts[0].pages[0]`},
		{"puppeteer", "Puppeteer", `import puppeteer from 'puppeteer-core';
const browser = await puppeteer.connect({ browserWSEndpoint: 'SOCKET/?sessionId=SESSION&token=' + process.env.KEY_VARIABLE, defaultViewport: null });
const [page] = await browser.pages();`},
		{"mcp", "Hosts of MCP servers", `{
  "mcpServers": {
    "takeover": { "type": "http", "url": "SERVER/mcp", "headers": { "Authorization": "Bearer ${KEY_VARIABLE}" } }
  }
}`},
		{"playwright-mcp", "playwright-mcp", `npx @playwright/mcp --cdp-endpoint "SOCKET/?sessionId=SESSION&token=$KEY_VARIABLE"`},
		{"chrome-devtools-mcp", "chrome-devtools-mcp", `npx chrome-devtools-mcp --wsEndpoint "SOCKET/?sessionId=SESSION&token=$KEY_VARIABLE"`},
		{"curl", "curl", `curl -H "Authorization: Bearer $KEY_VARIABLE" SERVER/v1/sessions/SESSION`},
	}
	for i := range list {
		list[i].Code = fill.Replace(list[i].Code)
	}
	return list
}
