package notify

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// inbox is a receiver that answers with these statuses, the last one again and again.
type inbox struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	header   http.Header // of answers
	got      []sent
	came     chan struct{}
}

type sent struct {
	path   string
	header http.Header
	body   string
}

func newInbox(t *testing.T, statuses ...int) *inbox {
	i := &inbox{statuses: statuses, header: make(http.Header), came: make(chan struct{}, 100)}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		i.mu.Lock()
		defer i.mu.Unlock()
		status := i.statuses[min(len(i.got), len(i.statuses)-1)]
		i.got = append(i.got, sent{r.URL.Path, r.Header, string(body)})
		for name := range i.header {
			w.Header().Set(name, i.header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "{}")
		i.came <- struct{}{}
	}))
	t.Cleanup(i.Close)
	return i
}

// wait waits for so many requests.
func (i *inbox) wait(n int) []sent {
	for range n {
		<-i.came
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.got)
}

// counter is a [DeliveryCounter].
type counter struct{ sent, failed atomic.Int32 }

func (c *counter) CountNotification(err error) {
	if err != nil {
		c.failed.Add(1)
	} else {
		c.sent.Add(1)
	}
}

// sendOnce delivers a message, and returns the log.
func sendOnce(t *testing.T, c ReceiverConfig, alerts []alert.Alert) (logged string) {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	var counts counter
	receivers, err := NewReceivers([]ReceiverConfig{c}, &counts, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	r := receivers[0]
	r.retryDelay, r.server, r.queue = time.Millisecond, "web1", newQueue()
	r.deliver(t.Context(), pendingAlerts{opened: alerts})
	if sent, failed := counts.sent.Load(), counts.failed.Load(); sent+failed != 1 || (failed == 1) != r.lastFailed {
		t.Errorf("counted as sent %d times and as failed %d times, and it has failed: %t", sent, failed, r.lastFailed)
	}
	var b strings.Builder
	for _, e := range logs.All() {
		b.WriteString(e.Message + "\n")
		enc, _ := json.Marshal(e.ContextMap())
		b.Write(enc)
	}
	return b.String()
}

var example = []alert.Alert{{
	ID: "robots_gone-1", Kind: alert.RobotsGone, Severity: alert.Critical, Site: "a.test", State: alert.Open,
	Title: "The robots.txt of a.test is gone", Detail: "Line 2, \"Disallow: /*_<b>@channel\" [x](y).", Remedy: "Bring it back.", RemedySnippet: "curl -i http://a.test/robots.txt",
}}

// TestSigned is the generic format with a signature that its receiver can check.
func TestSigned(t *testing.T) {
	t.Setenv("ALERTS_SECRET", "a secret")
	i := newInbox(t, 200)
	t.Setenv("ALERTS_URL", i.URL+"/hook")
	logged := sendOnce(t, ReceiverConfig{URL: "{env.ALERTS_URL}", Secret: "{env.ALERTS_SECRET}"}, example)
	got := i.wait(1)[0]
	at, err := strconv.ParseInt(got.header.Get(TimestampHeader), 10, 64)
	if err != nil || Sign("a secret", at, []byte(got.body)) != got.header.Get(SignatureHeader) {
		t.Errorf("%v, header %v", err, got.header)
	}
	// printf 1.x | openssl dgst -sha256 -hmac key
	if got := Sign("key", 1, []byte("x")); got != "v1=fc4913c41a7bf793267e2a384f3261c9436ec2cd097bd745e7b0d99113f510ec" {
		t.Errorf("the signature is %s", got)
	}
	var m Message
	if err := json.Unmarshal([]byte(got.body), &m); err != nil || m.Version != 1 || m.Server != "web1" || len(m.OpenAlerts) != 1 || m.OpenAlerts[0].ID != "robots_gone-1" || m.EndedAlerts == nil {
		t.Errorf("%v: %s", err, got.body)
	}
	if strings.Contains(logged, "a secret") || strings.Contains(logged, "/hook") || !strings.Contains(logged, "alerts were sent") {
		t.Errorf("logged is %s", logged)
	}
}

// TestRetries tries again where that is of use, for a while.
func TestRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		statuses []int
		attempts int
		logged   string
	}{
		"down for a moment": {[]int{503, 500, 200}, 3, "alerts were sent"},
		"too many requests": {[]int{429, 204}, 2, "alerts were sent"},
		"down":              {[]int{503}, maxAttempts, "status 503"},
		"no such hook":      {[]int{404}, 1, "status 404; check the URL"},
		"redirect":          {[]int{302}, 1, "redirects are not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newInbox(t, tc.statuses...)
			i.header.Set("Location", i.URL+"/elsewhere")
			logged := sendOnce(t, ReceiverConfig{URL: i.URL + "/hook/secret"}, example)
			if got := i.wait(tc.attempts); len(got) != tc.attempts || !strings.Contains(logged, tc.logged) || strings.Contains(logged, "hook") {
				t.Errorf("%d attempts, logged %s", len(got), logged)
			}
		})
	}
	logged := sendOnce(t, ReceiverConfig{URL: "http://127.0.0.1:1/hook/secret"}, example)
	if !strings.Contains(logged, "connection refused") || strings.Contains(logged, "hook") {
		t.Errorf("logged is %s", logged)
	}
}

// source is a [AlertSource].
type source struct {
	mu      sync.Mutex
	alerts  []alert.Alert
	updated chan struct{}
}

func newSource(alerts []alert.Alert) *source {
	return &source{alerts: alerts, updated: make(chan struct{})}
}

func (s *source) Latest() ([]alert.Alert, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alerts, s.updated
}

func (s *source) update(alerts []alert.Alert) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alerts = alerts
	close(s.updated)
	s.updated = make(chan struct{})
}

// TestStart sends alerts and their ends, and nothing twice, also after a reload. The reload shortens
// the interval.
func TestStart(t *testing.T) {
	i := newInbox(t, 200)
	var history DeliveryHistory
	alerts := newSource(example)
	end := startReceiver(t, i.URL, 24*time.Hour, &history, alerts)
	i.wait(1)
	awaitSent(&history, i.URL)
	end()
	defer startReceiver(t, i.URL, time.Millisecond, &history, alerts)()
	alerts.update(example)
	alerts.update(nil)
	got := i.wait(1)
	if len(got) != 2 || !strings.Contains(got[0].body, `"open":[{"id":"robots_gone-1"`) || !strings.Contains(got[1].body, `"over":[{"id":"robots_gone-1"`) {
		t.Errorf("%d messages: %+v", len(got), got)
	}
}

// startReceiver starts a receiver that does not wait for other alerts.
func startReceiver(t *testing.T, url string, interval time.Duration, history *DeliveryHistory, alerts *source) (end func()) {
	t.Helper()
	receivers, err := NewReceivers([]ReceiverConfig{{URL: url}}, new(counter), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	receivers[0].settings.wait, receivers[0].settings.interval = time.Millisecond, interval
	ctx, cancel := context.WithCancel(t.Context())
	StartReceivers(ctx, receivers, history, alerts)
	return cancel
}

// awaitSent waits until a message is recorded as sent.
func awaitSent(history *DeliveryHistory, url string) {
	for ; ; time.Sleep(time.Millisecond) {
		history.mu.Lock()
		sent := len(history.queues[receiverKey(url)].sent)
		history.mu.Unlock()
		if sent > 0 {
			return
		}
	}
}

// TestSentOnceInAReload sends a message once if the previous configuration is sending it, however long
// the receiver takes to answer.
func TestSentOnceInAReload(t *testing.T) {
	came, answer := make(chan struct{}, 10), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-answer
	}))
	defer server.Close()
	var history DeliveryHistory
	alerts := newSource(example)
	defer startReceiver(t, server.URL, time.Millisecond, &history, alerts)()
	<-came
	defer startReceiver(t, server.URL, time.Millisecond, &history, alerts)()
	select {
	case <-came:
		t.Error("the message is sent a second time before the first is answered")
	case <-time.After(50 * time.Millisecond):
	}
	close(answer)
	awaitSent(&history, server.URL)
	alerts.update(example)
	select {
	case <-came:
		t.Error("the message is sent a second time")
	case <-time.After(50 * time.Millisecond):
	}
}
