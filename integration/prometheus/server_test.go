package prometheus

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// prometheus is a running Prometheus with an accelerated version of the example's
// configuration, and a substitute for Alertmanager.
type prometheus struct {
	t       *testing.T
	address string
	mu      sync.Mutex
	alerts  map[string]alert // sent to Alertmanager, by name and host
}

type alert struct{ Labels, Annotations map[string]string }

// faster replaces days by minutes in the rules.
var faster = strings.NewReplacer(
	"[15m]", "[15s]", "offset 15m", "offset 15s", "[1h]", "[15s]", "offset 1h", "offset 15s",
	"[2h]", "[1m]", "[1d]", "[1m]", "[7d]", "[1m]", "[2d]", "[1m]", "offset 1d", "offset 15s", "offset 2d", "offset 15s",
	"> 900", "> 1", "172800", "60", "* 900", "* 15",
	"for: 15m", "for: 0s", "for: 30m", "for: 0s", "for: 1h", "for: 0s")

// startPrometheus runs Prometheus until the end of the test. It scrapes the metrics of
// a server every second.
func startPrometheus(t *testing.T, metrics string) *prometheus {
	t.Helper()
	path := tool(t, "prometheus", "prometheus")
	p := &prometheus{t: t, address: "127.0.0.1:" + harness.FreePort(t), alerts: make(map[string]alert)}
	manager := httptest.NewServer(http.HandlerFunc(p.receive))
	t.Cleanup(manager.Close)

	dir := t.TempDir()
	for name, replace := range map[string]*strings.Replacer{
		"alerts.yml": faster,
		"prometheus.yml": strings.NewReplacer("15s", "1s", "127.0.0.1:9180", "127.0.0.1:"+metrics,
			"localhost:9093", manager.Listener.Addr().String()),
	} {
		text, err := os.ReadFile(rulesDir + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(replace.Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	process := harness.Attend(t, exec.Command(path, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+p.address, "--log.level=warn"))
	harness.Eventually(t, "Prometheus is ready", func() bool {
		select {
		case <-process.Done():
			t.Fatalf("Prometheus exited: %s", harness.Tail(process.Logs.String(), 4000))
		default:
		}
		response, err := http.Get("http://" + p.address + "/-/ready")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return p
}

// receive accepts alerts as Alertmanager does.
func (p *prometheus) receive(_ http.ResponseWriter, r *http.Request) {
	var alerts []alert
	if json.NewDecoder(r.Body).Decode(&alerts) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range alerts {
		p.alerts[a.Labels["alertname"]+" "+a.Labels["host"]] = a
	}
}

// received returns an alert that was sent.
func (p *prometheus) received(name, host string) (alert, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.alerts[name+" "+host]
	return a, ok
}

// api sends a request to Prometheus and decodes the data of the response.
func (p *prometheus) api(path string, form url.Values, data any) {
	p.t.Helper()
	response, err := http.Get("http://" + p.address + path + "?" + form.Encode())
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Status != "success" {
		p.t.Fatalf("%s %v: %s", path, form, harness.Tail(string(text), 1000))
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		p.t.Fatal(err)
	}
}

// sample is a value in the result of a query.
type sample struct {
	labels map[string]string
	value  float64
}

// query evaluates an expression, now or over the time since start.
func (p *prometheus) query(expr string, start time.Time) (samples []sample) {
	p.t.Helper()
	path, form := "/api/v1/query", url.Values{"query": {expr}}
	if !start.IsZero() {
		path = "/api/v1/query_range"
		form.Set("start", fmt.Sprint(start.Unix()))
		form.Set("end", fmt.Sprint(time.Now().Unix()))
		form.Set("step", "1")
	}
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
			Values [][2]any
		}
	}
	p.api(path, form, &data)
	for _, result := range data.Result {
		if result.Values == nil {
			result.Values = [][2]any{result.Value}
		}
		for _, pair := range result.Values {
			text, _ := pair[1].(string)
			if value, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(value) {
				samples = append(samples, sample{result.Metric, value})
			}
		}
	}
	return samples
}

// value evaluates an expression with one value. It returns NaN without a value.
func (p *prometheus) value(expr string) float64 {
	p.t.Helper()
	if samples := p.query(expr, time.Time{}); len(samples) == 1 {
		return samples[0].value
	}
	return math.NaN()
}
