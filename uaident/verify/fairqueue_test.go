package verify

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// parseJob returns the job for a word such as "1a2": operator 1, network a, second job.
func parseJob(word string) lookupJob {
	addr := netip.AddrFrom4([4]byte{20, 0, word[1], word[2]})
	return lookupJob{resultKey: newResultKey(addr, uint64(word[0])), address: addr}
}

func word(j lookupJob) string {
	b := j.address.As4()
	return fmt.Sprintf("%c%c%c", rune(j.scope), b[2], b[3])
}

func TestTurns(t *testing.T) {
	anyNetwork := func(netip.Prefix) bool { return true }
	for _, tc := range []struct {
		name, added, want string
		ready             func(netip.Prefix) bool
	}{
		{"none", "", "", anyNetwork},
		{"one network in order of arrival", "1a1 1a2 1a3", "1a1 1a2 1a3", anyNetwork},
		{"networks in turn", "1a1 1a2 1a3 1b1 1c1 1c2", "1a1 1b1 1c1 1a2 1c2 1a3", anyNetwork},
		{"operators in turn", "1a1 1b1 1c1 2a1 2a2 3z1", "1a1 2a1 3z1 1b1 2a2 1c1", anyNetwork},
		{"networks that are not ready wait", "1a1 1a2 1b1 2b1", "1a1 1a2", func(p netip.Prefix) bool { return p == addr.NetworkOfAddr(parseJob("1a1").address) }},
	} {
		var q fairQueue
		for w := range strings.FieldsSeq(tc.added) {
			q.addJob(parseJob(w))
		}
		var got []string
		for q.hasReady(tc.ready) {
			j, ok := q.takeNext(tc.ready)
			if !ok {
				t.Fatalf("%s: hasReady is true and next returns no job", tc.name)
			}
			got = append(got, word(j))
		}
		if _, ok := q.takeNext(tc.ready); ok {
			t.Errorf("%s: next returns another job", tc.name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, got, tc.want)
		}
		if left := len(strings.Fields(tc.added)) - len(got); q.size != left {
			t.Errorf("%s: %d jobs remain, want %d", tc.name, q.size, left)
		}
	}
}

func TestDisplace(t *testing.T) {
	for _, tc := range []struct {
		name, waiting, comes string
		want                 string // what makes room, "" for none
		crowded              bool   // by other networks
	}{
		{"the newest of the network with the most", "1a1 1a2 1a3 1b1", "1c1", "1a3", false},
		{"of the operator with the most", "1a1 1b1 1c1 2a1", "3a1", "1a1", false},
		{"nobody has more", "1a1 1b1 1c1", "1d1", "", true},
		{"one more would be as much", "1a1 1a2 1b1", "1b2", "", false},
		{"one's own network has the most", "1a1 1a2 1a3", "1a4", "", false},
		{"one's own operator is not the largest, nor is it much smaller", "1a1 1b1 1c1 2a1 2b1", "2c1", "", false},
		{"but has a large network", "1a1 1b1 1c1 1d1 2a1 2a2 2a3", "2c1", "2a3", false},
	} {
		var q fairQueue
		for w := range strings.FieldsSeq(tc.waiting) {
			q.addJob(parseJob(w))
		}
		size := q.size
		comes := parseJob(tc.comes)
		if got := q.crowdedScope() == comes.scope; got != tc.crowded {
			t.Errorf("%s: crowded: %t", tc.name, got)
		}
		got := ""
		if j, ok := q.displaceJob(comes); ok {
			got = word(j)
			size--
		}
		if got != tc.want || q.size != size {
			t.Errorf("%s: %q is displaced, want %q; %d jobs remain", tc.name, got, tc.want, q.size)
		}
		for _, o := range q.operators {
			if o.size == 0 || len(o.longestNetwork().jobs) == 0 {
				t.Errorf("%s: the queue contains an empty group", tc.name)
			}
		}
	}
}
