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

// Samples are the values of a page of metrics, by name and labels as printed.
type Samples map[string]float64

// Metrics reads the server's metrics.
func (s *Server) Metrics() Samples {
	s.t.Helper()
	return ReadMetrics(s.t, "http://127.0.0.1:"+s.MetricsPort+"/metrics")
}

// ReadMetrics reads a page of metrics.
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

// Of returns the samples whose name begins with a prefix, without the prefix.
func (all Samples) Of(prefix string) Samples {
	some := make(Samples)
	for name, value := range all {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			some[rest] = value
		}
	}
	return some
}

// Sum adds up the samples that begin with a prefix and have all these pieces in
// their name.
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

// Warm makes sure that the robots.txt of these URLs' sites was read.
func (s *Server) Warm(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		s.WarmURL(s.URL(path))
	}
}

// WarmURL is Warm for a URL with its port.
func (s *Server) WarmURL(url string) {
	s.t.Helper()
	unknown := func() float64 { return s.Metrics().Sum(RequestsMetric, `verdict="unknown"`) }
	Eventually(s.t, "the robots.txt of "+url+" is known", func() bool {
		before := unknown()
		Get(s.t, url, Bingbot)
		return unknown() == before
	})
}
