package session

import (
	"regexp"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/redact"
)

// TestConfiguredRedaction checks that secrets that an operator configured are
// removed from events and from the log of a run, like those that are always
// removed.
func TestConfiguredRedaction(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1, Redaction: redact.Options{
		Keys:     []string{"Badge-Number"},
		Patterns: []*regexp.Regexp{regexp.MustCompile(`ACME-[0-9]{4,6}`), regexp.MustCompile(`ticket (\w+)`)},
	}})
	s := create(t, m, CreateOptions{URL: site(t) + "/one"})
	if _, err := s.StartCapture(t.Context(), capture.Config{Console: true, Network: true}); err != nil {
		t.Fatal(err)
	}
	events := s.Journal().Read(0, capture.Filter{Types: []string{capture.TypeConsoleLog, capture.TypeNetworkRequest}})
	r := startRun(t, s, `await page.evaluate(async () => {
		await fetch('/two?badgeNumber=b-777&shown=plain', {headers: {'X-Badge-Number': 'b-888'}});
		console.log('order ACME-12345 of ticket t999, shown')
	});
	return 'done'`)
	resultOf[string](t, r)
	ctx := browsertest.Context(t, "the event")
	var requests, consoles string
	for consoles == "" {
		e, err := events.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == capture.TypeConsoleLog {
			consoles = string(e.JSON())
		} else {
			requests += string(e.JSON())
		}
	}
	everything := requests + consoles + r.Log()
	for _, secret := range []string{"b-777", "b-888", "ACME-", "t999"} {
		if strings.Contains(everything, secret) {
			t.Errorf("%s is in %s", secret, everything)
		}
	}
	if !strings.Contains(requests, "shown=plain") || !strings.Contains(requests, `badgeNumber=[REDACTED]`) ||
		!strings.Contains(consoles, "order [REDACTED] of ticket [REDACTED], shown") {
		t.Errorf("more was taken out, or less: %s, %s", requests, consoles)
	}
}
