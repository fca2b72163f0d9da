package session

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkKeptPicture measures the pictures that are kept of a session and of
// a failed run, as docs/events.md reports them: time and size, for a form, a
// dense list of text, and a page of photos.
//
//	go test ./session -run '^$' -bench KeptPicture -benchtime 50x
func BenchmarkKeptPicture(b *testing.B) {
	srv := httptest.NewServer(pictured())
	b.Cleanup(srv.Close)
	m, err := NewManager(Options{Dir: b.TempDir(), WarmBrowsers: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			b.Log(err)
		}
	})
	for _, name := range []string{"form", "list", "photos"} {
		b.Run(name, func(b *testing.B) {
			s, err := m.Create(b.Context(), CreateOptions{URL: srv.URL + "/" + name, Capture: new(true)})
			if err != nil {
				b.Fatal(err)
			}
			s.pictureToKeep() // once the page has been painted
			var took []time.Duration
			var sizes []int
			missed := 0
			for b.Loop() {
				start := time.Now()
				picture := s.pictureToKeep()
				if len(picture) == 0 { // after keptPictureTimeout
					missed++
					continue
				}
				took, sizes = append(took, time.Since(start)), append(sizes, len(picture))
			}
			if len(took) == 0 {
				b.Fatal("there was no picture")
			}
			slices.Sort(took)
			slices.Sort(sizes)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
			b.ReportMetric(took[len(took)-1].Seconds()*1000, "ms-max")
			b.ReportMetric(float64(sizes[len(sizes)/2])/1000, "kB-p50")
			b.ReportMetric(float64(sizes[len(sizes)-1])/1000, "kB-max")
			b.ReportMetric(float64(missed), "missed")
			if err := s.Release("measured"); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// pictured serves the pages to take pictures of.
func pictured() http.Handler {
	const style = `<!doctype html><meta charset=utf-8><style>body{margin:0;font:15px/1.5 sans-serif;color:#222}header{background:#1f3a5f;color:#fff;padding:14px 32px}
		main{padding:24px 32px}label{display:block;margin:12px 0}input{width:320px;padding:8px}button{padding:10px 24px;background:#1f3a5f;color:#fff;border:0}
		td,th{padding:4px 12px;border-bottom:1px solid #ddd;text-align:left}.grid{display:grid;grid-template-columns:repeat(4,1fr);gap:12px}img{width:100%;display:block}</style>`
	mux := http.NewServeMux()
	page := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, style, "<header>Shop</header><main>", body, "</main>")
		})
	}
	page("/form", `<h1>Sign in</h1><label>Email<br><input value="me@shop.example"></label><label>Password<br><input type=password></label><button>Continue</button><p>New here? <a href=#>Create an account</a></p>`)
	words := strings.Fields("order from the north arrives late and the customer asks for another parcel with a blue label before friday noon")
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "<tr><td>%05d<td>%s<td>%s<td>%d.%02d €", 81000+i*37, strings.Join(words[i%9:i%9+9], " "), words[i%len(words)], i*7, i*13%100)
	}
	page("/list", "<h1>Orders</h1><table><tr><th>No.<th>What happened<th>State<th>Sum"+rows.String()+"</table>")
	page("/photos", `<h1>Holidays</h1><div class=grid>`+strings.Repeat(`<img src=/photo?a><img src=/photo?b><img src=/photo?c><img src=/photo?d>`, 3)+`</div>`)
	mux.HandleFunc("/photo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/jpeg")
		_ = jpeg.Encode(w, photo(uint64(r.URL.RawQuery[0])), &jpeg.Options{Quality: 85})
	})
	return mux
}

// photo draws something with the detail of a photo: soft shapes, edges, and grain.
func photo(seed uint64) image.Image {
	random := rand.New(rand.NewPCG(seed, 1))
	img := image.NewRGBA(image.Rect(0, 0, 600, 400))
	phase := random.Float64() * 6
	for y := range 400 {
		ridge := 180 + 40*math.Sin(float64(y)/9+phase)
		for x := range 600 {
			fx, fy := float64(x), float64(y)
			hill := 230 + 60*math.Sin(fx/70+phase) + 14*math.Sin(fx/11)
			grain := random.Float64()*36 - 18
			c := color.RGBA{uint8(min(255, max(0, 110+fy/4+grain))), uint8(min(255, max(0, 150+fy/5+grain))), uint8(min(255, max(0, 225-fy/6+grain))), 255}
			if fy > hill {
				leaves := 40 * math.Sin(fx/3+fy/5) * math.Cos(fy/4-ridge/50)
				c = color.RGBA{uint8(min(255, max(0, 70+leaves+grain))), uint8(min(255, max(0, 105+leaves+grain))), uint8(min(255, max(0, 50+leaves/2+grain))), 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}
