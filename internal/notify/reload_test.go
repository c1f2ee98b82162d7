package notify

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
)

// TestToldOnceInAReload tells once what becomes due while the configuration before still
// runs, however long the receiver takes to answer.
func TestToldOnceInAReload(t *testing.T) {
	came, answer := make(chan struct{}, 10), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-answer
	}))
	defer server.Close()
	var history History
	begin := func() *Receiver {
		receivers, err := New([]Config{{URL: server.URL, Wait: caddy.Duration(time.Second), Interval: caddy.Duration(time.Second)}}, &history, new(counter), zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		receivers[0].settings.wait, receivers[0].settings.interval = time.Millisecond, time.Millisecond
		ctx, end := context.WithCancel(t.Context())
		t.Cleanup(end)
		Start(ctx, receivers, &history)(example)
		return receivers[0]
	}
	begin()
	<-came // the configuration before is telling
	next := begin()
	for len(next.pendingList) > 0 { // until the next one has looked
		time.Sleep(time.Millisecond)
	}
	select {
	case <-came:
		t.Error("it is sent a second time before the first is answered")
	case <-time.After(50 * time.Millisecond):
	}
	close(answer)
	for g := history.queue(server.URL); ; time.Sleep(time.Millisecond) {
		g.mu.Lock()
		noted := len(g.sentAlerts)
		g.mu.Unlock()
		if noted > 0 {
			break
		}
	}
	next.setPendingList(example)
	next.setPendingList(example)
	select {
	case <-came:
		t.Error("it is sent a second time")
	case <-time.After(50 * time.Millisecond):
	}
}

// TestTold forgets receivers that are not configured any more, and none for a configuration
// that could not be loaded.
func TestTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var history History
		load := func(hosts ...string) (end func()) {
			var all []Config
			for _, host := range hosts {
				all = append(all, Config{URL: "https://" + host})
			}
			receivers, err := New(all, &history, new(counter), zap.NewNop())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			Start(ctx, receivers, &history)
			return func() {
				cancel()
				synctest.Wait()
			}
		}
		end := load("a", "b")
		a, b := history.queue("https://a"), history.queue("https://b")
		load("c")() // another app fails to start
		if history.queue("https://a") != a || history.queue("https://b") != b {
			t.Error("a configuration that could not be loaded has the history of running receivers forgotten")
		}
		last := load("a")
		end()
		if history.queue("https://a") != a || history.queue("https://b") == b {
			t.Error("not what was to be kept")
		}
		last()
		if history.queue("https://a") != a {
			t.Error("what is to be stored yet is forgotten")
		}
	})
}
