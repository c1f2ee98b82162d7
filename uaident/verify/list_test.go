package verify

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// listServer is an HTTPS server of one list, which tests change.
type listServer struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request)
	asked  int
}

func serveList(t *testing.T, text string) *listServer {
	s := &listServer{}
	s.says(text)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked++
		s.answer(w, r)
	}))
	s.Config.ErrorLog = log.New(&strings.Builder{}, "", 0) // refused certificates are no news
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *listServer) does(answer func(w http.ResponseWriter, r *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *listServer) says(text string) {
	s.does(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) })
}

func (s *listServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// fetched returns a verifier that loaded the list of a server, its clock, and the
// crawler that the list is of.
func fetched(t *testing.T, s *listServer) (*Verifier, *clock, *uaident.Crawler) {
	t.Helper()
	bar := &uaident.Crawler{Token: "BarBot", Class: uaident.Search, Verification: uaident.Verification{Ranges: []string{s.URL + "/list.json"}}}
	clock := newClock()
	v := configured(t, Options{Now: clock.Now, Transport: s.Client().Transport}, Config{Crawlers: []uaident.Crawler{*bar}, Ranges: true})
	if got := v.Check(bar, netip.MustParseAddr("192.0.2.1")); got != (Finding{State: Unknown}) {
		t.Errorf("before the list is loaded: %v", got)
	}
	v.loadAll(t.Context(), v.isDue)
	return v, clock, bar
}

const (
	fourPrefixes  = `{"prefixes":[{"ipv4Prefix":"192.0.2.0/27"},{"ipv4Prefix":"192.0.2.64/27"},{"ipv4Prefix":"192.0.2.128/27"},{"ipv6Prefix":"2001:db8::/64"}]}`
	threePrefixes = `{"prefixes":[{"ipv4Prefix":"192.0.2.0/27"},{"ipv4Prefix":"192.0.2.64/27"},{"ipv6Prefix":"2001:db8::/64"}]}`
	onePrefix     = `{"prefixes":[{"ipv4Prefix":"203.0.113.0/27"}]}`
)

// An answer that is no list verifies nobody and denies nobody, at first load too.
func TestErrorIsNoList(t *testing.T) {
	s := serveList(t, `{"error": "too many requests", "client_ip": "203.0.113.77"}`)
	v, _, bar := fetched(t, s)
	for _, addr := range []string{"203.0.113.77", "192.0.2.1"} {
		if got := v.Check(bar, netip.MustParseAddr(addr)); got != (Finding{State: Unknown}) {
			t.Errorf("%s: %v", addr, got)
		}
	}
	if list := v.Lists()[0]; list.Prefixes != 0 || list.Err == nil {
		t.Errorf("%d prefixes, error %v", list.Prefixes, list.Err)
	}
}

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
	v.loadAll(t.Context(), v.isDue)
	if got := s.count(); got != 1 {
		t.Errorf("%d requests in 20 hours", got)
	}
	clock.Add(4 * time.Hour)
	v.loadAll(t.Context(), v.isDue)
	list := v.Lists()[0]
	if s.count() != 2 || list.Prefixes != 4 || !list.Changed.Equal(start) || !list.Checked.Equal(start.Add(24*time.Hour)) ||
		list.Err != nil || list.Stale || list.For[0] != "BarBot" || !strings.HasSuffix(list.Source, "/list.json") {
		t.Errorf("after a day and %d requests: %+v", s.count(), list)
	}
}

func TestListAndReverseDNS(t *testing.T) {
	s := serveList(t, `["192.0.2.0/27", "10.0.0.0/8"]`)
	bot := fooBot
	bot.Verification.Ranges = []string{s.URL}
	clock := newClock()
	v := configured(t, Options{Resolver: honestDNS(), Now: clock.Now, Transport: s.Client().Transport},
		Config{Crawlers: []uaident.Crawler{bot}, Ranges: true, ReverseDNS: true})
	state := func(addr string) State { return settled(t, v, &bot, addr).State }
	// DNS denies, but nobody knows what the list would say.
	if got := state("203.0.113.1"); got != Unknown {
		t.Errorf("without a list a liar is %s", got)
	}
	if got := state("192.0.2.1"); got != Verified {
		t.Errorf("without a list the real one is %s", got)
	}
	v.loadAll(t.Context(), v.isDue)
	if got := state("203.0.113.1"); got != Spoofed {
		t.Errorf("with the list a liar is %s", got)
	}
	if got := state("10.0.0.1"); got != Unknown {
		t.Errorf("an address of the own network is %s by another's list", got)
	}
	clock.Add(8 * 24 * time.Hour)
	if got := state("203.0.113.1"); got != Unknown {
		t.Errorf("with an old list a liar is %s", got)
	}
}

// Whatever a server answers, a good list stays in use.
func TestBadAnswerDoesNotReplaceList(t *testing.T) {
	other := serveList(t, onePrefix)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, onePrefix) }))
	defer plain.Close()
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); fmt.Fprint(w, onePrefix) }
	}
	text := func(s string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) }
	}
	for _, tc := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		{"not found", status(404), "404"},
		{"broken", status(500), "500"},
		{"too many requests", status(429), "429"},
		{"no content", status(204), "204"},
		{"a part", status(206), "206"},
		{"empty", text(""), "no address"},
		{"no prefixes", text(`{"prefixes":[]}`), "no address"},
		{"a page", text("<html>blocked</html>"), "neither"},
		{"everybody", text("0.0.0.0/0\n::/0"), "wide"},
		{"half the Internet", text(fourPrefixes[:len(fourPrefixes)-2] + `,{"ipv4Prefix":"128.0.0.0/1"}]}`), "wide"},
		{"too long", text(fourPrefixes + strings.Repeat(" ", MaxListBytes)), "longer"},
		{"shrunk", text(`{"prefixes":[{"ipv4Prefix":"192.0.2.0/27"}]}`), "lacks most"},
		{"all other", text(onePrefix), "lacks most"},
		{"without end", func(w http.ResponseWriter, _ *http.Request) {
			for err := error(nil); err == nil; {
				_, err = w.Write([]byte(strings.Repeat("#", 1<<16)))
			}
		}, "longer"},
		{"moved without a redirect", text(`{"Action needed": "update the location you're fetching from"}`), "no list of addresses"},
		{"an error with the asker's address", text(`{"error": "too many requests", "client_ip": "203.0.113.1"}`), "no list of addresses"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "203.0.113.0/24\n")
		}, "EOF"},
		{"aborted", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"to http", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) }, "no https"},
		{"in circles", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, "too many redirects"},
		{"to another certificate", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
		}, "certificate"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serveList(t, fourPrefixes)
			v, clock, bar := fetched(t, s)
			clock.Add(24 * time.Hour)
			s.does(tc.answer)
			v.loadAll(t.Context(), v.isDue)
			list := v.Lists()[0]
			if list.Prefixes != 4 || list.Err == nil || !strings.Contains(list.Err.Error(), tc.want) || !strings.Contains(list.Err.Error(), s.URL) {
				t.Errorf("%d prefixes, error %v, want 4 and %q", list.Prefixes, list.Err, tc.want)
			}
			if got := v.Check(bar, netip.MustParseAddr("192.0.2.1")); got != (Finding{Verified, Ranges}) {
				t.Errorf("the real one is %v", got)
			}
			if got := v.Check(bar, netip.MustParseAddr("203.0.113.1")); got.State == Verified {
				t.Error("an address of the bad list is verified")
			}
			s.says(fourPrefixes)
			clock.Add(24 * time.Hour)
			v.loadAll(t.Context(), v.isDue)
			if list := v.Lists()[0]; list.Err != nil || list.Stale {
				t.Errorf("does not recover: %+v", list)
			}
		})
	}
}

func TestOldListDeniesNothing(t *testing.T) {
	s := serveList(t, fourPrefixes)
	v, clock, bar := fetched(t, s)
	s.does(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	state := func(addr string) State { return v.Check(bar, netip.MustParseAddr(addr)).State }
	clock.Add(7*24*time.Hour - time.Second)
	v.loadAll(t.Context(), v.isDue)
	if got := state("203.0.113.1"); got != Spoofed {
		t.Errorf("within a week a liar is %s", got)
	}
	clock.Add(time.Second)
	if got := state("203.0.113.1"); got != Unknown {
		t.Errorf("after a week a liar is %s", got)
	}
	if got := state("192.0.2.1"); got != Verified {
		t.Errorf("after a week the real one is %s", got)
	}
	if !v.Lists()[0].Stale {
		t.Error("the list does not say that it is stale")
	}
}

func TestShrunkListIsBelievedInTime(t *testing.T) {
	s := serveList(t, fourPrefixes)
	v, clock, bar := fetched(t, s)
	state := func(addr string) State { return v.Check(bar, netip.MustParseAddr(addr)).State }
	const old, new, liar = "192.0.2.1", "203.0.113.1", "198.51.100.1"
	pass := func(d time.Duration) {
		clock.Add(d)
		v.loadAll(t.Context(), v.isDue)
	}
	s.says(onePrefix)
	pass(24 * time.Hour)
	if o, n, l := state(old), state(new), state(liar); o != Verified || n != Unknown || l != Unknown {
		t.Errorf("in doubt: old %s, new %s, liar %s", o, n, l)
	}
	// It was a mistake: the doubt begins anew.
	s.says(threePrefixes)
	pass(24 * time.Hour)
	if o, l := state(old), state(liar); o != Verified || l != Spoofed {
		t.Errorf("afterwards: old %s, liar %s", o, l)
	}
	s.says(onePrefix)
	for range 12 {
		pass(3 * time.Hour)
	}
	if o, n := state(old), state(new); o != Verified || n != Unknown {
		t.Errorf("in doubt again: old %s, new %s", o, n)
	}
	for range 20 {
		pass(6 * time.Hour)
	}
	if o, n, l := state(old), state(new), state(liar); o != Spoofed || n != Verified || l != Spoofed {
		t.Errorf("after two days: old %s, new %s, liar %s", o, n, l)
	}
}

func TestBackOff(t *testing.T) {
	for _, tc := range []struct {
		name, retryAfter string
		least, most      []time.Duration // between attempts
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
			v.loadAll(t.Context(), v.isDue)
			wait := v.Lists()[0].Next.Sub(clock.Now())
			if wait < tc.least[i] || wait > tc.most[i] {
				t.Errorf("%s: waits %s after failure %d, want %s to %s", tc.name, wait, i+1, tc.least[i], tc.most[i])
			}
			before := s.count()
			clock.Add(wait - time.Second)
			v.loadAll(t.Context(), v.isDue)
			if s.count() != before {
				t.Errorf("%s: asked before the time", tc.name)
			}
			clock.Add(time.Second)
		}
	}
}

func TestOnlyHTTPS(t *testing.T) {
	bar := uaident.Crawler{Token: "BarBot", Verification: uaident.Verification{Ranges: []string{"http://example.com/list.json"}}}
	v := New(Options{})
	if err := v.Configure(Config{Crawlers: []uaident.Crawler{bar}, Ranges: true}); err == nil || !strings.Contains(err.Error(), "no https URL") {
		t.Errorf("an http URL of a crawler: %v", err)
	}
}

func TestFileIsReadAgain(t *testing.T) {
	clock := newClock()
	path := writeFile(t, "192.0.2.0/24")
	v := configured(t, Options{Now: clock.Now}, Config{Crawlers: crawlers(), Lists: []List{{For: "PlainBot", File: path}}})
	state := func(addr string) State { return v.Check(&plainBot, netip.MustParseAddr(addr)).State }
	times := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		times = times.Add(time.Hour)
		if err := os.Chtimes(path, times, times); err != nil {
			t.Fatal(err)
		}
		v.loadAll(t.Context(), v.isDue)
	}
	clock.Add(1000 * time.Hour) // a file is as current as its owner keeps it
	if a, b := state("192.0.2.1"), state("203.0.113.1"); a != Verified || b != Spoofed {
		t.Errorf("at first: %s, %s", a, b)
	}
	write("203.0.113.0/24")
	if a, b := state("192.0.2.1"), state("203.0.113.1"); a != Spoofed || b != Verified {
		t.Errorf("after a change: %s, %s", a, b)
	}
	for _, bad := range []string{"", "half a", "0.0.0.0/0"} {
		write(bad)
		if a, b := state("192.0.2.1"), state("203.0.113.1"); a != Spoofed || b != Verified || v.Lists()[0].Err == nil {
			t.Errorf("after %q: %s, %s, error %v", bad, a, b, v.Lists()[0].Err)
		}
	}
	write("203.0.113.0/24")
	os.Remove(path)
	v.loadAll(t.Context(), v.isDue)
	if b := state("203.0.113.1"); b != Verified || v.Lists()[0].Err == nil {
		t.Errorf("after the file is gone: %s, error %v", b, v.Lists()[0].Err)
	}
	write("192.0.2.0/24")
	if a := state("192.0.2.1"); a != Verified || v.Lists()[0].Err != nil {
		t.Errorf("after it is back: %s, error %v", a, v.Lists()[0].Err)
	}
}

func TestRunFetches(t *testing.T) {
	s := serveList(t, fourPrefixes)
	bar := &uaident.Crawler{Token: "BarBot", Verification: uaident.Verification{Ranges: []string{s.URL}}}
	statuses := make(chan ListStatus, 10)
	var v *Verifier
	v = New(Options{Transport: s.Client().Transport, OnList: func(l ListStatus) {
		kept, err := v.Export() // as to store it
		if err == nil {
			err = v.Import(kept)
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
	// What hangs ends with the context.
	hangs := make(chan struct{})
	s.does(func(_ http.ResponseWriter, r *http.Request) { close(hangs); <-r.Context().Done() })
	if err := v.Configure(Config{Crawlers: []uaident.Crawler{*bar}, Lists: []List{{For: "BarBot", URL: s.URL + "/other"}}}); err != nil {
		t.Fatal(err)
	}
	<-hangs
	cancel()
	<-done
}

func TestKeptLists(t *testing.T) {
	s := serveList(t, "")
	s.does(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"7"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"7"`)
		fmt.Fprint(w, fourPrefixes)
	})
	v, clock, bar := fetched(t, s)
	kept, err := v.Export()
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Crawlers: []uaident.Crawler{*bar}, Ranges: true}
	after := configured(t, Options{Now: clock.Now, Transport: s.Client().Transport}, config)
	if err := after.Import(kept); err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]State{"192.0.2.1": Verified, "203.0.113.1": Spoofed} {
		if got := after.Check(bar, netip.MustParseAddr(addr)); got.State != want {
			t.Errorf("%s is %s, want %s", addr, got.State, want)
		}
	}
	after.loadAll(t.Context(), after.isDue)
	if s.count() != 1 {
		t.Error("a list that was just kept is fetched")
	}
	clock.Add(24 * time.Hour)
	after.loadAll(t.Context(), after.isDue)
	if l := after.Lists()[0]; s.count() != 2 || l.Err != nil || !l.Checked.Equal(clock.Now()) || l.Changed.Equal(l.Checked) {
		t.Errorf("after a day: %+v", l)
	}
	// What is older does not replace what is newer.
	if err := after.Import([]byte(strings.ReplaceAll(string(kept), "192.0.2", "203.0.113"))); err != nil {
		t.Fatal(err)
	}
	if got := after.Check(bar, netip.MustParseAddr("192.0.2.1")); got.State != Verified {
		t.Errorf("after an old import: %v", got)
	}

	for _, tc := range []struct{ name, kept, want string }{
		{"empty", "", "kept lists"},
		{"no JSON", "x", "kept lists"},
		{"another version", `{"version":2,"lists":[]}`, "version 2"},
		{"no version", `{}`, "version 0"},
		{"everybody", fmt.Sprintf(`{"version":1,"lists":[{"url":%q,"checked":"2026-02-11T00:00:00Z","prefixes":["0.0.0.0/0"]}]}`, s.URL+"/list.json"), "wide"},
		{"nobody", fmt.Sprintf(`{"version":1,"lists":[{"url":%q,"checked":"2026-02-11T00:00:00Z","prefixes":[]}]}`, s.URL+"/list.json"), "no address"},
		{"a prefix that is none", fmt.Sprintf(`{"version":1,"lists":[{"url":%q,"prefixes":[""]}]}`, s.URL+"/list.json"), "entry 0"},
	} {
		v := configured(t, Options{Now: clock.Now}, config)
		if err := v.Import([]byte(tc.kept)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want an error with %q", tc.name, err, tc.want)
		}
		if l := v.Lists()[0]; l.Prefixes != 0 {
			t.Errorf("%s: %+v", tc.name, l)
		}
	}
	// Lists of others are nobody's business.
	v = configured(t, Options{Now: clock.Now}, Config{})
	if err := v.Import(kept); err != nil || len(v.Lists()) != 0 {
		t.Errorf("without a use for it: %v, %v", err, v.Lists())
	}
}
