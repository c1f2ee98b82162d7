package guard

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"
)

// TestFirstByte measures the time to the first byte of a response, whatever starts the
// response. It does not measure the guard's own responses, and responses to clients
// that have disconnected.
func TestFirstByte(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	conn, other := net.Pipe()
	defer func() { _, _ = conn.Close(), other.Close() }()
	for _, tc := range []struct {
		name   string
		begin  func(w http.ResponseWriter) error
		ctx    context.Context // nil for the context of the test
		target string
		want   time.Duration // 0 for none
	}{
		{"a status", func(w http.ResponseWriter) error { w.WriteHeader(404); return nil }, nil, "/", 2 * time.Second},
		{"early hints are no answer", func(w http.ResponseWriter) error { w.WriteHeader(103); return nil }, nil, "/", 12 * time.Second},
		{"a body", func(w http.ResponseWriter) error { _, err := io.WriteString(w, "x"); return err }, nil, "/", 2 * time.Second},
		{"a file", func(w http.ResponseWriter) error { _, err := io.Copy(w, strings.NewReader("x")); return err }, nil, "/", 2 * time.Second},
		{"a flush", func(w http.ResponseWriter) error { w.(http.Flusher).Flush(); return nil }, nil, "/", 2 * time.Second},
		{"a flush by the controller", func(w http.ResponseWriter) error { return http.NewResponseController(w).Flush() }, nil, "/", 2 * time.Second},
		{"nothing", func(http.ResponseWriter) error { return nil }, nil, "/", 12 * time.Second},
		{"an error", func(http.ResponseWriter) error { return errors.New("x") }, nil, "/", 12 * time.Second},
		{"a page after which the client leaves", func(w http.ResponseWriter) error { w.WriteHeader(200); return nil }, left, "/", 2 * time.Second},
		{"a client that leaves before", func(http.ResponseWriter) error { return context.Canceled }, left, "/", 0},
		{"hijacked", func(w http.ResponseWriter) error { _, _, err := http.NewResponseController(w).Hijack(); return err }, nil, "/", 0},
		{"a WebSocket", func(w http.ResponseWriter) error {
			w.WriteHeader(101)
			_, _, err := http.NewResponseController(w).Hijack()
			return err
		}, nil, "/", 0},
		{"blocked", nil, nil, "/private/", 0},
		{"robots.txt", func(w http.ResponseWriter) error { w.WriteHeader(200); return nil }, nil, "/robots.txt", 0},
	} {
		g := testGuard(t, options{Enforce: true, Rate: slow}, serving("User-agent: *\nDisallow: /private/\n"))
		now := time.Hour
		g.state.clock = func() time.Duration { return now }
		g.Judge(requestBy("CCBot/2.0", "/")) // fetches the file
		r := served(http.MethodGet, "CCBot/2.0", tc.target)
		if tc.ctx != nil {
			r = r.WithContext(context.WithValue(tc.ctx, caddyhttp.VarsCtxKey, r.Context().Value(caddyhttp.VarsCtxKey)))
		}
		_ = g.Serve(hijackable{httptest.NewRecorder(), conn}, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			now += 2 * time.Second
			err := tc.begin(w)
			now += 10 * time.Second
			return err
		}))
		if got := sumOfFirstBytes(t, g); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// sumOfFirstBytes returns the sum of the histogram.
func sumOfFirstBytes(t *testing.T, g *Guard) (sum time.Duration) {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := g.state.Metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if !strings.HasSuffix(family.GetName(), "first_byte_seconds") {
			continue
		}
		for _, m := range family.GetMetric() {
			if label := m.GetLabel()[0].GetValue(); label != "ai_training" {
				t.Errorf("counted for %s", label)
			}
			sum += time.Duration(m.GetHistogram().GetSampleSum() * float64(time.Second))
		}
	}
	return sum
}
