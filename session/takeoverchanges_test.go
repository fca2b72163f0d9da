package session

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"takeover/control"
)

// TestWhatChanged lets a person sign in, open and close tabs and get a file. The outcome
// names all of it, without values.
func TestWhatChanged(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/before":
			http.SetCookie(w, &http.Cookie{Name: "guest", Value: "v-1"})
			http.SetCookie(w, &http.Cookie{Name: "kept", Value: "v-2"})
			fmt.Fprint(w, `<title>Before</title><script>localStorage.draft = 'v-3'; localStorage.same = 'v-4'; sessionStorage.step = 'v-5'</script>`)
		case "/after":
			http.SetCookie(w, &http.Cookie{Name: "guest", MaxAge: -1})
			http.SetCookie(w, &http.Cookie{Name: "login", Value: "v-6"})
			fmt.Fprint(w, `<title>After</title><script>delete localStorage.draft; localStorage.token = 'v-7'; sessionStorage.step = 'v-8'</script>`)
		default:
			fmt.Fprint(w, "<title>Other</title>")
		}
	}))
	t.Cleanup(srv.Close)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: srv.URL + "/before"})
	ctx := t.Context()
	p, err := OpenProgram(s, control.Client("agent"), ProgramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	client, err := p.Client(ctx)
	if err != nil {
		t.Fatal(err)
	}
	open := func(path string) {
		t.Helper()
		names, err := client.OpenTab(ctx)
		if err == nil {
			err = client.call(ctx, "frame.goto", map[string]any{"frame": names.Frame, "url": srv.URL + path}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	open("/closed")
	if err := client.Show(ctx, 1); err != nil {
		t.Fatal(err)
	}
	asked, err := s.RequestTakeover(TakeoverOptions{Reason: "sign in"})
	if err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	v.picture("the page")
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	if err := v.Navigate(ctx, 0, "goto", srv.URL+"/after"); err != nil {
		t.Fatal(err)
	}
	if err := v.OpenTab(ctx, srv.URL+"/opened"); err != nil {
		t.Fatal(err)
	}
	await(v, "the new tab", func(m TabsMessage) bool { return len(m.Tabs) == 3 && m.Tabs[2].Title == "Other" })
	if err := v.Tab(ctx, "close", 2); err != nil {
		t.Fatal(err)
	}
	await(v, "the closed tab", func(m TabsMessage) bool { return len(m.Tabs) == 2 })
	if err := v.Tab(ctx, "activate", 1); err != nil {
		t.Fatal(err)
	}
	await(v, "the first tab", func(m TabsMessage) bool { return m.Active == 1 && m.Tabs[0].Title == "After" })
	folder, err := s.Files()
	if err == nil {
		_, err = folder.Write("bill.pdf", strings.NewReader("x"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Takeover("done", asked.ID(), ""); err != nil {
		t.Fatal(err)
	}
	<-asked.Ended()
	got := asked.Info().Changes
	want := Changes{
		URLBefore: srv.URL + "/before", URLAfter: srv.URL + "/after", TitleBefore: "Before", TitleAfter: "After",
		TabsOpened: []string{srv.URL + "/opened"}, TabsClosed: []string{srv.URL + "/closed"}, FilesAdded: []string{"bill.pdf"},
		CookiesSet: []string{"login"}, CookiesRemoved: []string{"guest"}, StorageSet: []string{"step", "token"}, StorageRemoved: []string{"draft"},
	}
	if fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("changed %+v\nwant    %+v", *got, want)
	}
	if strings.Contains(fmt.Sprint(*got), "v-") {
		t.Errorf("a value is told: %+v", *got)
	}
}
