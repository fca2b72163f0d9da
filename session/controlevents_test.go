package session

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/limits"
	"takeover/links"
)

var (
	docsRow   = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| control \\|(.*)\\|$")
	docsField = regexp.MustCompile("`([a-z_]+)`(\\??)")
)

// TestControlEvents checks that events of people and scripts have the fields that
// the docs list.
func TestControlEvents(t *testing.T) {
	docs, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	m := startManager(t, Options{})
	s := create(t, m, CreateOptions{})
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	link, secret, err := s.CreateLink(links.Options{Role: RoleControl})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.RedeemLink(secret, "192.0.2.0/24"); err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	r := startRun(t, s, `await page.click('#none', { timeout: 1 }).catch(() => {}); await requestTakeover('please')`)
	to := openTakeoverOf(t, r)
	if err := v.Takeover("claim", to.Info().ID, ""); err != nil {
		t.Fatal(err)
	}
	if err := v.Takeover("done", to.Info().ID, "a note"); err != nil {
		t.Fatal(err)
	}
	endOf(t, r)
	for _, end := range []func(*Takeover) error{
		func(t *Takeover) error { return t.Fail("somebody", "no") },
		func(t *Takeover) error { return t.Cancel("somebody") },
	} {
		to, err := s.RequestTakeover(TakeoverOptions{Reason: "x"})
		if err == nil {
			err = end(to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	short, err := s.RequestTakeover(TakeoverOptions{Reason: "x", Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the takeover's end", short.ended)
	v.Leave()
	if err := s.RevokeLink(link.ID); err != nil {
		t.Fatal(err)
	}
	noteNotSaved(s, "a", errors.New("too large"))
	sayFilling(s, 8, 10)
	sayStarved(s, 1)
	s.note(capture.TypeHibernated, map[string]any{"hibernates": true})
	s.hit(limits.Tabs)
	s.hit(limits.Tabs) // the events tell of it once a minute
	browsertest.Until(t, "the limit's event is there", func() bool {
		page, err := s.Journal().Events(t.Context(), 0, 1000, capture.Filter{Types: []string{capture.TypeLimitReached}})
		return err == nil && len(page.Events) == 1
	})
	endOverLimit(s, 2, 1)
	page, err := s.Journal().Events(t.Context(), 0, 1000, capture.Filter{Categories: []string{capture.CategoryControl}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]bool{}
	for _, e := range page.Events {
		var data map[string]any
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		if seen[e.Type] == nil {
			seen[e.Type] = map[string]bool{}
		}
		for field := range data {
			seen[e.Type][field] = true
		}
	}
	rows := docsRow.FindAllStringSubmatch(string(docs), -1)
	if len(rows) == 0 {
		t.Fatal("the docs have no events of control")
	}
	for _, row := range rows {
		var told []string
		for _, f := range docsField.FindAllStringSubmatch(row[2], -1) {
			if f[2] == "" || seen[row[1]][f[1]] { // optional fields may be missing
				told = append(told, f[1])
			}
		}
		slices.Sort(told)
		if has := slices.Sorted(maps.Keys(seen[row[1]])); !slices.Equal(has, told) {
			t.Errorf("%s has %s, the docs say %s", row[1], strings.Join(has, " "), strings.Join(told, " "))
		}
	}
}

// TestNoKeyWhileControlChanges types without a pause while control changes back
// and forth. The capture must not record any key that the page gets.
func TestNoKeyWhileControlChanges(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), capture.Config{Interactions: true}); err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	v.picture("the page")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			if err := v.Control("take"); err != nil {
				t.Error(err)
			}
			s.control.GiveUp(v.holder())
		}
	}()
	stroke := func(epoch uint64) {
		t.Helper()
		for _, event := range []string{"down", "up"} {
			if err := v.Key(Key{Event: event, Key: "k", Code: "KeyK", Text: "k"}, Stamp{Epoch: epoch}); err != nil && !errors.Is(err, ErrNotController) {
				t.Error(err)
			}
		}
	}
	for !isClosed(done) {
		_, epoch, _ := s.control.State()
		stroke(epoch)
	}
	// A click after the last key is recorded after everything that the page
	// reported before it.
	epoch := v.take()
	stroke(epoch)
	v.press(t, epoch, 20, 20)
	browsertest.Until(t, "the click", func() bool {
		page, err := s.Journal().Events(t.Context(), 0, 1000, capture.Filter{Types: []string{capture.TypeInteractionClick}})
		return err == nil && len(page.Events) > 0
	})
	page, err := s.Journal().Events(t.Context(), 0, 1000, capture.Filter{Types: []string{capture.TypeInteractionKey}})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Events) > 0 {
		t.Errorf("%d keys were recorded, such as %s", len(page.Events), page.Events[0].Data)
	}
}
