package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"takeover/capture"
	"takeover/checkpoints"
	"takeover/cluster"
	"takeover/door/actions"
	"takeover/door/browserless"
	"takeover/door/cdp"
	"takeover/door/diagnose"
	"takeover/door/steel"
	"takeover/files"
	"takeover/links"
	"takeover/profiles"
	"takeover/savedscripts"
	"takeover/session"
	"takeover/trajectory"
	"takeover/webhook"
)

// access says who may call a route.
type access int

const (
	operators access = iota // a key, or a sign-in made with one
	guests                  // also a share link to the route's session with at least the route's role
	public                  // everybody
)

// routeKind is the kind of a route's response.
type routeKind int

const (
	plain     routeKind = iota
	stream              // server-sent events; accepts the key in the query
	webSocket           // a WebSocket; accepts the key in the query, and its Origin is checked although it is a GET
	discovery           // tells programs where to connect; accepts the key in the query
)

// route is one row of the table.
type route struct {
	method, path string
	name         string // operationId in /openapi.json
	does         string // summary in /openapi.json
	access       access
	role         session.Role // the least role that a guest needs
	byTakeover   bool         // :id is the id of a takeover
	byKey        bool         // a sign-in does not count: a link that a person follows must do nothing
	kind         routeKind
	framed       bool // a page that EmbedOrigins may frame
	slow         bool // the response may take long, so there is no write deadline
	handler      echo.HandlerFunc
	query        []string // its query parameters; queryParams describes them
	body         any      // zero value of the body's struct, for /openapi.json
	answers      answer   // responses, for /openapi.json
	creates      bool     // starts a session
	ofEnded      bool     // serves only sessions that have ended
	fails        []kind   // problems that do not follow from the rest of the row
	sample       sample   // what its example on /docs sends
	stored       stored   // what of it operators get when the session's node is gone
	upgraded     *route   // serves requests for a WebSocket at the same path, if not nil
}

// stored is how much of a session a route needs from the store, when the session's node is
// gone.
type stored int

const (
	notStored   stored = iota // the node itself: 503
	storedBrief               // its state, or the takeover that the path names; any NATS server answers
	storedWhole               // its runs, takeovers and events, too; while NATS has no leader: 503
)

// page reports whether the response is a page of ours, or a part of one.
func (r route) page() bool {
	return r.answers.mime == mimeHTML || r.name == "static" || r.name == "favicon"
}

// answer describes a successful response.
type answer struct {
	status  int
	body    any    // zero value of the body's type
	list    string // name of the list, if the body is a list of that type
	ofNodes bool   // it has the items of all nodes of a cluster
	mime    string // media type, if it is not JSON
}

// routes returns the table of all routes except those of the demo site.
func (s *Server) routes() []route {
	const (
		get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
		one                        = "/v1/sessions/:id"
		view, help                 = session.RoleView, session.RoleTakeover
	)
	return []route{
		{method: post, path: "/v1/sessions", name: "createSession", does: "Start a session.", slow: true, handler: s.createSession, body: createRequest{}, answers: answer{status: 201, body: sessionView{}}, creates: true, fails: []kind{kindConflict, kindNotAvailable}, sample: sample{body: `{"url": "https://example.com", "timeout": 600000, "dimensions": {"width": 1280, "height": 720}}`}},
		{method: post, path: "/sessions", name: "createSessionAlias", does: "The same as POST /v1/sessions.", slow: true, handler: s.createSession, body: createRequest{}, answers: answer{status: 201, body: sessionView{}}, creates: true, fails: []kind{kindConflict, kindNotAvailable}},
		{method: get, path: one, name: "getSession", stored: storedBrief, does: "One session, also after it ended.", access: guests, role: view, handler: s.getSession, answers: answer{body: sessionView{}}},
		{method: get, path: "/v1/sessions", name: "listSessions", does: "Sessions, newest first; ?status= returns only those with this status.", query: []string{"limit", "cursor", "status"}, handler: s.listSessions, answers: answer{body: sessionView{}, list: "sessions", ofNodes: true}, sample: sample{query: "status=live&limit=10"}},
		{method: get, path: "/v1/sessions/stream", name: "streamSessions", does: "Streams which takeovers wait for a person and how many sessions are live: at first the present state, then the new state after changes.", kind: stream, handler: s.streamChanges, answers: answer{mime: mimeSSE}},
		{method: patch, path: one, name: "changeSession", does: "Extend the timeout, change the metadata or the size of the tabs.", handler: s.changeSession, body: changeRequest{}, answers: answer{body: sessionView{}}, sample: sample{body: `{"timeout": 900000, "metadata": {"customer": "4711"}}`}},
		{method: post, path: one + "/release", name: "releaseSession", does: "End the session.", slow: true, handler: s.releaseSession, body: struct{}{}, answers: answer{body: releasedView{}}},
		{method: del, path: one, name: "deleteSession", does: "The same as release.", slow: true, handler: s.releaseSession, answers: answer{body: releasedView{}}},
		{method: post, path: "/v1/sessions/release", name: "releaseAll", does: "Release every live session.", slow: true, handler: s.releaseAll, body: struct{}{}, answers: answer{body: releaseAllView{}}},
		{method: post, path: one + "/forget", name: "forgetSession", does: "Remove what is kept of a session that has ended: runs, takeovers, links, log, pictures and events. Recordings and checkpoints remain.", ofEnded: true, handler: s.forgetSession, body: struct{}{}, answers: answer{status: 204}, fails: []kind{kindConflict}},
		{method: post, path: one + "/recording", name: "record", does: "Start, stop or look at the recording of what programs and people do in the session.", slow: true, handler: s.changeRecording, body: recordingRequest{}, answers: answer{body: session.Recording{}}, fails: []kind{kindConflict, kindNotReady}, sample: sample{body: `{"action": "status"}`}},
		{method: post, path: one + "/hold", name: "hold", does: "Hold what programs do in the session, let one action pass or end it, let programs go on, or look at what waits. A call that holds ends by itself after its time, unless somebody watches.", handler: s.hold, body: holdRequest{}, answers: answer{body: session.Held{}}, fails: []kind{kindConflict}, sample: sample{body: `{"action": "hold", "timeout": 60000}`}},
		{method: post, path: one + "/assert", name: "assert", does: "Judge the page by a contract: pass, fail or inconclusive, with the evidence.", slow: true, handler: s.assert, body: assertRequest{}, answers: answer{body: session.Assertion{}}, fails: []kind{kindNotReady}, sample: sample{body: `{"contract": {"dom_text": {"selector": "h1", "contains": "Example Domain"}}}`}},
		{method: post, path: one + "/checkpoints", name: "saveCheckpoint", does: "Keep how far a task has come, and which tabs are open.", handler: s.saveCheckpoint, body: checkpointRequest{}, answers: answer{status: 201, body: checkpointSaved{}}, fails: []kind{kindNotReady, kindConflict, kindNotAvailable}, sample: sample{body: `{"taskDescription": "Order the parts", "completedSteps": ["signed in"], "pendingSteps": ["check out"]}`}},
		{method: get, path: one + "/checkpoints", name: "listCheckpoints", does: "The session's checkpoints, newest first.", query: []string{"limit", "cursor"}, handler: s.listCheckpoints, answers: answer{body: checkpoints.Checkpoint{}, list: "checkpoints"}, fails: []kind{kindNotAvailable}},
		{method: get, path: one + "/checkpoints/:cid", name: "getCheckpoint", does: "One checkpoint, with the browser's state if it was asked for.", handler: s.getCheckpoint, answers: answer{body: checkpoints.Checkpoint{}}, fails: []kind{kindNotAvailable}},
		{method: post, path: one + "/checkpoints/:cid/load", name: "loadCheckpoint", does: "Open the checkpoint's tabs in place of the present ones, with its state.", slow: true, handler: s.loadCheckpoint, body: struct{}{}, answers: answer{body: checkpointLoaded{}}, fails: []kind{kindNotReady, kindConflict, kindNotAvailable}},
		{method: del, path: one + "/checkpoints/:cid", name: "deleteCheckpoint", does: "Remove a checkpoint.", handler: s.deleteCheckpoint, answers: answer{status: 204}, fails: []kind{kindNotAvailable}},
		{method: get, path: one + "/context", name: "getContext", does: "Cookies and storage.", slow: true, handler: s.getContext, answers: answer{body: map[string]any{}}, fails: []kind{kindConflict, kindEnded}},
		{method: get, path: one + "/screenshot", name: "getScreenshot", does: "A picture of the active tab; ?format=png|jpeg|webp, ?fullPage=.", slow: true, query: []string{"format", "fullPage"}, handler: s.getScreenshot, answers: answer{mime: "image/png"}, fails: []kind{kindConflict, kindEnded}, sample: sample{query: "format=jpeg&fullPage=true"}},
		{method: get, path: one + "/thumbnail", name: "getThumbnail", does: "The latest available picture; takes no new one. Of a session that has ended, the last one of its film strip.", access: guests, role: view, handler: s.getThumbnail, answers: answer{mime: "image/jpeg"}},
		{method: get, path: one + "/view", name: "view", does: "The viewer's socket, subprotocol takeover.v1.", access: guests, role: view, kind: webSocket, query: []string{"resume"}, handler: s.view, answers: answer{status: 101, mime: "application/octet-stream"}, sample: sample{body: `{"type": "hello", "width": 1280, "height": 720, "dpr": 1}`}},

		{method: get, path: one + "/cdp", name: "cdp", does: "The browser's socket for programs that speak the DevTools protocol: Playwright's connectOverCDP, Puppeteer and others. The same at / with ?sessionId=.", kind: webSocket, handler: s.cdpSocket, answers: answer{status: 101, mime: "application/octet-stream"}, sample: sample{body: `{"id": 1, "method": "Browser.getVersion"}`}},
		{method: get, path: one + "/cdp/page", name: "cdpShown", does: "The socket of the page that people see, for Chrome's DevTools.", kind: webSocket, handler: s.cdpShown, answers: answer{status: 101, mime: "application/octet-stream"}, sample: sample{body: `{"id": 1, "method": "Page.getNavigationHistory"}`}},
		{method: get, path: one + "/cdp/page/:target", name: "cdpPage", does: "The socket of one page.", kind: webSocket, handler: s.cdpSocket, answers: answer{status: 101, mime: "application/octet-stream"}, sample: sample{body: `{"id": 1, "method": "Page.getNavigationHistory"}`}},
		{method: get, path: one + "/playwright", name: "playwright", does: "The socket for programs that speak Playwright's own protocol: chromium.connect. Needs Node.js and playwright-core on the server.", kind: webSocket, handler: s.playwrightSocket, answers: answer{status: 101, mime: "application/octet-stream"}},
		{method: get, path: one + "/json/version", name: "cdpVersion", does: "The browser's version and the address of its socket, as Chromium's debugging port tells them.", kind: discovery, handler: s.cdpVersion, answers: answer{body: cdp.Version{}}},
		{method: get, path: one + "/json/list", name: "cdpList", does: "The pages and the addresses of their sockets, as Chromium's debugging port tells them.", kind: discovery, handler: s.cdpList, answers: answer{body: []cdp.Target{}}},
		{method: get, path: one + "/json", name: "cdpListAlias", does: "The same as /json/list.", kind: discovery, handler: s.cdpList, answers: answer{body: []cdp.Target{}}},
		{method: get, path: one + "/json/protocol", name: "cdpProtocol", does: "The commands and events that the browser's socket understands.", kind: discovery, handler: s.cdpProtocol, answers: answer{body: cdp.Protocol{}}},

		{method: get, path: one + "/files", name: "listFiles", does: "The session's files, oldest first: downloads, uploads, what scripts wrote. With a share link, only downloads and people's uploads.", access: guests, role: help, query: []string{"limit", "cursor"}, handler: s.listFiles, answers: answer{body: files.File{}, list: "files"}},
		{method: post, path: one + "/files", name: "uploadFile", does: "Upload a file, as a multipart form, or as the raw body with ?name=. With ?add=true, a file of the same name is not replaced: if the content differs, the new file gets a number in its name. Share links never replace files.", access: guests, role: help, slow: true, query: []string{"name", "add"}, handler: s.uploadFile, body: uploadForm{}, answers: answer{status: 201, body: files.File{}}, sample: sample{query: "name=hello.txt", body: "hello", mime: echo.MIMEOctetStream}, fails: []kind{kindConflict, kindDiskFull}},
		{method: get, path: one + "/files/:name", name: "getFile", does: "A file's content. With a share link, only downloads and people's uploads.", access: guests, role: help, slow: true, handler: s.getFile, answers: answer{mime: "application/octet-stream"}, fails: []kind{kindRange}},
		{method: del, path: one + "/files/:name", name: "deleteFile", does: "Remove a file.", handler: s.deleteFile, answers: answer{status: 204}},

		{method: del, path: one + "/files", name: "deleteFiles", does: "Remove all files.", handler: s.deleteFiles, answers: answer{status: 204}},
		{method: get, path: one + "/files.zip", name: "downloadFiles", does: "All files in one archive.", slow: true, handler: s.downloadFiles, answers: answer{mime: "application/zip"}},

		{method: get, path: "/json/version", name: "browserlessVersion", does: "The address of a socket at which each connection gets a session of its own. The call of Browserless' API.", kind: discovery, handler: s.browserlessVersion, answers: answer{body: browserless.Version{}}},
		{method: get, path: "/json/list", name: "cdpListAll", does: "The pages of all live sessions and the addresses of their sockets, as Chromium's debugging port tells them.", kind: discovery, handler: s.cdpListAll, answers: answer{body: []cdp.Target{}}},
		{method: get, path: "/json", name: "cdpListAllAlias", does: "The same as /json/list.", kind: discovery, handler: s.cdpListAll, answers: answer{body: []cdp.Target{}}},
		{method: get, path: "/json/protocol", name: "cdpProtocolAll", does: "The commands and events that browsers' sockets understand.", kind: discovery, handler: s.cdpProtocolAll, answers: answer{body: cdp.Protocol{}}},
		{method: put, path: "/json/new", name: "cdpNew", does: "Start a session with one page and tell the address of the page's socket. As at Chromium's debugging port, the query is the page's address.", slow: true, kind: discovery, handler: s.cdpNew, answers: answer{body: cdp.Target{}}, creates: true, fails: []kind{kindConflict, kindPage}},
		{method: get, path: "/chromium", name: "cdpChromium", does: "A socket with a session of its own, as at /; under the name of Browserless' API.", kind: webSocket, handler: s.cdpRoot, answers: answer{status: 101, mime: "application/octet-stream"}, creates: true},
		{method: get, path: "/chrome", name: "cdpChrome", does: "The same as /chromium.", kind: webSocket, handler: s.cdpRoot, answers: answer{status: 101, mime: "application/octet-stream"}, creates: true},
		{method: get, path: "/sessions", name: "browserlessSessions", does: "The live sessions, in the form of Browserless' API.", kind: discovery, handler: s.browserlessSessions, answers: answer{body: []browserless.Session{}}},
		{method: get, path: "/kill/:id", name: "browserlessKill", byKey: true, does: "End a session. The call of Browserless' API; a sign-in does not count here.", kind: discovery, handler: s.browserlessKill, answers: answer{status: 204}},
		{method: post, path: "/content", name: "browserlessContent", does: "Open a page in a session of its own and return its markup. The call of Browserless' API.", kind: discovery, query: launchQuery, handler: s.browserlessContent, body: browserless.ContentRequest{}, answers: answer{mime: "text/html"}, creates: true, fails: []kind{kindPage, kindTimeout}, sample: sample{body: `{"url": "https://example.com"}`}},
		{method: post, path: "/screenshot", name: "browserlessScreenshot", does: "Open a page in a session of its own and return a picture, with options.encoding base64 as text. The call of Browserless' API.", kind: discovery, query: launchQuery, handler: s.browserlessScreenshot, body: browserless.ScreenshotRequest{}, answers: answer{mime: "image/png"}, creates: true, fails: []kind{kindPage, kindTimeout}, sample: sample{body: `{"url": "https://example.com", "options": {"type": "jpeg"}}`}},
		{method: post, path: "/pdf", name: "browserlessPDF", does: "Open a page in a session of its own and print it. The call of Browserless' API.", kind: discovery, query: launchQuery, handler: s.browserlessPDF, body: browserless.PDFRequest{}, answers: answer{mime: "application/pdf"}, creates: true, fails: []kind{kindPage, kindTimeout}, sample: sample{body: `{"url": "https://example.com", "options": {"format": "a4"}}`}},
		{method: post, path: "/function", name: "browserlessFunction", does: "Run a function in a session of its own and return its value: export default async ({ page, context }) => ({ data, type }). The page is one of Playwright. The call of Browserless' API.", kind: discovery, query: launchQuery, handler: s.browserlessFunction, body: browserless.FunctionRequest{}, answers: answer{mime: "*/*"}, creates: true, fails: []kind{kindPage, kindTimeout}, sample: sample{body: `{"code": "export default async ({ page }) => { await page.goto('https://example.com'); return { data: await page.title(), type: 'text/plain' }; }"}`}},

		{method: get, path: one + "/live-details", name: "liveDetails", does: "The pages of a live session, and where people see them. The call of Steel's API.", handler: s.liveDetails, answers: answer{body: steel.LiveDetails{}}, fails: []kind{kindEnded, kindNotReady}},
		{method: post, path: "/v1/scrape", name: "scrape", does: "Open a page in a session of its own and return its content: html, cleaned_html, markdown or readability, its links and metadata. The call of Steel's API.", slow: true, handler: s.steelScrape, body: steel.ScrapeRequest{}, answers: answer{body: steel.Scraped{}}, creates: true, fails: []kind{kindPage, kindTimeout}, sample: sample{body: `{"url": "https://example.com", "format": ["markdown"]}`}},
		{method: post, path: "/v1/screenshot", name: "screenshotPage", does: "Open a page in a session of its own and take a picture, which is kept for ten minutes. The call of Steel's API.", slow: true, handler: s.steelScreenshot, body: steel.ScreenshotRequest{}, answers: answer{body: steel.Hosted{}}, creates: true, fails: []kind{kindPage, kindTimeout}, sample: sample{body: `{"url": "https://example.com", "fullPage": true}`}},
		{method: post, path: "/v1/pdf", name: "printPage", does: "Open a page in a session of its own and print it; the document is kept for ten minutes. The call of Steel's API.", slow: true, handler: s.steelPDF, body: steel.PDFRequest{}, answers: answer{body: steel.Hosted{}}, creates: true, fails: []kind{kindPage, kindTimeout}, sample: sample{body: `{"url": "https://example.com"}`}},
		{method: get, path: "/v1/renders", name: "getRender", does: "A picture or a document that one of these calls made; ?name= is its secret name.", access: public, query: []string{"name"}, handler: s.getRender, answers: answer{mime: "*/*"}},

		{method: post, path: one + "/scripts", name: "runScript", does: "Run a script; 202 at once, or 200 with the outcome for wait:true.", slow: true, handler: s.runScript, body: scriptRequest{}, answers: answer{status: 202, body: session.RunInfo{}}, fails: []kind{kindConflict}, sample: sample{body: `{"code": "await page.goto(args.url); return page.title()", "args": {"url": "https://example.com"}, "wait": true}`}},
		{method: post, path: "/v1/scripts", name: "runScriptAlone", does: "Run a script in a session of its own, released at the end.", slow: true, handler: s.runScriptAlone, body: scriptAloneRequest{}, answers: answer{status: 202, body: session.RunInfo{}}, creates: true, fails: []kind{kindConflict}, sample: sample{body: `{"code": "await page.goto('https://example.com'); return page.title()", "wait": true}`}},
		{method: get, path: one + "/runs", name: "listRuns", stored: storedWhole, does: "The session's runs, newest first.", query: []string{"limit", "cursor"}, handler: s.listRuns, answers: answer{body: session.RunInfo{}, list: "runs"}},
		{method: get, path: one + "/film", name: "getFilm", does: "The film strip: small pictures of what the session showed, one for each change, at most every 2 s, none while a secret field has the focus or its content may still be seen. Only of sessions with a capture.", handler: s.getFilm, answers: answer{body: filmView{}}},
		{method: get, path: one + "/film/:at", name: "getFilmPicture", does: "A picture of the film strip, by its time.", handler: s.getFilmPicture, answers: answer{mime: "image/jpeg"}},
		{method: get, path: one + "/picture", name: "getPicture", stored: storedWhole, does: "The last picture of a session that has ended, unless it was created without a capture or a secret was on the screen.", handler: s.getPicture, answers: answer{mime: "image/jpeg"}},
		{method: get, path: one + "/runs/:run", name: "getRun", stored: storedWhole, does: "One run.", handler: s.getRun, answers: answer{body: session.RunInfo{}}},
		{method: post, path: one + "/runs/:run/cancel", name: "cancelRun", does: "Stop a run.", slow: true, handler: s.cancelRun, body: struct{}{}, answers: answer{body: session.RunInfo{}}},
		{method: get, path: one + "/runs/:run/stream", name: "streamRun", stored: storedWhole, does: "Logs, steps and takeovers as they come, from the beginning, and finally an end event.", kind: stream, handler: s.streamRun, answers: answer{mime: mimeSSE}},

		{method: get, path: one + "/runs/:run/picture", name: "getRunPicture", stored: storedWhole, does: "What the page showed when a run failed, unless the session was created without a capture or a secret was on the screen.", handler: s.getRunPicture, answers: answer{mime: "image/jpeg"}},
		{method: get, path: one + "/runs/:run/script", name: "getRunScript", stored: storedWhole, does: "What a run was given: code, file name, arguments.", handler: s.getRunScript, answers: answer{body: session.RunScript{}}},

		{method: get, path: "/v1/trajectories", name: "listTrajectories", does: "The bundles of recordings, newest first.", query: []string{"limit", "cursor"}, handler: s.listTrajectories, answers: answer{body: trajectory.BundleInfo{}, list: "trajectories"}},
		{method: get, path: "/v1/trajectories/:trajectory", name: "getTrajectory", does: "One bundle, with its report and its files.", handler: s.getTrajectory, answers: answer{body: trajectory.BundleInfo{}}},
		{method: get, path: "/v1/trajectories/:trajectory/files/*", name: "getTrajectoryFile", does: "A file of a bundle, by its path in it. A bundle with a secret in it does not leave the server.", slow: true, query: []string{"unscanned"}, handler: s.getTrajectoryFile, answers: answer{mime: "*/*"}, fails: []kind{kindConflict, kindRange}},
		{method: get, path: "/v1/trajectories/:trajectory/bundle.zip", name: "zipTrajectory", does: "A bundle as one archive. A bundle with a secret in it does not leave the server.", slow: true, query: []string{"unscanned"}, handler: s.zipTrajectory, answers: answer{mime: "application/zip"}, fails: []kind{kindConflict}},
		{method: get, path: "/v1/trajectories/:trajectory/trace.zip", name: "traceTrajectory", does: "A bundle as a trace for Playwright's trace viewer: calls, pictures, console and requests, no DOM snapshots. A bundle with a secret in it does not leave the server.", slow: true, query: []string{"unscanned"}, handler: s.traceTrajectory, answers: answer{mime: "application/zip"}, fails: []kind{kindConflict}},
		{method: get, path: "/v1/trajectories/:trajectory/events.har", name: "trajectoryHAR", does: "The captured requests of a recording's time, as a HAR 1.2 file. A bundle with a secret in it does not leave the server.", slow: true, query: []string{"unscanned"}, handler: s.harTrajectory, answers: answer{body: map[string]any{}}, fails: []kind{kindConflict}},
		{method: get, path: "/v1/trajectories/:trajectory/script.ts", name: "trajectoryScript", does: "What people did in the takeovers of a recording, as a test file for Playwright.", query: []string{"unscanned"}, handler: s.trajectoryScript, answers: answer{mime: "text/plain"}, fails: []kind{kindConflict}},
		{method: get, path: "/v1/trajectories/:trajectory/recorder.json", name: "trajectoryRecorder", does: "The same for the Recorder of Chrome's DevTools.", query: []string{"unscanned"}, handler: s.trajectoryRecorder, answers: answer{body: map[string]any{}}, fails: []kind{kindConflict}},
		{method: get, path: "/v1/trajectories/:trajectory/report.html", name: "reportTrajectory", does: "A bundle as one HTML page with its pictures, which needs no server and runs no script. A bundle with a secret in it does not leave the server.", slow: true, query: []string{"unscanned"}, handler: s.reportTrajectory, answers: answer{mime: "*/*"}, fails: []kind{kindConflict}},
		{method: del, path: "/v1/trajectories/:trajectory", name: "deleteTrajectory", does: "Remove a bundle.", handler: s.deleteTrajectory, answers: answer{status: 204}, fails: []kind{kindConflict}},
		{method: get, path: "/v1/saved-scripts", name: "listSavedScripts", does: "Saved scripts, most recently changed first.", query: []string{"limit", "cursor"}, handler: s.listSaved, answers: answer{body: savedscripts.Script{}, list: "scripts"}, fails: []kind{kindNotAvailable}},
		{method: post, path: "/v1/saved-scripts", name: "saveScript", does: "Keep a script under a name; pass its id as script to run it.", handler: s.saveScript, body: savedRequest{}, answers: answer{status: 201, body: savedscripts.Script{}}, fails: []kind{kindConflict, kindNotAvailable, kindDiskFull}, sample: sample{body: `{"name": "Title of a page", "code": "await page.goto(args.url); return page.title()", "args": {"url": "https://example.com"}}`}},
		{method: get, path: "/v1/saved-scripts/:script", name: "getSavedScript", does: "One saved script.", handler: s.getSaved, answers: answer{body: savedscripts.Script{}}, fails: []kind{kindNotAvailable}},
		{method: patch, path: "/v1/saved-scripts/:script", name: "changeSavedScript", does: "Rename a saved script, change its code or arguments.", handler: s.changeSaved, body: savedRequest{}, answers: answer{body: savedscripts.Script{}}, fails: []kind{kindConflict, kindNotAvailable, kindDiskFull}, sample: sample{body: `{"name": "The title"}`}},
		{method: del, path: "/v1/saved-scripts/:script", name: "deleteSavedScript", does: "Forget a saved script.", handler: s.deleteSaved, answers: answer{status: 204}, fails: []kind{kindNotAvailable}},

		{method: get, path: "/v1/profiles", name: "listProfiles", does: "Saved profiles, most recently changed first. Those that no key of the server opens are locked.", query: []string{"limit", "cursor"}, handler: s.listProfiles, answers: answer{body: profiles.Profile{}, list: "profiles"}, fails: []kind{kindConflict, kindNotAvailable}},
		{method: post, path: "/v1/profiles", name: "createProfile", does: "Keep what a session's browser has stored under a name, encrypted: cookies, local storage, databases, passkeys. With userData, the whole user data directory is added when the session ends. Or keep a given storageState.", slow: true, handler: s.createProfile, body: profileRequest{}, answers: answer{status: 201, body: profiles.Profile{}}, fails: []kind{kindConflict, kindEnded, kindNotAvailable}, sample: sample{body: `{"name": "Example", "storageState": {"cookies": [], "origins": []}}`}},
		{method: post, path: "/v1/profiles/reencrypt", name: "reencryptProfiles", does: "Encrypt all profiles with the first secret key, so that the others are no longer needed.", slow: true, handler: s.reencryptProfiles, body: struct{}{}, answers: answer{body: reencryptedView{}}, fails: []kind{kindConflict, kindNotAvailable}},
		{method: get, path: "/v1/profiles/:profile", name: "getProfile", does: "One profile, by its id or its name, without its contents.", handler: s.getProfile, answers: answer{body: profiles.Profile{}}, fails: []kind{kindConflict, kindNotAvailable}},
		{method: patch, path: "/v1/profiles/:profile", name: "renameProfile", does: "Rename a profile.", handler: s.renameProfile, body: renameProfileRequest{}, answers: answer{body: profiles.Profile{}}, fails: []kind{kindConflict, kindNotAvailable}, sample: sample{body: `{"name": "Another name"}`}},
		{method: del, path: "/v1/profiles/:profile", name: "deleteProfile", does: "Forget a profile, also a locked one.", handler: s.deleteProfile, answers: answer{status: 204}, fails: []kind{kindConflict, kindNotAvailable}},
		{method: get, path: "/v1/profiles/:profile/state", name: "exportProfile", does: "A profile's storageState, decrypted.", slow: true, handler: s.exportProfile, answers: answer{body: map[string]any{}}, fails: []kind{kindConflict, kindNotAvailable}},
		{method: put, path: "/v1/profiles/:profile/state", name: "importProfile", does: "Replace a profile's storageState.", slow: true, handler: s.importProfile, body: map[string]any{}, answers: answer{body: profiles.Profile{}}, fails: []kind{kindConflict, kindNotAvailable}, sample: sample{body: `{"cookies": [], "origins": []}`}},

		{method: get, path: "/v1/webhooks", name: "listWebhooks", does: "Webhook addresses and their delivery status.", handler: s.listWebhooks, answers: answer{body: webhooksView{}}},
		{method: post, path: "/v1/webhooks/test", name: "testWebhooks", does: "Send webhook.test to every address.", handler: s.testWebhooks, answers: answer{status: 202, body: webhooksView{}}},
		{method: get, path: "/v1/webhooks/deliveries", name: "listDeliveries", does: "Pending and permanently failed deliveries, oldest first; ?dead=true returns only the failed ones.", query: []string{"limit", "cursor", "dead"}, handler: s.listDeliveries, answers: answer{body: webhook.Delivery{}, list: "deliveries"}, sample: sample{query: "dead=true"}},
		{method: post, path: "/v1/webhooks/deliveries/:delivery/retry", name: "retryDelivery", does: "Send a delivery again, with a fresh set of retries.", handler: s.retryDelivery, answers: answer{status: 202, body: webhook.Delivery{}}},

		{method: post, path: one + "/takeovers", name: "requestTakeover", does: "Ask for a person.", handler: s.requestTakeover, body: takeoverRequest{}, answers: answer{status: 201, body: session.TakeoverInfo{}}, fails: []kind{kindConflict}, sample: sample{body: `{"reason": "Enter the code from your phone", "timeout": 300000}`}},
		{method: get, path: one + "/takeovers/:tid", name: "getTakeover", stored: storedBrief, does: "One takeover; with ?wait=60s, responds when the takeover ends or the wait is over.", access: guests, role: help, slow: true, query: []string{"wait"}, handler: s.getTakeover, answers: answer{body: session.TakeoverInfo{}}, fails: []kind{kindTimeout}, sample: sample{query: "wait=1s"}},
		{method: get, path: one + "/takeovers", name: "listSessionTakeovers", stored: storedWhole, does: "The session's takeovers, oldest first.", query: []string{"limit", "cursor"}, handler: s.listSessionTakeovers, answers: answer{body: session.TakeoverInfo{}, list: "takeovers"}},
		{method: get, path: "/v1/takeovers", name: "listTakeovers", does: "The takeovers of all sessions, oldest first; ?state=pending returns only those that nobody has claimed.", query: []string{"limit", "cursor", "state"}, handler: s.listTakeovers, answers: answer{body: session.TakeoverInfo{}, list: "takeovers", ofNodes: true}, sample: sample{query: "state=pending"}},
		{method: post, path: one + "/takeovers/:tid/claim", name: "claimTakeover", does: "Say that you are working on it.", access: guests, role: help, handler: s.claimTakeover, body: struct{}{}, answers: answer{body: session.TakeoverInfo{}}, fails: []kind{kindConflict}},
		{method: patch, path: one + "/takeovers/:tid", name: "extendTakeover", does: "Set the time left, in ms from now.", handler: s.extendTakeover, body: extendRequest{}, answers: answer{body: session.TakeoverInfo{}}, fails: []kind{kindConflict}, sample: sample{body: `{"timeout": 600000}`}},
		{method: post, path: one + "/takeovers/:tid/done", name: "finishTakeover", does: "Say that it is done.", access: guests, role: help, handler: s.finishTakeover, body: doneRequest{}, answers: answer{body: session.TakeoverInfo{}}, fails: []kind{kindConflict}, sample: sample{body: `{"note": "signed in"}`}},
		{method: post, path: one + "/takeovers/:tid/fail", name: "failTakeover", does: "Say that you cannot, and why.", access: guests, role: help, handler: s.failTakeover, body: failRequest{}, answers: answer{body: session.TakeoverInfo{}}, fails: []kind{kindConflict}, sample: sample{body: `{"reason": "the phone is at home"}`}},
		{method: post, path: one + "/takeovers/:tid/cancel", name: "cancelTakeover", does: "Cancel the request.", handler: s.cancelTakeover, body: struct{}{}, answers: answer{body: session.TakeoverInfo{}}, fails: []kind{kindConflict}},
		{method: get, path: one + "/takeovers/:tid/script.ts", name: "takeoverScript", stored: storedWhole, does: "What the person did, as a test file for Playwright, if the request asked for steps.", handler: s.takeoverScript, answers: answer{mime: "text/plain"}, fails: []kind{kindConflict}},
		{method: get, path: one + "/takeovers/:tid/recorder.json", name: "takeoverRecorder", stored: storedWhole, does: "The same for the Recorder of Chrome's DevTools.", handler: s.takeoverRecorder, answers: answer{body: map[string]any{}}, fails: []kind{kindConflict}},

		{method: post, path: one + "/links", name: "createLink", does: "Share the session; the secret is in the URL's fragment and is not shown again.", handler: s.createLink, body: linkRequest{}, answers: answer{status: 201, body: linkCreated{}}, fails: []kind{kindConflict}, sample: sample{body: `{"role": "takeover", "expiresIn": 300000}`}},
		{method: get, path: one + "/links", name: "listLinks", does: "The session's share links and their uses.", query: []string{"limit", "cursor"}, handler: s.listLinks, answers: answer{body: links.Info{}, list: "links"}},
		{method: del, path: one + "/links/:lid", name: "revokeLink", does: "Revoke a share link.", handler: s.revokeLink, answers: answer{status: 204}},
		{method: post, path: "/v1/links/redeem", name: "redeemLink", does: "Trade a link's secret for a cookie.", access: public, handler: s.redeemLink, body: redeemRequest{}, answers: answer{body: links.Grant{}}, fails: []kind{kindForbidden}},

		{method: post, path: one + "/events/start", name: "startEvents", does: "Capture events.", handler: s.startEvents, body: capture.Config{}, answers: answer{body: capture.Started{}}, fails: []kind{kindNotReady}, sample: sample{body: `{"console": true, "network": true, "navigation": true}`}},
		{method: post, path: one + "/events/stop", name: "stopEvents", does: "Stop capturing.", handler: s.stopEvents, body: struct{}{}, answers: answer{body: capture.Stopped{}}},
		{method: get, path: one + "/events", name: "listEvents", stored: storedWhole, does: "Events with seq > ?since=.", query: []string{"since", "limit", "type", "category"}, handler: s.listEvents, answers: answer{body: capture.Event{}, list: "events"}, sample: sample{query: "category=console,network&limit=100"}},
		{method: get, path: one + "/events/wait", name: "waitEvent", stored: storedWhole, does: "The first matching event, or 408.", slow: true, query: []string{"type", "category", "since", "timeout"}, handler: s.waitEvent, answers: answer{body: capture.Event{}}, fails: []kind{kindTimeout, kindEnded}, sample: sample{query: "type=console_log&since=0&timeout=10000"}},
		{method: get, path: one + "/events/stream", name: "streamEvents", stored: storedWhole, does: "Events as they come.", kind: stream, query: []string{"replay", "since", "type", "category"}, handler: s.streamEvents, answers: answer{mime: mimeSSE}, sample: sample{query: "replay=all"}},
		{method: post, path: one + "/events", name: "addEvent", does: "Add an event of the caller's own.", handler: s.addEvent, body: customEvent{}, answers: answer{status: 201, body: capture.Event{}}, fails: []kind{kindConflict}, sample: sample{body: `{"type": "custom_note", "data": {"text": "checked out"}}`}},
		{method: get, path: one + "/events.har", name: "downloadHAR", stored: storedWhole, does: "The captured requests that were sent between ?from= and ?to=, as a HAR 1.2 file.", slow: true, query: []string{"from", "to"}, handler: s.eventsHAR, answers: answer{body: map[string]any{}}},
		{method: get, path: one + "/events.jsonl", name: "downloadEvents", stored: storedWhole, does: "The captured events between ?from= and ?to=, one per line.", slow: true, query: []string{"from", "to"}, handler: s.eventsJSONL, answers: answer{mime: mimeJSONLines}},
		{method: get, path: one + "/runs/:run/log.md", name: "getRunLog", stored: storedWhole, does: "What pages and workers wrote to the console during a run, and its result, as Markdown.", handler: s.getRunLog, answers: answer{mime: mimeMarkdown}},
		{method: get, path: one + "/log.md", name: "getLog", stored: storedWhole, does: "What pages and workers wrote to the console, and the results of scripts, as Markdown.", handler: s.getLog, answers: answer{mime: mimeMarkdown}},
		{method: post, path: "/events/start", name: "startEventsBare", does: "Capture events, in the session that ?session= names.", query: []string{"session"}, handler: s.startEvents, body: capture.Config{}, answers: answer{body: capture.Started{}}, fails: []kind{kindNotReady, kindConflict, kindEnded}},
		{method: post, path: "/events/stop", name: "stopEventsBare", does: "Stop capturing, in the session that ?session= names.", query: []string{"session"}, handler: s.stopEvents, body: struct{}{}, answers: answer{body: capture.Stopped{}}, fails: []kind{kindConflict, kindEnded}},
		{method: get, path: "/events/stream", name: "streamEventsBare", does: "Events as they come, of the session that ?session= names.", kind: stream, query: []string{"session", "replay", "since", "type", "category"}, handler: s.streamEvents, answers: answer{mime: mimeSSE}, fails: []kind{kindConflict, kindEnded}},

		{method: get, path: one + "/commands", name: "commands", does: "The socket of programs that call members of the script API's Page: one JSON message for each call.", kind: webSocket, handler: s.commandSocket, answers: answer{status: 101, mime: "application/octet-stream"}, sample: sample{body: `{"type": "command", "commandId": "1", "method": "title", "args": []}`}},
		{method: post, path: one + "/actions", name: "runActions", does: "Carry out debug actions, as JSON or XML, and say what the page logged and requested.", slow: true, handler: s.runActions, body: actions.Body{}, answers: answer{body: actions.Response{}}, fails: []kind{kindConflict}, sample: sample{body: `{"type": "navigate", "url": "https://example.com"}`}},
		{method: post, path: "/v1/actions", name: "runActionsAlone", does: "The same in a session of its own, for a sequence that begins with start. The session lives on if the sequence does not end with stop.", slow: true, handler: s.runActionsAlone, body: actions.Body{}, answers: answer{body: actions.Response{}}, creates: true, fails: []kind{kindConflict}, sample: sample{body: `{"actions": [{"type": "start", "url": "https://example.com"}, {"type": "screenshot"}, {"type": "stop"}]}`}},
		{method: post, path: "/v1/diagnose", name: "diagnose", does: "Find out what is wrong with a page, in a session of its own. With Accept: text/event-stream, the steps and findings come as they are known, and the report at the end.", slow: true, handler: s.diagnose, body: diagnoseRequest{}, answers: answer{body: diagnose.Report{}}, creates: true, sample: sample{body: `{"url": "https://example.com", "problem": "the link does nothing", "maxSteps": 1}`}},
		{method: post, path: "/mcp", name: "mcp", does: "The Model Context Protocol, streamable HTTP: one message of a client. ?tools= chooses sets of tools, such as core,network; ?session= names the session of calls that name none.", slow: true, query: []string{"tools", "session"}, handler: s.serveMCP, body: map[string]any{}, answers: answer{mime: mimeSSE}, sample: sample{body: `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}}`, accept: "application/json, text/event-stream"}},
		{method: get, path: "/mcp", name: "mcpStream", does: "The same: messages of the server, for clients of versions before 2026-07-28.", slow: true, query: []string{"tools", "session"}, handler: s.serveMCP, answers: answer{mime: mimeSSE}},
		{method: del, path: "/mcp", name: "mcpEnd", does: "The same: the end of a client of such a version.", slow: true, handler: s.serveMCP, answers: answer{status: 204}},

		{method: get, path: "/v1/nodes", name: "listNodes", does: "The nodes of the cluster, and how much each does.", handler: s.listNodes, answers: answer{body: nodesView{}}},
		{method: post, path: "/v1/nodes/:node/drain", name: "drainNode", does: "Take no new sessions at a node, given by its name or id, and end those that it has: each when nobody works in it, the last after --drain-timeout. The answer comes at once.", handler: s.drainNode, answers: answer{status: 202, body: cluster.NodeInfo{}}},
		{method: get, path: "/healthz", name: "health", does: "Whether the process answers.", access: public, handler: s.health, answers: answer{body: map[string]any{}}},
		{method: get, path: "/readyz", name: "ready", does: "Whether a session could be created.", access: public, handler: s.ready, answers: answer{body: map[string]any{}}, fails: []kind{kindFull}},
		{method: get, path: "/metrics", name: "metrics", does: "Metrics for Prometheus.", handler: s.serveMetrics, answers: answer{mime: "text/plain"}},
		{method: get, path: "/debug/pprof/*", name: "profile", does: "Profiles of the server, for go tool pprof: heap, goroutine, profile?seconds= and others.", slow: true, handler: s.serveProfile, answers: answer{mime: "application/octet-stream"}},
		{method: get, path: "/version", name: "version", does: "Version of the server and of Go, and the commit it was built from.", handler: s.version, answers: answer{body: map[string]any{}}},
		{method: get, path: "/openapi.json", name: "openapi", does: "This description.", handler: s.openapi, answers: answer{body: map[string]any{}}},
		{method: get, path: "/asyncapi.json", name: "asyncapi", does: "The messages of the viewer's socket and of the command socket, as AsyncAPI 3.0.", handler: s.asyncapi, answers: answer{body: map[string]any{}}},
		{method: get, path: "/docs.md", name: "docsMarkdown", does: "This description as Markdown, for agents; ?group= returns only the calls of one group.", query: []string{"group"}, handler: s.docsMarkdown, answers: answer{mime: mimeMarkdown}, sample: sample{query: "group=takeovers"}},
		{method: get, path: "/docs/calls.json", name: "docsCalls", does: "What the search of /docs looks through: the calls, objects, messages and errors, with their addresses.", handler: s.docsCalls, answers: answer{body: map[string]any{}}},
		{method: get, path: "/docs", name: "docs", does: "Page: the groups of this API, how to sign in, and the errors.", handler: s.docs, answers: answer{mime: mimeHTML}},
		{method: get, path: "/docs/:group", name: "docsGroup", does: "Page: the calls of one group, with their examples.", handler: s.docsGroup, answers: answer{mime: mimeHTML}},

		{method: get, path: "/", name: "pageSessions", does: "Page: sessions, and the takeovers that need a person.", handler: s.pageSessions, answers: answer{mime: mimeHTML},
			upgraded: &route{method: get, path: "/", name: "cdpRoot", kind: webSocket, handler: s.cdpRoot}},
		{method: get, path: "/takeovers", name: "pageTakeovers", does: "Page: the requests for a person, who helped, and how they ended.", handler: s.pageTakeovers, answers: answer{mime: mimeHTML}},
		{method: get, path: "/trajectories", name: "pageTrajectories", does: "Page: the recordings that are kept.", handler: s.pageTrajectories, answers: answer{mime: mimeHTML}},
		{method: get, path: "/trajectories/:trajectory", name: "pageTrajectory", does: "Page: one recording, with its time line.", query: []string{"unscanned"}, handler: s.pageTrajectory, answers: answer{mime: mimeHTML}},
		{method: get, path: "/profiles", name: "pageProfiles", does: "Page: saved profiles.", handler: s.pageProfiles, answers: answer{mime: mimeHTML}},
		{method: get, path: "/scripts", name: "pageScripts", does: "Page: saved scripts.", handler: s.pageScripts, answers: answer{mime: mimeHTML}},
		{method: get, path: "/sessions/:id", name: "pageSession", stored: storedWhole, does: "Page: one session.", framed: true, access: guests, role: view, handler: s.pageSession, answers: answer{mime: mimeHTML}},
		{method: get, path: "/takeover/:id", name: "pageTakeover", does: "Page: one takeover, for the person who was asked.", framed: true, access: guests, role: help, byTakeover: true, handler: s.pageTakeover, answers: answer{mime: mimeHTML}},
		{method: get, path: "/settings", name: "pageSettings", does: "Page: this browser's preferences and the server's settings.", handler: s.pageSettings, answers: answer{mime: mimeHTML}},
		{method: get, path: "/login", name: "pageLogin", does: "Page: sign in; with ?code=, the page posts the code of a sign-in link.", access: public, query: []string{"next", "code"}, handler: s.pageLogin, answers: answer{mime: mimeHTML}},
		{method: post, path: "/login", name: "login", does: "Trade a key, or the code of a sign-in link, for a cookie.", access: public, handler: s.login, answers: answer{status: 303, mime: mimeHTML}},
		{method: post, path: "/logout", name: "logout", does: "End the sign-in.", access: public, handler: s.logout, answers: answer{status: 303, mime: mimeHTML}},
		{method: get, path: "/favicon.ico", name: "favicon", does: "The pages' icon.", access: public, handler: s.favicon, answers: answer{mime: "image/svg+xml"}},
		{method: get, path: "/static/*", name: "static", does: "Scripts, style and pictures of the pages.", access: public, handler: s.static, answers: answer{mime: "*/*"}},
	}
}
