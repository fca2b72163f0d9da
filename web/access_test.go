package web

import (
	"strings"
	"testing"

	"takeover/session"
)

// routesByRole lists every route under the least that a caller must be. Nobody
// has no credentials. The roles are those of links, in the link's own session. The
// operator has a key or has signed in. TestRoutesAreTheTable fails on a route that
// is not listed, and the tests of strangers and links call every route.
var routesByRole = map[string]string{
	"nobody":                     "getRender favicon redeemLink health ready pageLogin login logout static",
	string(session.RoleView):     "getSession getThumbnail view pageSession",
	string(session.RoleTakeover): "getTakeover claimTakeover finishTakeover failTakeover pageTakeover listFiles uploadFile getFile",
	"operator": "listTrajectories getTrajectory getTrajectoryFile zipTrajectory traceTrajectory trajectoryHAR reportTrajectory deleteTrajectory record assert hold saveCheckpoint listCheckpoints getCheckpoint loadCheckpoint deleteCheckpoint createSession createSessionAlias listSessions streamSessions releaseAll changeSession releaseSession deleteSession forgetSession getContext " +
		"getFilm getFilmPicture getScreenshot deleteFile runScript runScriptAlone listRuns getPicture getRun cancelRun streamRun getRunLog getLog getRunPicture " +
		"getRunScript listSavedScripts saveScript getSavedScript changeSavedScript deleteSavedScript listWebhooks testWebhooks " +
		"browserlessVersion cdpListAll cdpListAllAlias cdpListAlias cdpProtocolAll cdpNew cdpChromium cdpChrome browserlessSessions browserlessKill browserlessContent browserlessScreenshot browserlessPDF browserlessFunction deleteFiles downloadFiles liveDetails scrape screenshotPage printPage listProfiles createProfile reencryptProfiles getProfile renameProfile deleteProfile exportProfile importProfile " +
		"listDeliveries retryDelivery requestTakeover listSessionTakeovers listTakeovers extendTakeover cancelTakeover createLink listLinks " +
		"revokeLink startEvents stopEvents streamEvents waitEvent listEvents downloadHAR downloadEvents addEvent startEventsBare listNodes drainNode " +
		"stopEventsBare streamEventsBare mcp mcpStream mcpEnd metrics profile version openapi asyncapi docs docsGroup docsMarkdown docsCalls pageSessions takeoverScript takeoverRecorder trajectoryScript trajectoryRecorder pageTakeovers pageTrajectories pageTrajectory pageProfiles pageScripts pageSettings " +
		"cdp cdpShown cdpPage cdpVersion cdpList cdpProtocol playwright commands runActions runActionsAlone diagnose",
}

// openToAll are the routes that need no key.
var openToAll = strings.Fields(routesByRole["nobody"])

// openToGuests lists the routes that a share link opens in its own session, and
// the least role for each. Every other route refuses all links.
var openToGuests = func() map[string]session.Role {
	open := map[string]session.Role{}
	for _, role := range []session.Role{session.RoleView, session.RoleTakeover} {
		for name := range strings.FieldsSeq(routesByRole[string(role)]) {
			open[name] = role
		}
	}
	return open
}()

// classified checks that every route of the server is listed once, and as its row
// in the server's table says.
func classified(t *testing.T, table []route) {
	t.Helper()
	listed := map[string]string{}
	for role, names := range routesByRole {
		for name := range strings.FieldsSeq(names) {
			if was := listed[name]; was != "" {
				t.Errorf("%s is listed for %s and for %s", name, was, role)
			}
			listed[name] = role
		}
	}
	for _, r := range table {
		want := map[access]string{operators: "operator", guests: string(r.role), public: "nobody"}[r.access]
		if got := listed[r.name]; got != want {
			t.Errorf("%s %s (%s) is listed for %q, and the server's table opens it to %q", r.method, r.path, r.name, got, want)
		}
		delete(listed, r.name)
	}
	for name := range listed {
		t.Errorf("there is no route %s", name)
	}
}

// TestOperatorsReachEveryRoute calls every route with a key and as somebody who
// signed in.
func TestOperatorsReachEveryRoute(t *testing.T) {
	s := startServer(t, nil)
	for who, header := range map[string]map[string]string{
		"with a key": {"Authorization": "Bearer " + testKey},
		"signed in":  {"Cookie": s.signInCookie(), "Origin": s.base},
	} {
		for _, r := range s.table {
			if r.access == public {
				continue
			}
			if got := s.do(request{method: r.method, path: fill(r, "none", "none"), body: "{", header: header, key: "-"}); refused(got.status) != (r.byKey && who == "signed in") {
				t.Errorf("%s: %s %s: status %d: %s", who, r.method, r.path, got.status, got.body)
			}
		}
	}
}
