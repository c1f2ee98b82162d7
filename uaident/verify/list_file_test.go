package verify

import (
	"net/netip"
	"os"
	"testing"
	"time"
)

func TestFileIsReadAgain(t *testing.T) {
	clock := newClock()
	path := writeFile(t, "192.0.2.0/24")
	v := configured(t, Options{Now: clock.Now}, Config{Crawlers: crawlers(), Lists: []List{{CrawlerOrOperator: "PlainBot", File: path}}})
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
		v.loadAll(t.Context(), v.isListDue)
	}
	clock.Add(1000 * time.Hour) // a file never becomes stale
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
	v.loadAll(t.Context(), v.isListDue)
	if b := state("203.0.113.1"); b != Verified || v.Lists()[0].Err == nil {
		t.Errorf("after the file is gone: %s, error %v", b, v.Lists()[0].Err)
	}
	write("192.0.2.0/24")
	if a := state("192.0.2.1"); a != Verified || v.Lists()[0].Err != nil {
		t.Errorf("after it is back: %s, error %v", a, v.Lists()[0].Err)
	}
}
