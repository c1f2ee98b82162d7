package guard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// fairModel is a simple model of fairness. A request is disallowed only if the guard's
// copy disallows it, and every file that was the guard's copy or was served to the
// token within the grace disallows it as well. Time in which the file cannot be fetched
// does not count. A response without rules counts as the guard's copy only after an
// hour without rules.
type fairModel struct {
	fetched []fetchedFile // by the guard, including failures
	served  []servedFile
}

type (
	fetchedFile struct {
		at     time.Time
		text   string
		failed bool
	}
	servedFile struct {
		at          time.Time
		token, text string
	}
)

func forbidsX(text string) bool { return strings.Contains(text, "Disallow: /x") }

func hasRules(text string) bool {
	return strings.HasPrefix(text, "User-agent:") || strings.Contains(text, "\nUser-agent:")
}

// elapsed returns the part of the time since from that counts towards the grace.
func (m *fairModel) elapsed(from, now time.Time) time.Duration {
	counts := now.Sub(from)
	failing := time.Time{}
	end := func(at time.Time) {
		if begin := failing; !begin.IsZero() && at.After(from) {
			if begin.Before(from) {
				begin = from
			}
			counts -= at.Sub(begin)
		}
		failing = time.Time{}
	}
	for _, f := range m.fetched {
		switch {
		case f.failed && failing.IsZero():
			failing = f.at
		case !f.failed:
			end(f.at)
		}
	}
	end(now)
	return counts
}

func (m *fairModel) verdict(token string, now time.Time) judge.Verdict {
	var settled []fetchedFile
	for _, f := range m.fetched {
		if !f.failed {
			settled = append(settled, f)
		}
	}
	if len(settled) == 0 {
		return judge.Unknown
	}
	last := settled[len(settled)-1]
	if !forbidsX(last.text) {
		return judge.Allowed
	}
	away := time.Time{} // since when there are no rules
	for i, f := range settled[:len(settled)-1] {
		until := settled[i+1].at
		switch {
		case hasRules(f.text):
			away = time.Time{}
		case away.IsZero():
			away = f.at
		}
		if !forbidsX(f.text) && m.elapsed(until, now) < policy.MaxAge && (away.IsZero() || until.Sub(away) >= time.Hour) {
			return judge.Stale
		}
	}
	for _, s := range m.served {
		if s.token == token && !forbidsX(s.text) && m.elapsed(s.at, now) < policy.MaxAge {
			return judge.Stale
		}
	}
	return judge.Disallowed
}

// TestRuleOfFairness compares the guard with the model on random histories of a site
// that changes its file, loses it, fails, and serves a different file to some crawlers.
func TestRuleOfFairness(t *testing.T) {
	seen := make(map[judge.Verdict]int)
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 1))
			var m fairModel
			s := newFairSite(t, "")
			text := func() string {
				path := []string{"/x", "/y", "/z"}[dice.IntN(3)]
				return fmt.Sprintf("# %d\nUser-agent: *\nDisallow: %s\n", dice.IntN(1000), path)
			}
			s.answer.Body = []byte(text())
			s.g = testGuard(t, options{Enforce: true}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
				failed := s.answer.Status == http.StatusServiceUnavailable
				body := string(s.answer.Body)
				if s.answer.Status != http.StatusOK {
					body = ""
				}
				m.fetched = append(m.fetched, fetchedFile{time.Now(), body, failed})
				return s.answer
			}})
			s.asks("bingbot/2.0")
			var story []string
			tell := func(format string, args ...any) {
				story = append(story, time.Since(m.fetched[0].at).String()+" "+fmt.Sprintf(format, args...))
			}
			for range 60 {
				time.Sleep(time.Duration(1+dice.IntN([]int{15, 240}[dice.IntN(2)])) * time.Minute)
				token := []string{"bingbot", "GPTBot", "FooBot"}[dice.IntN(3)]
				switch n := dice.IntN(12); {
				case n < 3:
					s.answer = policy.FetchResult{Status: http.StatusOK, Body: []byte(text())}
					switch dice.IntN(8) {
					case 0:
						s.answer.Status = http.StatusServiceUnavailable
					case 1:
						s.answer.Status = http.StatusNotFound
					case 2:
						s.answer.Body = []byte("<!DOCTYPE html><p>maintenance")
					}
					tell("the site answers %d %q", s.answer.Status, s.answer.Body)
				case n < 5:
					status, body := s.answer.Status, string(s.answer.Body)
					if dice.IntN(3) == 0 {
						status, body = http.StatusOK, text()
					}
					if status == http.StatusServiceUnavailable {
						break
					}
					s.served(s.request(token+"/1.0", "/robots.txt"), status, body)
					if status != http.StatusOK {
						body = ""
					}
					m.served = append(m.served, servedFile{time.Now(), token, body})
					tell("%s is served %d %q", token, status, body)
				default:
					s.asks(token + "/1.0") // may start a fetch of the file
					now := time.Now()
					got := s.asks(token + "/1.0")
					if want := m.verdict(token, now); got != want {
						t.Fatalf("seed %d: %s asks: %s, want %s\n%s", seed, token, got, want, strings.Join(story, "\n"))
					}
					seen[got]++
				}
			}
		})
	}
	for _, verdict := range []judge.Verdict{judge.Allowed, judge.Stale, judge.Disallowed} {
		if seen[verdict] < 100 {
			t.Errorf("%s came up %d times only", verdict, seen[verdict])
		}
	}
}
