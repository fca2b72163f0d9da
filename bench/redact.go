package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"time"

	"takeover/capture"
	"takeover/redact"
)

// redacted are events of typical size, and how long their redaction may take.
var redacted = []struct {
	name string
	data string
	most time.Duration
}{
	{"a request's event", `{"request_id":"7F3A.112","method":"POST","url":"https://shop.example/api/v2/cart/items?currency=EUR&lang=de&page=2","headers":` +
		`{"Accept":"application/json, text/plain, */*","Accept-Language":"de-DE,de;q=0.9,en;q=0.8","Content-Type":"application/json","Origin":"https://shop.example",` +
		`"Referer":"https://shop.example/products/garden/chairs?color=green","Sec-Fetch-Mode":"cors",` +
		`"User-Agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",` +
		`"Cookie":"sid=abc; theme=dark","Authorization":"Bearer abc.def"},"post_data":"{\"item\":4711,\"note\":\"please leave at the door\",\"password\":\"hunter2\"}",` +
		`"resource_type":"fetch"}`, 50 * time.Microsecond},
	{"a console line", `{"level":"log","text":"rendered 24 products in 13.2 ms, cache: hit, filter=garden","args":["rendered 24 products in 13.2 ms, cache: hit, filter=garden"],` +
		`"stack_trace":[{"function":"render","url":"https://shop.example/static/js/main.4f2a91c7.js","line":1,"column":90211}]}`, 15 * time.Microsecond},
	{"100 kB of JSON", bodyOf("[", `{"id":48211,"name":"Garden chair","url":"https://shop.example/products/48211?ref=list","price":{"amount":"49.90"},"tags":["garden","wood"]},`, "1]"), 5 * time.Millisecond},
	{"100 kB of HTML", bodyOf("<!doctype html><ul>", `<li class="product-tile" data-id="48211"><a href="/products/48211?ref=list">Garden chair</a><span style="color: green">49.90 EUR</span></li>`+"\n", "</ul>"), 5 * time.Millisecond},
}

// bodyOf returns the event of a response whose body repeats a part.
func bodyOf(begin, part, end string) string {
	text := begin + strings.Repeat(part, 100_000/len(part)) + end
	body, _ := json.Marshal(text) // a string can always be written
	return `{"request_id":"7F3A.113","status":200,"body":` + string(body) + `}`
}

// benchRedact measures the processor time that redaction adds to an event, against
// that of reading the event's JSON and writing it again.
func benchRedact(ctx context.Context, e *env) (rows []row, err error) {
	r := redact.New(redact.Options{})
	r.AddSecret("hunter2 & co")
	for _, one := range redacted {
		data := []byte(one.data)
		var ours, reference time.Duration
		rounds := e.times(20)
		for range rounds {
			if err := ctx.Err(); err != nil {
				return rows, err
			}
			n := max(2_000_000/len(data), 1)
			for _, side := range []struct {
				total *time.Duration
				work  func() error
			}{
				{&ours, func() error {
					event := capture.Event{Category: capture.CategoryNetwork, URL: "https://shop.example/products?color=green", Data: data}
					event.Redact(r)
					return nil
				}},
				{&reference, func() error {
					var value any
					decoder := json.NewDecoder(bytes.NewReader(data))
					decoder.UseNumber()
					if err := decoder.Decode(&value); err != nil {
						return err
					}
					_, err := json.Marshal(value)
					return err
				}},
			} {
				began, err := processorTime()
				if err != nil {
					return rows, err
				}
				for range n {
					if err := side.work(); err != nil {
						return rows, err
					}
				}
				ended, err := processorTime()
				if err != nil {
					return rows, err
				}
				*side.total += (ended - began) / time.Duration(n)
			}
		}
		rows = append(rows, row{
			what: "redaction of " + one.name, ours: micros(ours / time.Duration(rounds)), reference: micros(reference / time.Duration(rounds)), unit: "µs", target: atMost(micros(one.most)),
			note: fmt.Sprintf("processor time for %d bytes; reference: Go's encoding/json reads and writes the same", len(data)),
		})
	}
	return rows, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// processorTime returns the processor time of this process.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
