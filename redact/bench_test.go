package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// benchmarkEvents are events of typical size.
var benchmarkEvents = map[string]string{
	"request": `{"request_id":"7F3A.112","method":"POST","url":"https://shop.example/api/v2/cart/items?currency=EUR&lang=de&page=2&sort=price","headers":` +
		`{"Accept":"application/json, text/plain, */*","Accept-Language":"de-DE,de;q=0.9,en;q=0.8","Content-Type":"application/json","Origin":"https://shop.example",` +
		`"Referer":"https://shop.example/products/garden/chairs?color=green&view=grid","Sec-Ch-Ua":"\"Chromium\";v=\"140\", \"Not=A?Brand\";v=\"24\"","Sec-Ch-Ua-Mobile":"?0",` +
		`"Sec-Fetch-Mode":"cors","User-Agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",` +
		`"Cookie":"sid=abc; theme=dark","Authorization":"Bearer abc.def"},"post_data":"{\"item\":4711,\"count\":2,\"note\":\"please leave at the door\",\"options\":[{\"name\":\"color\",\"value\":\"green\"}]}",` +
		`"resource_type":"fetch","initiator":{"type":"script","url":"https://shop.example/static/js/main.4f2a91c7.js","line":1,"column":48211}}`,
	"console": `{"level":"log","text":"rendered 24 products in 13.2 ms, cache: hit, filter=garden","args":["rendered 24 products in 13.2 ms, cache: hit, filter=garden"],` +
		`"stack_trace":[{"function":"render","url":"https://shop.example/static/js/main.4f2a91c7.js","line":1,"column":90211}]}`,
	"body100kB": func() string {
		row := `{"id":48211,"name":"Garden chair","url":"https://shop.example/products/48211?ref=list","price":{"amount":"49.90","currency":"EUR"},"tags":["garden","wood"],"created":"2025-03-04T10:11:12Z"},`
		body, _ := json.Marshal("[" + strings.Repeat(row, 100_000/len(row)) + "1]")
		return `{"request_id":"7F3A.113","status":200,"body":` + string(body) + `}`
	}(),
	"html100kB": func() string {
		row := `<li class="product-tile" data-id="48211"><a href="/products/48211?ref=list">Garden chair</a><span style="color: green">49.90 EUR</span></li>` + "\n"
		body, _ := json.Marshal("<!doctype html><ul>" + strings.Repeat(row, 100_000/len(row)) + "</ul>")
		return `{"request_id":"7F3A.114","status":200,"body":` + string(body) + `}`
	}(),
}

func BenchmarkEvent(b *testing.B) {
	for _, name := range []string{"request", "console", "body100kB", "html100kB"} {
		b.Run(name, func(b *testing.B) {
			r := New(Options{})
			r.AddSecret("hunter2 & co")
			data := []byte(benchmarkEvents[name])
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r.Text("https://shop.example/products/garden/chairs?color=green&view=grid")
				r.Document(data)
			}
		})
	}
}
