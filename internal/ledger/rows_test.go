package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestRowsWithAndWithoutCache compares the rows of random requests with those of a site that
// looks through all rows for each request.
func TestRowsWithAndWithoutCache(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		cached, plain := &Site{}, &Site{}
		at := noon
		for i := range 20_000 {
			at = at.Add(time.Duration(random.IntN(30)) * time.Second)
			if random.IntN(2000) == 0 {
				at = at.Add(minIdleToLoseRow - time.Hour)
			}
			token := fmt.Sprint("bot", min(random.IntN(60), random.IntN(90)))
			named := random.IntN(40) == 0
			key := newRowKey(token, []uaident.Class{uaident.Search, uaident.SEO}[len(token)%2], verify.States()[random.IntN(2)])
			more := random.IntN(50) > 0
			plain.rowIndex, plain.noRoomUntil = nil, 0
			var got [2]string
			for j, s := range []*Site{cached, plain} {
				w := s.getOrCreateRow(key, named, at.UnixMilli(), more)
				w.FirstSeen, w.LastSeen, w.NamedByRobots = at.UnixMilli(), at.UnixMilli(), w.NamedByRobots || named
				got[j] = fmt.Sprint(w.key())
				if i%500 == 0 {
					s.prune(at.UnixMilli(), 10*time.Minute)
				}
			}
			if got[0] != got[1] {
				t.Fatalf("seed %d, request %d of %v: row %s, without cache %s", seed, i, key, got[0], got[1])
			}
		}
		names := func(s *Site) (list []string) {
			for _, w := range s.Rows {
				list = append(list, fmt.Sprint(w.key()))
			}
			slices.Sort(list)
			return list
		}
		if a, b := names(cached), names(plain); !slices.Equal(a, b) {
			t.Fatalf("seed %d: rows %v, without cache %v", seed, a, b)
		}
		if len(cached.Rows) <= maxRows-reservedRows {
			t.Fatalf("seed %d: only %d rows", seed, len(cached.Rows))
		}
	}
}
