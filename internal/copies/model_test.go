package copies

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// use is a time when a file was the guard's copy (empty token) or was served to a token.
type use struct {
	text, token string
	at          time.Time
}

// model implements the rule in the simplest way. A request is disallowed only if the guard's copy and every
// file used within the grace disallow it.
type model []use

func (m model) verdict(copy, token, path string, now time.Time, grace time.Duration) string {
	if !forbids(copy, path) {
		return "allowed"
	}
	for _, u := range m {
		if now.Sub(u.at) < grace && (u.token == "" || u.token == token) && !forbids(u.text, path) {
			return "stale"
		}
	}
	return "disallowed"
}

// forbids reports whether a file of this test disallows a path of one letter.
func forbids(text, path string) bool {
	return !policy.Parse([]byte(text)).Select(true, "foobot").Judge(path).Allowed
}

// verdict returns the verdict of a guard with a History.
func verdict(b *History, host Host, copy *policy.Version, token, path string, now time.Time, grace time.Duration) string {
	allows := func(v *policy.Version) bool { return v.Robots.Select(true, "foobot").Judge(path).Allowed }
	if allows(copy) {
		return "allowed"
	}
	others, lost := b.PossiblyUsedVersions(host, token, copy, now, grace)
	if lost {
		return "stale"
	}
	for _, v := range others {
		if allows(v) {
			return "stale"
		}
	}
	return "disallowed"
}

// TestHistoryAgainstModel compares a History with the model. The site changes its file at random
// and serves other files to some clients.
func TestHistoryAgainstModel(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	host := RequestHost{Host: Host{Name: "a.test"}, Configured: true}
	counts := make(map[string]int)
	for seed := range uint64(400) {
		dice := rand.New(rand.NewPCG(seed, 1))
		text := func() string {
			return fmt.Sprintf("# %d\nUser-agent: *\nDisallow: /%c\n", dice.IntN(100), 'a'+dice.IntN(3))
		}
		tokens := []string{"foobot", "barbot"}
		b, m, now, grace := NewHistory(nil), model(nil), start, policy.MaxAge
		var state policy.State
		read := func(body string) {
			if good := state.Current; good != nil {
				m = append(m, use{good.Robots.Text(), "", now})
			}
			state = state.AfterFetch(policy.FetchResult{Status: 200, Body: []byte(body)}, now, policy.FreshnessPolicy{}, 0)
			m = append(m, use{body, "", now})
			b.RecordCurrentCopy(host, &state, now)
		}
		read(text())
		for range 60 {
			now = now.Add(time.Duration(dice.IntN(300)) * time.Minute)
			switch token := tokens[dice.IntN(2)]; dice.IntN(4) {
			case 0:
				read(text())
			case 1: // the site serves a different file to this client
				body := text()
				b.RecordServedFile(host, token, &policy.Version{Robots: policy.Parse([]byte(body)), Hash: hashOf(body), Lifetime: policy.NoLifetime}, now)
				m = append(m, use{body, token, now})
			default:
				path := fmt.Sprintf("/%c", 'a'+dice.IntN(3))
				m = append(m, use{state.Current.Robots.Text(), "", now})
				b.RecordCurrentCopy(host, &state, now)
				got, want := verdict(b, host.Host, state.Current, token, path, now, grace), m.verdict(state.Current.Robots.Text(), token, path, now, grace)
				if got != want {
					t.Fatalf("seed %d at %v: %s requests %s: %s, want %s", seed, now.Sub(start), token, path, got, want)
				}
				counts[got]++
			}
		}
	}
	for _, verdict := range []string{"allowed", "stale", "disallowed"} {
		if counts[verdict] < 100 {
			t.Errorf("%s occurred only %d times", verdict, counts[verdict])
		}
	}
}
