package verify

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

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
	kept, err := v.ExportLists()
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Crawlers: []uaident.Crawler{*bar}, Ranges: true}
	after := configured(t, Options{Now: clock.Now, Transport: s.Client().Transport}, config)
	if err := after.ImportLists(kept); err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]State{"192.0.2.1": Verified, "203.0.113.1": Spoofed} {
		if got := after.Check(bar, netip.MustParseAddr(addr)); got.State != want {
			t.Errorf("%s is %s, want %s", addr, got.State, want)
		}
	}
	after.loadAll(t.Context(), after.isListDue)
	if s.count() != 1 {
		t.Error("a list was fetched again just after its import")
	}
	clock.Add(24 * time.Hour)
	after.loadAll(t.Context(), after.isListDue)
	if l := after.Lists()[0]; s.count() != 2 || l.Err != nil || !l.CheckedAt.Equal(clock.Now()) || l.ChangedAt.Equal(l.CheckedAt) {
		t.Errorf("after a day: %+v", l)
	}
	// Older data do not replace newer data.
	if err := after.ImportLists([]byte(strings.ReplaceAll(string(kept), "192.0.2", "203.0.113"))); err != nil {
		t.Fatal(err)
	}
	if got := after.Check(bar, netip.MustParseAddr("192.0.2.1")); got.State != Verified {
		t.Errorf("after an old import: %v", got)
	}

	for _, tc := range []struct{ name, kept, want string }{
		{"empty", "", "stored address lists"},
		{"no JSON", "x", "stored address lists"},
		{"another version", `{"version":2,"lists":[]}`, "version 2"},
		{"no version", `{}`, "version 0"},
		{"everybody", fmt.Sprintf(`{"version":1,"lists":[{"url":%q,"checked":"2026-02-11T00:00:00Z","prefixes":["0.0.0.0/0"]}]}`, s.URL+"/list.json"), "wide"},
		{"nobody", fmt.Sprintf(`{"version":1,"lists":[{"url":%q,"checked":"2026-02-11T00:00:00Z","prefixes":[]}]}`, s.URL+"/list.json"), "list is empty"},
		{"a prefix that is none", fmt.Sprintf(`{"version":1,"lists":[{"url":%q,"prefixes":[""]}]}`, s.URL+"/list.json"), "entry 0"},
	} {
		v := configured(t, Options{Now: clock.Now}, config)
		if err := v.ImportLists([]byte(tc.kept)); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one error with %q", tc.name, err, tc.want)
		}
		if l := v.Lists()[0]; l.Prefixes != 0 {
			t.Errorf("%s: %+v", tc.name, l)
		}
	}
	// Import ignores lists that are not configured.
	v = configured(t, Options{Now: clock.Now}, Config{})
	if err := v.ImportLists(kept); err != nil || len(v.Lists()) != 0 {
		t.Errorf("with an empty configuration: %v, %v", err, v.Lists())
	}
}

// TestKeptDoubt checks a list that lost most of its prefixes. The list stays in doubt across
// restarts and is accepted after the usual time.
func TestKeptDoubt(t *testing.T) {
	s := serveList(t, fourPrefixes)
	v, clock, bar := fetched(t, s)
	state := func(addr string) State { return v.Check(bar, netip.MustParseAddr(addr)).State }
	restart := func() {
		t.Helper()
		kept, err := v.ExportLists()
		if err != nil {
			t.Fatal(err)
		}
		v = configured(t, Options{Now: clock.Now, Transport: s.Client().Transport}, Config{Crawlers: []uaident.Crawler{*bar}, Ranges: true})
		if err := v.ImportLists(kept); err != nil {
			t.Fatal(err)
		}
	}
	const old, new = "192.0.2.1", "203.0.113.1"
	s.says(onePrefix)
	clock.Add(24 * time.Hour)
	for hours := range 48 {
		v.loadAll(t.Context(), v.isListDue)
		restart()
		if o, n := state(old), state(new); o != Verified || n != Unknown {
			t.Fatalf("in doubt, after %d hours: old %s, new %s", hours, o, n)
		}
		clock.Add(time.Hour)
	}
	v.loadAll(t.Context(), v.isListDue)
	restart()
	if o, n := state(old), state(new); o != Spoofed || n != Verified {
		t.Errorf("after two days: old %s, new %s", o, n)
	}
}
