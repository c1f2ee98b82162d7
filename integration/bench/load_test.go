package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestDriveChecksEveryAnswer(t *testing.T) {
	var asked atomic.Int64
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.UserAgent() == "bad" {
			w.WriteHeader(403)
		}
		_, _ = w.Write([]byte("body"))
	}))
	defer origin.Close()
	address := strings.TrimPrefix(origin.URL, "http://")
	good, bad := newRequest("a.example", "/x", "good", 200), newRequest("a.example", "/x", "bad", 403)
	drive := func(requests ...request) (loadResult, error) {
		all, err := dial(address, requests)
		if err != nil {
			t.Fatal(err)
		}
		defer all.close()
		return all.drive(100 * time.Millisecond)
	}
	result, err := drive(good, bad)
	if err != nil || result.perSecond <= 0 || result.p99 <= 0 || int64(result.requests) != asked.Load() {
		t.Errorf("%+v after %d requests: %v", result, asked.Load(), err)
	}
	bad.status = 200
	if _, err = drive(good, bad); err == nil || !strings.Contains(err.Error(), "status 403, want 200") {
		t.Errorf("a wrong status is %v", err)
	}
}

// TestRequests runs every server under a little load, which checks the statuses.
func TestRequests(t *testing.T) {
	duels, err := fightAll(effort{starts: 1, turns: 1, turn: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	table := requestsTable(duels, effort{})
	if got, want := strings.Count(table, "\n| "), len(matches()); got != want {
		t.Errorf("%d rows, want %d\n%s", got, want, table)
	}
}
