package capture

import "math"

// timingData says how long the phases of a request took, in milliseconds; -1 for
// a phase that did not happen, as in HAR.
type timingData struct {
	StartedAt int64   `json:"started_at"` // Unix ms
	Blocked   float64 `json:"blocked_ms"`
	DNS       float64 `json:"dns_ms"`
	Connect   float64 `json:"connect_ms"` // TLS included
	SSL       float64 `json:"ssl_ms"`
	Send      float64 `json:"send_ms"`
	Wait      float64 `json:"wait_ms"` // to the first byte
	Receive   float64 `json:"receive_ms"`
	Total     float64 `json:"total_ms"`
}

// cdpTiming holds the needed fields of Network.ResourceTiming. RequestTime is in
// seconds of the monotonic clock, the others in milliseconds from there, or -1
// for what did not happen.
type cdpTiming struct {
	RequestTime  float64 `json:"requestTime"`
	DNSStart     float64 `json:"dnsStart"`
	DNSEnd       float64 `json:"dnsEnd"`
	ConnectStart float64 `json:"connectStart"`
	ConnectEnd   float64 `json:"connectEnd"`
	SSLStart     float64 `json:"sslStart"`
	SSLEnd       float64 `json:"sslEnd"`
	SendStart    float64 `json:"sendStart"`
	SendEnd      float64 `json:"sendEnd"`
	HeadersStart float64 `json:"receiveHeadersStart"`
	HeadersEnd   float64 `json:"receiveHeadersEnd"`
}

// data returns the timing of a request. ended is when the request ended, in
// seconds of the monotonic clock, or 0 if that is unknown.
func (t *cdpTiming) data(r *request, ended float64) *timingData {
	d := &timingData{StartedAt: int64(r.wall * 1000), Blocked: -1, DNS: -1, Connect: -1, SSL: -1, Send: -1, Wait: -1, Receive: -1, Total: -1}
	if ended > 0 {
		d.Total = milliseconds((ended - r.sent) * 1000)
	}
	if t == nil {
		if ended == 0 {
			return nil
		}
		return d
	}
	first := t.SendStart
	for _, start := range []float64{t.ConnectStart, t.DNSStart} {
		if start >= 0 {
			first = start
		}
	}
	d.Blocked = milliseconds((t.RequestTime-r.sent)*1000 + first)
	if t.DNSStart >= 0 {
		d.DNS = milliseconds(t.DNSEnd - t.DNSStart)
	}
	if t.ConnectStart >= 0 {
		d.Connect = milliseconds(t.ConnectEnd - t.ConnectStart)
	}
	if t.SSLStart >= 0 {
		d.SSL = milliseconds(t.SSLEnd - t.SSLStart)
	}
	if t.SendStart >= 0 {
		d.Send = milliseconds(t.SendEnd - t.SendStart)
		d.Wait = milliseconds(t.HeadersEnd - t.SendEnd)
	}
	if ended > 0 {
		d.Receive = milliseconds((ended-t.RequestTime)*1000 - t.HeadersEnd)
	}
	return d
}

// milliseconds rounds to a microsecond. The clocks of two processes may differ a
// little, so negative values become 0.
func milliseconds(ms float64) float64 { return math.Round(max(ms, 0)*1000) / 1000 }
