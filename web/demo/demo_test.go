package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newServer(t *testing.T) (*httptest.Server, *http.Client) {
	t.Helper()
	e := echo.New()
	Register(e.Group("/demo"))
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return server, client
}

func body(t *testing.T) func(*http.Response, error) string {
	return func(r *http.Response, err error) string {
		t.Helper()
		return bodyOf(t, r, err)
	}
}

func bodyOf(t *testing.T, r *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// drag returns the movement of a hand from 0 to x.
func drag(x float64) []point {
	const steps = 20
	trail := make([]point, 0, steps+1)
	for i := range steps + 1 {
		trail = append(trail, point{T: float64(i * 16), X: x * float64(i) / steps})
	}
	return trail
}

// gapOf finds the gap as a person would: it is the darkest part of the picture.
func gapOf(t *testing.T, client *http.Client, base string) float64 {
	t.Helper()
	r, err := client.Get(base + "/demo/captcha/scene.png")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	img, err := png.Decode(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for x := range sceneWidth {
		dark := 0
		for y := range sceneHeight {
			red, green, blue, _ := img.At(x, y).RGBA()
			if red+green+blue < 3*0x3000 {
				dark++
			}
		}
		if dark > 10 {
			return float64(x - 2) // the white edge is two pixels wide
		}
	}
	t.Fatal("no gap in sight")
	return 0
}

func TestSignInByHand(t *testing.T) {
	server, client := newServer(t)
	page := body(t)(client.Get(server.URL + "/demo/login"))
	if !strings.Contains(page, Password) {
		t.Error("the sign-in page does not show the demo's password")
	}
	page = body(t)(client.PostForm(server.URL+"/demo/login", url.Values{"email": {Email}, "password": {Password}}))
	if !strings.Contains(page, "One more check") {
		t.Fatalf("after signing in: %s", page)
	}
	gap := gapOf(t, client, server.URL)
	answer := body(t)(client.Post(server.URL+"/demo/captcha", "application/json", jsonOf(t, map[string]any{"trail": drag(gap)})))
	if !strings.Contains(answer, `"ok":true`) {
		t.Fatalf("slider: %s", answer)
	}
	page = body(t)(client.Get(server.URL + "/demo/phone"))
	_, rest, _ := strings.Cut(page, `id="sms-code">`)
	code := rest[:6]
	page = body(t)(client.PostForm(server.URL+"/demo/code", url.Values{"code": {code[:3] + " " + code[3:]}}))
	if !strings.Contains(page, "Welcome, <span id=\"user-name\">"+UserName) {
		t.Fatalf("after the code: %s", page)
	}
	page = body(t)(client.PostForm(server.URL+"/demo/logout", nil))
	if !strings.Contains(page, "<h1>Sign in</h1>") {
		t.Fatalf("after signing out: %s", page)
	}
}

func TestNothingCanBeSkipped(t *testing.T) {
	server, client := newServer(t)
	for _, path := range []string{"captcha", "code", "welcome"} {
		page := body(t)(client.Get(server.URL + "/demo/" + path))
		if !strings.Contains(page, "<h1>Sign in</h1>") {
			t.Errorf("/demo/%s without signing in: %s", path, page)
		}
	}
	page := body(t)(client.PostForm(server.URL+"/demo/login", url.Values{"email": {Email}, "password": {"guess"}}))
	if !strings.Contains(page, "do not match") {
		t.Errorf("wrong password: %s", page)
	}
}

func TestSlider(t *testing.T) {
	for name, test := range map[string]struct {
		trail func(gap float64) []point
		want  error
	}{
		"to the gap":       {drag, nil},
		"nearly":           {func(gap float64) []point { return drag(gap + tolerance - 1) }, nil},
		"beside it":        {func(gap float64) []point { return drag(gap + tolerance + 2) }, errMissed},
		"a jump":           {func(gap float64) []point { return []point{{0, 0}, {500, gap}} }, errNotAHand},
		"no time at all":   {func(gap float64) []point { return instant(drag(gap)) }, errNotAHand},
		"not from the rim": {func(gap float64) []point { return drag(gap)[10:] }, errNotAHand},
		"nothing":          {func(float64) []point { return nil }, errNotAHand},
	} {
		t.Run(name, func(t *testing.T) {
			v := &visit{}
			v.signIn()
			p := v.newPuzzle()
			if err := v.solve(test.trail(float64(p.gap))); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if err := v.solve(drag(float64(p.gap))); !errors.Is(err, errTooEarly) {
				t.Errorf("a second try at the same puzzle: %v, want %v", err, errTooEarly)
			}
		})
	}
}

func TestWrongCodeIsReplaced(t *testing.T) {
	v := &visit{stage: atCode, secret: "123456"}
	if err := v.enter("000000"); !errors.Is(err, errWrongCode) {
		t.Fatalf("got %v", err)
	}
	if err := v.enter("123456"); !errors.Is(err, errWrongCode) {
		t.Fatalf("the old code: %v", err)
	}
}

func TestVisitsAreBounded(t *testing.T) {
	vs := newVisits()
	firstID, _ := vs.create()
	for range maxVisits {
		vs.create()
	}
	if len(vs.all) != maxVisits {
		t.Errorf("%d visits kept, want %d", len(vs.all), maxVisits)
	}
	if vs.get(firstID) != nil {
		t.Error("the oldest visit is still there")
	}
}

func TestSampleScript(t *testing.T) {
	script := SampleScript("http://127.0.0.1:8080")
	for _, want := range []string{"goto('http://127.0.0.1:8080/demo/login')", "requestTakeover(", Email} {
		if !strings.Contains(script, want) {
			t.Errorf("the sample lacks %q:\n%s", want, script)
		}
	}
	if strings.Contains(script, "%!") {
		t.Errorf("bad format:\n%s", script)
	}
}

func instant(trail []point) []point {
	for i := range trail {
		trail[i].T = 0
	}
	return trail
}

func jsonOf(t *testing.T, value any) io.Reader {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(string(data))
}

func TestPagesOfTheIndex(t *testing.T) {
	server, client := newServer(t)
	index := body(t)(client.Get(server.URL + "/demo/"))
	links := regexp.MustCompile(`href="(/demo/\w+)"`).FindAllStringSubmatch(index, -1)
	if len(links) < 18 {
		t.Fatalf("the index names %d pages", len(links))
	}
	for _, link := range links {
		r, err := client.Get(server.URL + link[1])
		if page := bodyOf(t, r, err); r.StatusCode != http.StatusOK || !strings.Contains(page, "<h1>") {
			t.Errorf("%s: %d %s", link[1], r.StatusCode, page)
		}
	}
}

func TestCatalogIsBounded(t *testing.T) {
	server, client := newServer(t)
	for path, want := range map[string]string{
		"/demo/catalog":          "Page 1 of 4",
		"/demo/catalog?page=4":   "Bird house",
		"/demo/catalog?page=999": "Page 4 of 4",
		"/demo/catalog?page=-1":  "Page 1 of 4",
		"/demo/items/1":          "Desk lamp",
	} {
		if page := body(t)(client.Get(server.URL + path)); !strings.Contains(page, want) {
			t.Errorf("%s does not show %q: %s", path, want, page)
		}
	}
	for _, path := range []string{"/demo/items/0", "/demo/items/999", "/demo/items/x", "/demo/api/stats/none"} {
		r, err := client.Get(server.URL + path)
		if bodyOf(t, r, err); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

func TestTodos(t *testing.T) {
	server, client := newServer(t)
	url := server.URL + "/demo/api/todos"
	if answer := body(t)(client.Post(url, "application/json", strings.NewReader(`{"text":" Water <b>plants</b> "}`))); !strings.Contains(answer, `"id":1`) {
		t.Fatalf("added: %s", answer)
	}
	if answer := body(t)(client.Post(url, "application/json", strings.NewReader(`{"text":" "}`))); !strings.Contains(answer, "missing") {
		t.Errorf("an empty one: %s", answer)
	}
	for range maxTodos {
		body(t)(client.Post(url, "application/json", strings.NewReader(`{"text":"more"}`)))
	}
	var all []todo
	if err := json.Unmarshal([]byte(body(t)(client.Get(url))), &all); err != nil || len(all) != maxTodos || all[0].Text != "Water <b>plants</b>" {
		t.Fatalf("%d to do, %v: %+v", len(all), err, all)
	}
	request, err := http.NewRequest(http.MethodDelete, url+"/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		r, err := client.Do(request)
		if bodyOf(t, r, err); r.StatusCode != want {
			t.Errorf("delete: %d, want %d", r.StatusCode, want)
		}
	}
}

func TestFileIsCounted(t *testing.T) {
	server, client := newServer(t)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "<i>.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(part, "one\ntwo\n")
	_ = w.Close()
	page := body(t)(client.Post(server.URL+"/demo/files", w.FormDataContentType(), &form))
	if !strings.Contains(page, `id="file-bytes">8<`) || !strings.Contains(page, "&lt;i&gt;.txt") {
		t.Errorf("after sending: %s", page)
	}
	if page := body(t)(client.PostForm(server.URL+"/demo/files", nil)); !strings.Contains(page, "Choose a file") {
		t.Errorf("without a file: %s", page)
	}
}
