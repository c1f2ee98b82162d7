package harness

import (
	"strconv"
	"strings"
	"testing"
)

// Names of metrics.
const (
	RequestsMetric = "caddy_robots_guard_requests_total"
	FetchesMetric  = "caddy_robots_guard_fetches_total"
)

// Samples maps the name and labels of a metric, as exposed, to its value.
type Samples map[string]float64

// Metrics returns the current metrics of the server.
func (s *Server) Metrics() Samples {
	s.t.Helper()
	return ReadMetrics(s.t, "http://127.0.0.1:"+s.MetricsPort+"/metrics")
}

// ReadMetrics fetches and parses the metrics at url.
func ReadMetrics(t testing.TB, url string) Samples {
	t.Helper()
	all := make(Samples)
	for line := range strings.Lines(Get(t, url, Firefox).Body) {
		line = strings.TrimSuffix(line, "\n")
		i := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || i < 0 {
			continue
		}
		value, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			t.Fatalf("metrics: %q: %v", line, err)
		}
		all[line[:i]] = value
	}
	return all
}

// Of returns the samples whose names begin with prefix, without that prefix.
func (all Samples) Of(prefix string) Samples {
	some := make(Samples)
	for name, value := range all {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			some[rest] = value
		}
	}
	return some
}

// Sum returns the sum of the samples whose names begin with prefix and contain all
// pieces.
func (all Samples) Sum(prefix string, pieces ...string) (total float64) {
next:
	for name, value := range all.Of(prefix) {
		for _, piece := range pieces {
			if !strings.Contains(name, piece) {
				continue next
			}
		}
		total += value
	}
	return total
}

// Warm makes the server fetch the robots.txt of the sites of the given URLs.
func (s *Server) Warm(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		s.WarmURL(s.URL(path))
	}
}

// WarmURL is like Warm for a URL that includes its port.
func (s *Server) WarmURL(url string) {
	s.t.Helper()
	unknown := func() float64 { return s.Metrics().Sum(RequestsMetric, `verdict="unknown"`) }
	Eventually(s.t, "the guard has fetched the robots.txt of "+url+" (no verdict unknown)", func() bool {
		before := unknown()
		Get(s.t, url, Bingbot)
		return unknown() == before
	})
}
