package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/browser/browsertest"
	"takeover/input"
	"takeover/web/demo"
)

// demoSite is the demo site. It also knows the phone that receives the code.
type demoSite struct {
	*httptest.Server
	cookie atomic.Pointer[string] // cookie of the last visitor
}

func newDemoSite(t *testing.T) *demoSite {
	t.Helper()
	e := echo.New()
	demo.Register(e.Group("/demo"))
	s := &demoSite{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cookie := r.Header.Get("Cookie"); cookie != "" {
			s.cookie.Store(&cookie)
		}
		e.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// phone reads the code that was sent to the last visitor.
func (s *demoSite) phone(t *testing.T) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/demo/phone", nil)
	r.Header.Set("Cookie", *s.cookie.Load())
	w := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(w, r)
	code := regexp.MustCompile(`id="sms-code">(\d{6})<`).FindStringSubmatch(w.Body.String())
	if code == nil {
		t.Fatalf("no code on the phone: %s", w.Body)
	}
	return code[1]
}

// example is a script of examples/: the page it starts on, what it returns, which
// files it leaves, and what a person does for it. BASE is the demo site.
type example struct {
	before string
	want   string
	files  []string
	person func(p *person)
}

var examples = map[string]example{
	"api-and-ui.ts":          {want: `["Buy tea","Write home"]`},
	"autocomplete.ts":        {want: `{"byKeyboard":"You chose Bern","byMouse":"You chose Vilnius"}`},
	"captcha-until.ts":       {want: `{"from":"/demo/captcha","to":"/demo/code"}`, person: func(p *person) { p.slide() }},
	"compare-tabs.ts":        {want: `{"cheapest":"Desk lamp","items":[{"name":"Desk lamp","price":4.95},{"name":"Paper tray","price":15.45},{"name":"Bread knife","price":32.95}]}`},
	"dialogs.ts":             {want: `{"said":["prompt: A new name","confirm: Delete Bread?","confirm: Delete Tea?","alert: It is gone."],"left":["Oat milk","Bread"]}`},
	"drag-slider.ts":         {want: `{"enough":true}`},
	"form-wizard.ts":         {want: `"Booked: Ada, 2 guests on 2026-07-01"`},
	"geolocation.ts":         {want: `["Rome","Oslo"]`},
	"infinite-scroll.ts":     {want: `{"count":60,"first":"Note 1","last":"Note 60"}`},
	"library.ts":             {want: `null`},
	"login-with-2fa.ts":      {want: `{"signedIn":true,"name":"Demo User"}`, person: func(p *person) { p.slide(); p.enterCode() }},
	"mobile.ts":              {want: `{"width":393,"entries":["Catalog","Orders","Cities"]}`},
	"mock-routes.ts":         {want: `["Bergen: sun, 31 °C","Bergen: rain, 19 °C","The weather could not be asked for."]`},
	"oauth-popup.ts":         {want: `{"who":"Signed in as Grace","popupClosed":true}`},
	"pagination.ts":          {want: `{"count":22,"dearest":{"name":"Bird house","price":78.45},"pages":"Page 4 of 4"}`},
	"payment-iframe.ts":      {want: `{"complaint":"Please check the card: sixteen digits, MM/YY and three digits."}`},
	"reuse-storage-state.ts": {want: `{"name":"Ada","cookies":1}`},
	"screenshot-and-pdf.ts":  {want: `{"png":"PNG","pdf":"%PDF"}`, files: []string{"orders.png", "orders-whole.jpg", "table.png", "orders.pdf"}},
	"shadow-dom.ts":          {want: `{"apples":"2","together":"3"}`},
	"shop.spec.ts":           {want: `null`},
	"table-to-json.ts":       {want: `{"count":9,"open":["1003","1006","1009"],"first":{"number":"1001","date":"2026-03-02","item":"Desk lamp","count":"1","total":"4.95 €","state":"paid"}}`},
	"title.ts":               {before: `/demo/items/2`, want: `{"title":"Oak shelf · Demo","url":"BASE/demo/items/2","links":["BASE/demo/","BASE/demo/catalog"]}`},
	"typed.ts":               {want: `{"dearest":"Door mat","names":["Linen towel","Tea pot","Bread knife","Soup bowl","Candle","Door mat"]}`},
	"upload-and-download.ts": {want: `{"name":"orders.csv","lines":10}`, files: []string{"orders.csv"}},
	"wait-for-network.ts":    {want: `{"orders":42,"shown":["1280","42","3"]}`},
}

// TestExamples runs every script of examples/ in a session, unchanged.
func TestExamples(t *testing.T) {
	scripts, err := filepath.Glob("../examples/*.ts")
	if err != nil || len(scripts) != len(examples) {
		t.Fatalf("%d scripts, results of %d: %v", len(scripts), len(examples), err)
	}
	readme, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	demo := newDemoSite(t)
	s := borrow(t, demo.URL+"/demo/")
	args, err := json.Marshal(map[string]string{"base": demo.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			want, ok := examples[name]
			if !ok || !strings.Contains(string(readme), "("+name+")") {
				t.Fatal("not in the table of results, or not in the README")
			}
			code, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(code), "// ") {
				t.Error("it does not begin with what it shows")
			}
			if want.before != "" {
				endOf(t, startRun(t, s, fmt.Sprintf("await page.goto(%q)", demo.URL+want.before)))
			}
			r, err := s.StartRun(RunOptions{Code: string(code), Filename: name, Args: args})
			if err != nil {
				t.Fatal(err)
			}
			if want.person != nil {
				want.person(newPerson(t, s, demo, openTakeoverOf(t, r)))
			}
			result := strings.ReplaceAll(want.want, "BASE", demo.URL)
			if info := endOf(t, r); info.Status != RunSucceeded || string(info.Result) != result {
				t.Errorf("%s %+v\n got %s\nwant %s", info.Status, info.Error, info.Result, result)
			}
			for _, file := range want.files {
				checkFile(t, s, file)
			}
		})
	}
}

func checkFile(t *testing.T, s *Session, name string) {
	t.Helper()
	folder, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if f, err := folder.Stat(name); err != nil || f.Size == 0 {
		t.Errorf("file %s: %+v, %v", name, f, err)
	}
}

// person solves a takeover like somebody who looks at the page: by its picture,
// with mouse and keys.
type person struct {
	*viewer
	s        *Session
	demo     *demoSite
	takeover *Takeover
	epoch    uint64
}

func newPerson(t *testing.T, s *Session, demo *demoSite, to *Takeover) *person {
	t.Helper()
	p := &person{viewer: join(t, s, RoleTakeover), s: s, demo: demo, takeover: to}
	if err := p.Takeover("claim", to.ID(), ""); err != nil {
		t.Fatal(err)
	}
	_, p.epoch, _ = s.control.State()
	return p
}

// Colours of the demo site's captcha.
var (
	handleColor = color.RGBA{0x0b, 0x6e, 0x69, 0xff}
	gapColor    = color.RGBA{0x14, 0x1a, 0x2b, 0xff}
)

const (
	headerHeight = 100 // pixels at the top of the page, where the logo has the handle's colour
	handleSize   = 48
	gapEdge      = 2 // width of the white edge around the gap
)

// slide drags the captcha's handle until the piece is in its gap.
func (p *person) slide() {
	p.t.Helper()
	handle, gap := p.look()
	x, y := float64(handle.X+handleSize/2), float64(handle.Y+handleSize/2)
	p.mouse("move", x, y, 0)
	p.mouse("down", x, y, 1)
	pace := time.NewTicker(10 * time.Millisecond) // as fast as a hand; the captcha refuses faster movements
	defer pace.Stop()
	const steps = 24
	for i := range steps {
		<-pace.C
		x = float64(handle.X+handleSize/2) + float64((gap-handle.X)*(i+1))/steps
		p.mouse("move", x, y, 1)
	}
	p.mouse("up", x, y, 0)
	await(p.viewer, "the page with the code", func(m TabsMessage) bool {
		return slices.ContainsFunc(m.Tabs, func(tab Tab) bool { return strings.HasPrefix(tab.Title, "Enter the code") })
	})
}

func (p *person) mouse(event string, x, y float64, buttons int) {
	p.t.Helper()
	if err := p.Mouse(input.Mouse{Event: event, X: x, Y: y, Button: map[bool]string{true: "left", false: "none"}[event != "move"], Buttons: buttons, ClickCount: 1}, Stamp{Epoch: p.epoch}); err != nil {
		p.t.Fatal(err)
	}
}

// look searches pictures of the page until it finds the handle and the left edge
// of the gap.
func (p *person) look() (handle image.Point, gap int) {
	p.t.Helper()
	ctx := browsertest.Context(p.t, "the captcha")
	for {
		data, _, err := p.s.Screenshot(ctx, "png", false)
		if err != nil {
			p.t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			p.t.Fatal(err)
		}
		at, found := corner(picture, handleColor)
		hole, seen := corner(picture, gapColor)
		if found && seen {
			return at, hole.X - gapEdge
		}
	}
}

// corner returns the top left corner of the first area with a colour.
func corner(picture image.Image, want color.RGBA) (image.Point, bool) {
	const wide = 12 // pixels; letters are thinner
	b := picture.Bounds()
	for y := max(b.Min.Y, headerHeight); y < b.Max.Y; y++ {
		run := 0
		for x := b.Min.X; x < b.Max.X; x++ {
			if run++; color.RGBAModel.Convert(picture.At(x, y)) != want {
				run = 0
			}
			if run == wide {
				return leftmost(picture, want, x, y), true
			}
		}
	}
	return image.Point{}, false
}

// leftmost follows an area from its top edge, whose corners may be round, to its
// left edge.
func leftmost(picture image.Image, want color.RGBA, x, y int) image.Point {
	left := x
	for down := range handleSize / 2 {
		for color.RGBAModel.Convert(picture.At(left-1, y+down)) == want {
			left--
		}
	}
	return image.Point{X: left, Y: y}
}

// enterCode types the code from the phone and presses Done.
func (p *person) enterCode() {
	p.t.Helper()
	for _, digit := range p.demo.phone(p.t) {
		p.press(string(digit), "Digit"+string(digit), string(digit))
	}
	p.press("Enter", "Enter", "\r")
	await(p.viewer, "the welcome", func(m TabsMessage) bool {
		return slices.ContainsFunc(m.Tabs, func(tab Tab) bool { return strings.HasPrefix(tab.Title, "Welcome") })
	})
	if err := p.Takeover("done", p.takeover.ID(), ""); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) press(key, code, text string) {
	p.t.Helper()
	for _, event := range []string{"down", "up"} {
		if err := p.Key(input.Key{Event: event, Key: key, Code: code, Text: text}, Stamp{Epoch: p.epoch}); err != nil {
			p.t.Fatal(err)
		}
	}
}
