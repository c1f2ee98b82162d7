package verify

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestListIsFetched(t *testing.T) {
	s := serveList(t, "")
	s.does(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"1"` && r.Header.Get("If-Modified-Since") == "Mon, 02 Feb 2026 00:00:00 GMT" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Mon, 02 Feb 2026 00:00:00 GMT")
		fmt.Fprint(w, fourPrefixes)
	})
	v, clock, bar := fetched(t, s)
	start := clock.Now()
	for addr, want := range map[string]State{"192.0.2.1": Verified, "2001:db8::1": Verified, "192.0.2.33": Spoofed, "127.0.0.1": Unknown} {
		if got := v.Check(bar, netip.MustParseAddr(addr)); got.State != want {
			t.Errorf("%s is %s, want %s", addr, got.State, want)
		}
	}
	clock.Add(20 * time.Hour)
	v.loadAll(t.Context(), v.isListDue)
	if got := s.count(); got != 1 {
		t.Errorf("%d requests in 20 hours", got)
	}
	clock.Add(4 * time.Hour)
	v.loadAll(t.Context(), v.isListDue)
	list := v.Lists()[0]
	if s.count() != 2 || list.Prefixes != 4 || !list.ChangedAt.Equal(start) || !list.CheckedAt.Equal(start.Add(24*time.Hour)) ||
		list.Err != nil || list.CannotDeny || list.Crawlers[0] != "BarBot" || !strings.HasSuffix(list.Source, "/list.json") {
		t.Errorf("after a day and %d requests: %+v", s.count(), list)
	}
}

func TestBackOff(t *testing.T) {
	for _, tc := range []struct {
		name, retryAfter string
		least, most      []time.Duration // time between attempts
	}{
		{"none", "", []time.Duration{4 * time.Minute, 9 * time.Minute, 18 * time.Minute, 36 * time.Minute}, []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute}},
		{"seconds", "7200", []time.Duration{100 * time.Minute}, []time.Duration{2 * time.Hour}},
		{"a date", newClock().Now().Add(24*time.Hour + 3*time.Hour).Format(http.TimeFormat), []time.Duration{160 * time.Minute}, []time.Duration{3 * time.Hour}},
		{"for ever", "4000000000", []time.Duration{21 * time.Hour}, []time.Duration{24 * time.Hour}},
		{"nonsense", "-5", []time.Duration{4 * time.Minute}, []time.Duration{5 * time.Minute}},
	} {
		s := serveList(t, fourPrefixes)
		v, clock, _ := fetched(t, s)
		s.does(func(w http.ResponseWriter, _ *http.Request) {
			if tc.retryAfter != "" {
				w.Header().Set("Retry-After", tc.retryAfter)
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		clock.Add(24 * time.Hour)
		for i := range tc.least {
			v.loadAll(t.Context(), v.isListDue)
			wait := v.Lists()[0].NextFetch.Sub(clock.Now())
			if wait < tc.least[i] || wait > tc.most[i] {
				t.Errorf("%s: waits %s after failure %d, want %s to %s", tc.name, wait, i+1, tc.least[i], tc.most[i])
			}
			numRequests := s.count()
			clock.Add(wait - time.Second)
			v.loadAll(t.Context(), v.isListDue)
			if s.count() != numRequests {
				t.Errorf("%s: a request was sent too early", tc.name)
			}
			clock.Add(time.Second)
		}
	}
}

func TestOnlyHTTPS(t *testing.T) {
	bar := uaident.Crawler{Token: "BarBot", Verification: uaident.Verification{Ranges: []string{"http://example.com/list.json"}}}
	v := New(Options{})
	if err := v.Configure(Config{Crawlers: []uaident.Crawler{bar}, Ranges: true}); err == nil || !strings.Contains(err.Error(), "not an https URL") {
		t.Errorf("an http URL of a crawler: %v", err)
	}
}

func TestRunFetches(t *testing.T) {
	s := serveList(t, fourPrefixes)
	bar := &uaident.Crawler{Token: "BarBot", Verification: uaident.Verification{Ranges: []string{s.URL}}}
	statuses := make(chan ListStatus, 10)
	var v *Verifier
	v = New(Options{Transport: s.Client().Transport, OnList: func(l ListStatus) {
		exported, err := v.ExportLists() // as before a restart
		if err == nil {
			err = v.ImportLists(exported)
		}
		if err != nil {
			t.Error(err)
		}
		statuses <- l
	}})
	defer v.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { v.Run(ctx); close(done) }()
	if err := v.Configure(Config{Crawlers: []uaident.Crawler{*bar}, Ranges: true}); err != nil {
		t.Fatal(err)
	}
	if l := <-statuses; l.Prefixes != 4 || l.Err != nil {
		t.Errorf("%+v", l)
	}
	eventually(t, "the list is in use", func() bool { return v.Check(bar, netip.MustParseAddr("192.0.2.1")).State == Verified })
	// A fetch without a response ends with the context.
	hangs := make(chan struct{})
	s.does(func(_ http.ResponseWriter, r *http.Request) { close(hangs); <-r.Context().Done() })
	if err := v.Configure(Config{Crawlers: []uaident.Crawler{*bar}, Lists: []List{{CrawlerOrOperator: "BarBot", URL: s.URL + "/other"}}}); err != nil {
		t.Fatal(err)
	}
	<-hangs
	cancel()
	<-done
}
