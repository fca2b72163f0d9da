package viewer

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the figures of all viewers of a server.
type Metrics struct {
	messages  *prometheus.CounterVec
	malformed prometheus.Counter
	pictures  prometheus.Counter
	bytes     prometheus.Counter
	skipped   prometheus.Counter
	acks      prometheus.Histogram
	dropped   *prometheus.CounterVec
}

// NewMetrics returns figures that begin at zero.
func NewMetrics() *Metrics {
	return &Metrics{
		messages:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "takeover_viewer_messages_total", Help: "Messages from viewers by type."}, []string{"type"}),
		malformed: prometheus.NewCounter(prometheus.CounterOpts{Name: "takeover_viewer_messages_malformed_total", Help: "Messages from viewers that were answered with an error."}),
		pictures:  prometheus.NewCounter(prometheus.CounterOpts{Name: "takeover_pictures_sent_total", Help: "Pictures written to viewers."}),
		bytes:     prometheus.NewCounter(prometheus.CounterOpts{Name: "takeover_picture_bytes_sent_total", Help: "Bytes of pictures written to viewers."}),
		skipped:   prometheus.NewCounter(prometheus.CounterOpts{Name: "takeover_pictures_skipped_total", Help: "Pictures that viewers skipped because a newer one was there."}),
		acks: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "takeover_ack_seconds", Help: "Time from writing a picture to its ack.", Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 30},
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "takeover_viewers_dropped_total", Help: "Viewers that were dropped, by reason."}, []string{"reason"}),
	}
}

// Collectors returns the figures for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.messages, m.malformed, m.pictures, m.bytes, m.skipped, m.acks, m.dropped}
}
