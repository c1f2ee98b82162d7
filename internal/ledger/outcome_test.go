package ledger

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
)

// hostCounts returns the hosts of a sketch with their counts, by name.
func hostCounts(items []spacesaving.Item[string]) (list []string) {
	for _, item := range items {
		list = append(list, fmt.Sprint(item.Key, " ", item.Count))
	}
	slices.Sort(list)
	return list
}

// TestOutcomes counts what became of disallowed requests: by step, by page and by host.
func TestOutcomes(t *testing.T) {
	c := newClock()
	l := New(c.now)
	send := func(n int, host, target string, verdict judge.Verdict, action judge.Action, wouldBlock bool) {
		for range n {
			c.advance(time.Second)
			q := gptbot(c.now(), target)
			q.Site, q.Host, q.Verdict, q.Action, q.WouldBlock = "*.example.com", host, verdict, action, wouldBlock
			record(l, q)
		}
	}
	send(1, "a.example.com", "/stale", judge.Stale, judge.NoAction, false)
	send(16, "a.example.com", "/x", judge.Disallowed, judge.Logged, true)
	send(58, "b.example.com", "/x", judge.Disallowed, judge.Blocked, false)
	send(2, "b.example.com", "/x", judge.Disallowed, judge.Logged, false) // only_log
	send(3, "b.example.com", "/y", judge.Unknown, judge.Blocked, false)   // closed while the file cannot be read

	for name, s := range map[string]Snapshot{"one": l.Snapshot(), "merged": Merge(l.Snapshot(), Snapshot{})} {
		want := CounterValues{CountDisallowed: 76, CountStale: 1, CountUnknown: 3, CountBlocked: 61, CountWouldBlock: 16, CountViolationBlocked: 58, CountViolationOnlyLogged: 2}
		if got := s.total(); got != want {
			t.Errorf("%s: counted %v, want %v", name, got, want)
		}
		w := s.row(t, "*.example.com", "GPTBot")
		if got := FromUnixMilli(w.FirstViolation); !got.Equal(noon.Add(2 * time.Second)) {
			t.Errorf("%s: the first violation was at %s", name, got)
		}
		var paths []string
		for _, item := range w.Paths.Items {
			paths = append(paths, fmt.Sprint(item.Key.Host, item.Key.Path, " ", item.Key.Blocked, " ", item.Count))
		}
		slices.Sort(paths)
		if got, want := fmt.Sprint(paths), "[a.example.com/stale false 1 a.example.com/x false 16 b.example.com/x false 2 b.example.com/x true 58]"; got != want {
			t.Errorf("%s: paths %s, want %s", name, got, want)
		}
		for _, tc := range []struct {
			what  string
			hosts []string
			want  string
		}{
			{"requests", hostCounts(s.Sites[0].Hosts.Items), "[a.example.com 17 b.example.com 63]"},
			{"violations", hostCounts(s.Sites[0].HostViolations.Items), "[a.example.com 16 b.example.com 60]"},
			{"blocks", hostCounts(s.Sites[0].HostBlocks.Items), "[b.example.com 58]"},
		} {
			if got := fmt.Sprint(tc.hosts); got != tc.want {
				t.Errorf("%s: %s by host: %s, want %s", name, tc.what, got, tc.want)
			}
		}
	}
	stored, err := StoredSite{Since: noon, Saved: c.now(), Site: l.Snapshot().Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeStoredSite(stored)
	if err != nil || back.Site.Rows[0].FirstViolation == 0 || len(back.Site.HostViolations.Items) != 2 || len(back.Site.HostBlocks.Items) != 1 {
		t.Errorf("after it was stored: %+v, %v", back.Site, err)
	}
}
