package guard

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// told records the emitted events.
type told struct {
	mu   sync.Mutex
	data []map[string]any
	wait chan struct{} // if not nil, emitting blocks until it is closed
	done sync.WaitGroup
}

func (e *told) events() *Events {
	return &Events{
		hasSubscriber: func(string) bool { return true },
		logger:        zap.NewNop(),
		emit: func(name string, data map[string]any) {
			defer e.done.Done()
			if e.wait != nil {
				<-e.wait
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			data["event"] = name
			e.data = append(e.data, data)
		},
	}
}

func TestViolationEvent(t *testing.T) {
	h := recordingGuard(t, options{Enforce: true}, mixedRobots)
	var e told
	h.Events = e.events()
	h.visit(t, "bingbot/2.0", "http://example.com/", "192.0.2.1")
	e.done.Add(2)
	for range 3 {
		h.visit(t, "bingbot/2.0", "http://example.com/private/x", "192.0.2.1")
	}
	h.visit(t, "Googlebot/2.1", "http://example.com/google/x", "192.0.2.1")
	h.visit(t, "Twitterbot/1.0", "http://example.com/private/x", "192.0.2.1")
	e.done.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	got := make(map[any]string)
	for _, d := range e.data {
		got[d["crawler"]] = fmt.Sprintln(d["event"], d["site"], d["class"], d["identity"], d["verdict"], d["action"], d["count"],
			d["rule"], d["line"], d["group"], d["method"], d["uri"], d["user_agent"], d["client_ip"], len(d["version"].(string)))
	}
	const want = "robots_violation example.com search claimed disallowed blocked 1 Disallow: /private/ 2 * GET /private/x bingbot/2.0 192.0.2.1 64\n"
	if len(e.data) != 2 || got["bingbot"] != want {
		t.Errorf("%d events, %v; want %s", len(e.data), got, want)
	}
}

// TestSlowEvents checks that nothing waits for event handlers, that events stay in order, and that
// their number is bounded.
func TestSlowEvents(t *testing.T) {
	e := told{wait: make(chan struct{})}
	events := e.events()
	core, logs := observer.New(zap.WarnLevel)
	events.logger = zap.New(core)
	e.done.Add(maxQueued)
	for i := range 2 * maxQueued {
		events.Send(eventViolation, map[string]any{"number": i})
	}
	if n := logs.Len(); n != maxQueued {
		t.Errorf("%d are said to be dropped, want %d", n, maxQueued)
	}
	close(e.wait)
	e.done.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, data := range e.data {
		if data["number"] != i {
			t.Fatalf("event %d is %v", i, data)
		}
	}
}

func TestChangedEvent(t *testing.T) {
	g := testGuard(t, options{}, serving(mixedRobots))
	var e told
	g.Events = e.events()
	freshness := policy.FreshnessPolicy{Default: time.Minute, Max: policy.MaxAge}
	read := func(s policy.State, text string) policy.State {
		return s.AfterFetch(policy.FetchResult{Status: 200, Body: []byte(text)}, time.Now(), freshness, 0)
	}
	one := read(policy.State{}, "User-agent: *\nDisallow:\n")
	two := read(one, "User-agent: *\nDisallow: /\nNonsense: x\n")
	named := &site.Site{Label: "example.com", Key: policy.Key{Host: "example.com"}}
	invented := new(*named)
	invented.CacheSegment = policy.UnknownHosts
	onFetched := g.newFetchObserver(named, copies.RequestHost{})
	onFetched(policy.State{}, one) // the first fetch
	onFetched(one, one)
	g.newFetchObserver(invented, copies.RequestHost{})(one, two)
	e.done.Add(1)
	onFetched(one, two)
	e.done.Wait()
	e.done.Add(1)
	onFetched(two, one)
	e.done.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.data) != 2 {
		t.Fatalf("%d events: %v", len(e.data), e.data)
	}
	d := e.data[0]
	got := fmt.Sprintln(d["event"], d["site"], d["authority"], d["status"], d["rules"], d["rules_before"], d["findings"], d["allows_all"], d["disallows_root"], d["version"] != d["before"])
	if got != "robots_changed example.com http://example.com 200 1 1 3 false true true\n" {
		t.Errorf("got %s", got)
	}
	if d := e.data[1]; d["allows_all"] != true || d["disallows_root"] != false {
		t.Errorf("got %v", d)
	}
}
