package verify

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const (
	fourPrefixes  = `{"prefixes":[{"ipv4Prefix":"192.0.2.0/27"},{"ipv4Prefix":"192.0.2.64/27"},{"ipv4Prefix":"192.0.2.128/27"},{"ipv6Prefix":"2001:db8::/64"}]}`
	threePrefixes = `{"prefixes":[{"ipv4Prefix":"192.0.2.0/27"},{"ipv4Prefix":"192.0.2.64/27"},{"ipv6Prefix":"2001:db8::/64"}]}`
	onePrefix     = `{"prefixes":[{"ipv4Prefix":"203.0.113.0/27"}]}`
)

// TestErrorIsNoList checks that a response without a list neither verifies nor denies clients, also
// at the first load.
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

func TestListAndReverseDNS(t *testing.T) {
	s := serveList(t, `["192.0.2.0/27", "10.0.0.0/8"]`)
	bot := fooBot
	bot.Verification.Ranges = []string{s.URL}
	clock := newClock()
	v := configured(t, Options{Resolver: honestDNS(), Now: clock.Now, Transport: s.Client().Transport},
		Config{Crawlers: []uaident.Crawler{bot}, Ranges: true, ReverseDNS: true})
	state := func(addr string) State { return settled(t, v, &bot, addr).State }
	// DNS denies the client, but the list is not loaded.
	if got := state("203.0.113.1"); got != Unknown {
		t.Errorf("without a list a spoofed client is %s", got)
	}
	if got := state("192.0.2.1"); got != Verified {
		t.Errorf("without a list the genuine crawler is %s", got)
	}
	v.loadAll(t.Context(), v.isListDue)
	if got := state("203.0.113.1"); got != Spoofed {
		t.Errorf("with the list a spoofed client is %s", got)
	}
	if got := state("10.0.0.1"); got != Unknown {
		t.Errorf("an address of a private network is %s", got)
	}
	clock.Add(8 * 24 * time.Hour)
	if got := state("203.0.113.1"); got != Unknown {
		t.Errorf("with an old list a spoofed client is %s", got)
	}
}

// TestBadAnswerDoesNotReplaceList checks that an invalid response does not replace a valid list.
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
		{"empty", text(""), "list is empty"},
		{"no prefixes", text(`{"prefixes":[]}`), "list is empty"},
		{"a page", text("<html>blocked</html>"), "web page without an address list"},
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
		{"moved without a redirect", text(`{"Action needed": "update the location you're fetching from"}`), "unknown format"},
		{"an error with the asker's address", text(`{"error": "too many requests", "client_ip": "203.0.113.1"}`), "unknown format"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "203.0.113.0/24\n")
		}, "EOF"},
		{"aborted", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"to http", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) }, "not an https"},
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
			v.loadAll(t.Context(), v.isListDue)
			list := v.Lists()[0]
			if list.Prefixes != 4 || list.Err == nil || !strings.Contains(list.Err.Error(), tc.want) || !strings.Contains(list.Err.Error(), s.URL) {
				t.Errorf("%d prefixes, error %v, want 4 and %q", list.Prefixes, list.Err, tc.want)
			}
			if got := v.Check(bar, netip.MustParseAddr("192.0.2.1")); got != (Finding{Verified, Ranges}) {
				t.Errorf("the genuine crawler is %v", got)
			}
			if got := v.Check(bar, netip.MustParseAddr("203.0.113.1")); got.State == Verified {
				t.Error("an address of the rejected list is verified")
			}
			s.says(fourPrefixes)
			clock.Add(24 * time.Hour)
			v.loadAll(t.Context(), v.isListDue)
			if list := v.Lists()[0]; list.Err != nil || list.CannotDeny {
				t.Errorf("the list is not loaded again: %+v", list)
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
	v.loadAll(t.Context(), v.isListDue)
	if got := state("203.0.113.1"); got != Spoofed {
		t.Errorf("within a week a spoofed client is %s", got)
	}
	clock.Add(time.Second)
	if got := state("203.0.113.1"); got != Unknown {
		t.Errorf("after a week a spoofed client is %s", got)
	}
	if got := state("192.0.2.1"); got != Verified {
		t.Errorf("after a week the genuine crawler is %s", got)
	}
	if !v.Lists()[0].CannotDeny {
		t.Error("the list is not marked as stale")
	}
}

func TestShrunkListIsBelievedInTime(t *testing.T) {
	s := serveList(t, fourPrefixes)
	v, clock, bar := fetched(t, s)
	state := func(addr string) State { return v.Check(bar, netip.MustParseAddr(addr)).State }
	const old, new, liar = "192.0.2.1", "203.0.113.1", "198.51.100.1"
	pass := func(d time.Duration) {
		clock.Add(d)
		v.loadAll(t.Context(), v.isListDue)
	}
	s.says(onePrefix)
	pass(24 * time.Hour)
	if o, n, l := state(old), state(new), state(liar); o != Verified || n != Unknown || l != Unknown {
		t.Errorf("in doubt: old %s, new %s, spoofed client %s", o, n, l)
	}
	// The list is complete again, so the next doubt lasts for the whole time.
	s.says(threePrefixes)
	pass(24 * time.Hour)
	if o, l := state(old), state(liar); o != Verified || l != Spoofed {
		t.Errorf("afterwards: old %s, spoofed client %s", o, l)
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
		t.Errorf("after two days: old %s, new %s, spoofed client %s", o, n, l)
	}
}
