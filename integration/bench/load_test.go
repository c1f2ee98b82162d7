package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
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
	address := origin.Listener.Addr().String()
	good, bad := newRequest("a.example", "/x", "good", 200), newRequest("a.example", "/x", "bad", 403)
	drive := func(requests ...request) (load, error) {
		all, err := dial(address, func() time.Duration { return 0 }, requests)
		if err != nil {
			t.Fatal(err)
		}
		defer all.close()
		return all.drive(100 * time.Millisecond)
	}
	result, err := drive(good, bad)
	if err != nil || result.perSecond() <= 0 || int64(result.requests) != asked.Load() {
		t.Errorf("%+v after %d requests: %v", result, asked.Load(), err)
	}
	bad.status = 200
	if _, err = drive(good, bad); err == nil || !strings.Contains(err.Error(), "status 403, want 200") {
		t.Errorf("error for an unexpected status: %v", err)
	}
}

func TestAnswerIn(t *testing.T) {
	const whole = "HTTP/1.1 403 Forbidden\r\nServer: x\r\nContent-Length: 4\r\n\r\nbody"
	for name, tc := range map[string]struct {
		data         string
		status, size int
		wrong        string
	}{
		"a whole response":           {whole, 403, len(whole), ""},
		"more than a response":       {whole + "HTTP", 403, len(whole), ""},
		"nothing yet":                {"", 0, 0, ""},
		"a part of the header":       {whole[:30], 0, 0, ""},
		"a part of the body":         {whole[:len(whole)-1], 403, 0, ""},
		"no length":                  {"HTTP/1.1 200 OK\r\n\r\n", 0, 0, "no length"},
		"an invalid length":          {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", 0, 0, "invalid syntax"},
		"a large length":             {"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", 0, 0, "too large"},
		"a header that is too large": {strings.Repeat("x", largest), 0, 0, "too large"},
		"another protocol":           {"SSH-2.0-OpenSSH\r\n\r\n", 0, 0, "no HTTP"},
	} {
		status, size, err := answerIn([]byte(tc.data))
		if tc.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%s: %v, want %q", name, err, tc.wrong)
			}
			continue
		}
		if err != nil || size != tc.size || size > 0 && status != tc.status {
			t.Errorf("%s: status %d, %d bytes, %v; want %d, %d", name, status, size, err, tc.status, tc.size)
		}
	}
}

// TestRequests runs every pair of servers under a short load, which checks the
// statuses.
func TestRequests(t *testing.T) {
	e := effort{starts: 1, turns: 1, turn: 10 * time.Millisecond}
	results, err := measurePairs(e)
	if err != nil {
		t.Fatal(err)
	}
	if table := requestsTable(results, e); len(results) != len(pairs) || strings.Contains(table, "not measured") {
		t.Errorf("a pair is missing in\n%s", table)
	}
}

// TestGrowth measures every server of the plot for a moment, with few sites.
func TestGrowth(t *testing.T) {
	result, err := measureGrowth(effort{starts: 1, turns: 1, turn: 5 * time.Millisecond, sites: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, panel := range []string{rulesPanel, sitesPanel, namesPanel, instancesPanel} {
		for _, series := range []string{stockSeries, emptySeries, guardSeries} {
			if !slices.ContainsFunc(result.plot.points, func(p growthPoint) bool { return p.panel == panel && p.series == series && p.ratio.middle > 0 }) {
				t.Errorf("%s: %s was not measured", panel, series)
			}
		}
	}
	if parsed, err := parseGrowth(result.plot.tsv()); err != nil || parsed.svg() != result.plot.svg() {
		t.Errorf("the figures give another plot after parsing, error %v", err)
	}
}
