package web

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"takeover/door/viewer"
	"takeover/egress"
	"takeover/limits"
	"takeover/session"
)

// metrics are the figures of one server, in a registry of its own.
type metrics struct {
	handler http.Handler

	requests  *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	creates   prometheus.Histogram
	streams   prometheus.Gauge
	viewers   *viewer.Metrics
	wrongKeys *prometheus.CounterVec
	forwarded prometheus.Counter
}

func newMetrics(manager *session.Manager) *metrics {
	reg := prometheus.NewRegistry()
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "takeover_http_request_seconds", Help: "Time of requests by route and status.", Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 60},
		}, []string{"method", "route", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "takeover_http_requests_in_flight", Help: "Requests under way, sockets and streams included."}),
		creates: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "takeover_session_create_seconds", Help: "Time from a create to a browser that is there.", Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "takeover_streams", Help: "Event streams that are open."}),
		viewers: viewer.NewMetrics(),
	}
	m.wrongKeys = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "takeover_wrong_keys_total", Help: "Wrong keys, link secrets and sign-in codes, by where they came."}, []string{"where"})
	m.forwarded = prometheus.NewCounter(prometheus.CounterOpts{Name: "takeover_forwarded_requests_total", Help: "Requests passed on to other nodes, sockets and streams included."})
	reg.MustRegister(m.forwarded, m.wrongKeys, m.requests, m.inFlight, m.creates, m.streams,
		&statsCollector{manager: manager}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reg.MustRegister(m.viewers.Collectors()...)
	m.handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	return m
}

// countedMethods are the methods with figures of their own.
var countedMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

func (m *metrics) request(method, route string, status int, took time.Duration) {
	switch {
	case route == "":
		route = "none" // so that callers cannot create labels
	case status == http.StatusSwitchingProtocols:
		took = 0 // the duration of a socket is not that of a request
	}
	if !slices.Contains(countedMethods, method) {
		method = "other" // for the same reason
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// statsCollector reads the manager's figures at each request.
type statsCollector struct{ manager *session.Manager }

var (
	descSessions    = prometheus.NewDesc("takeover_sessions", "Sessions in the registry by status.", []string{"status"}, nil)
	descMax         = prometheus.NewDesc("takeover_sessions_max", "Sessions that may be live at a time.", nil, nil)
	descQueue       = prometheus.NewDesc("takeover_creates_waiting", "Requests for a session that wait for a place.", nil, nil)
	descHibernating = prometheus.NewDesc("takeover_sessions_hibernating", "Live sessions that are without a Chromium until somebody uses them.", nil, nil)
	descFree        = prometheus.NewDesc("takeover_memory_free_bytes", "Memory that the machine and the server's control group still have. When it is short, sessions hibernate.", nil, nil)
	descCreated     = prometheus.NewDesc("takeover_sessions_created_total", "Sessions created.", nil, nil)
	descEnded       = prometheus.NewDesc("takeover_sessions_ended_total", "Sessions ended by status.", []string{"status"}, nil)
	descCrashes     = prometheus.NewDesc("takeover_chromium_crashes_total", "Chromiums that died.", nil, nil)
	descViewers     = prometheus.NewDesc("takeover_viewers", "Viewers that are connected.", nil, nil)
	descStale       = prometheus.NewDesc("takeover_input_stale_total", "Inputs dropped because of an old epoch.", nil, nil)
	descRejected    = prometheus.NewDesc("takeover_input_rejected_total", "Inputs of somebody who is not in control.", nil, nil)
	descRuns        = prometheus.NewDesc("takeover_runs_total", "Runs that ended, by outcome.", []string{"status"}, nil)
	descTakeovers   = prometheus.NewDesc("takeover_takeovers_total", "Takeovers that ended, by outcome.", []string{"state"}, nil)
	descLimits      = prometheus.NewDesc("takeover_limit_hits_total", "How often a limit was reached.", []string{"limit"}, nil)
	descBlocked     = prometheus.NewDesc("takeover_egress_blocked_total", "Requests to addresses that sessions may not reach.", []string{"reason"}, nil)
	descWaiting     = prometheus.NewDesc("takeover_takeovers_open", "Takeovers that wait for their end.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *statsCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descSessions, descMax, descQueue, descHibernating, descFree, descCreated, descEnded, descCrashes, descViewers, descStale, descRejected, descRuns, descTakeovers, descLimits, descBlocked, descWaiting} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *statsCollector) Collect(out chan<- prometheus.Metric) {
	st := c.manager.Stats()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	for _, status := range statuses {
		gauge(descSessions, float64(st.ByStatus[session.Status(status)]), status)
	}
	gauge(descMax, float64(st.MaxSessions))
	gauge(descQueue, float64(st.Waiting))
	gauge(descHibernating, float64(st.Hibernating))
	gauge(descFree, float64(st.MemoryFree))
	gauge(descViewers, float64(st.Viewers))
	counter(descCreated, st.Created)
	counter(descCrashes, st.Crashes)
	counter(descStale, st.StaleInput)
	counter(descRejected, st.RejectedInput)
	for status, n := range st.Ended {
		counter(descEnded, n, string(status))
	}
	for status, n := range st.Runs {
		counter(descRuns, n, string(status))
	}
	for state, n := range st.Takeovers {
		counter(descTakeovers, n, string(state))
	}
	for _, reason := range egress.Reasons {
		counter(descBlocked, st.Blocked[reason], string(reason))
	}
	for _, name := range limits.Names {
		counter(descLimits, c.manager.Limits().Count(name), string(name))
	}
	open := 0
	for _, t := range c.manager.Takeovers("") {
		if t.Info().State.Open() {
			open++
		}
	}
	gauge(descWaiting, float64(open))
}

// serveMetrics handles GET /metrics.
func (s *Server) serveMetrics(c echo.Context) error {
	s.metrics.handler.ServeHTTP(c.Response(), c.Request())
	return nil
}
