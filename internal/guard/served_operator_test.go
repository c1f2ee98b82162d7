package guard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestTextOfAnOperator has a site that serves a text of its own to one operator. An
// instance at which none of its crawlers has read anything, but that knows from others
// which text they did, asks for it as the operator: for all their addresses, and for
// nobody else.
func TestTextOfAnOperator(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	s := newTwoTexts(t, nil)
	s.g.FetchWait = time.Minute // which a busy machine may need
	s.g.Source = witnessedSource(func(as origin.Witness) policy.Answer {
		text := s.text
		if as.Operator == "Google" {
			s.asked.Add(1)
			text = milder
		}
		return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
	})
	read := readingOf(milder)
	for n, tc := range []struct {
		userAgent, address string
		who                verify.State
		verdict            judge.Verdict
	}{
		{"Googlebot/2.1", "192.0.2.1", verify.Unknown, judge.Disallowed},
		{"Googlebot/2.1", "192.0.2.1", verify.Verified, judge.Stale},
		{"Googlebot/2.1", "198.51.100.7", verify.Verified, judge.Stale},
		{"Googlebot-Image/1.0", "203.0.113.9", verify.Verified, judge.Stale},
		{"bingbot/2.0", "192.0.2.1", verify.Verified, judge.Disallowed},
	} {
		r := from(requestBy(tc.userAgent, "/private/x"), tc.address)
		j := s.g.Judge(r)
		j.Identity, j.Verdict, j.Action = tc.who, judge.Allowed, judge.None
		if n == 0 {
			s.entry.Saw(read.Hash, read.At)
		}
		for _, reader := range s.g.readersOf(r, j) { // by what another instance has stored
			s.g.shared.readers.Read(reader, ledger.Reading{At: time.Now(), Status: http.StatusOK, Hash: read.Hash})
		}
		s.g.ask(r, s.entry, s.entry.State(), j)
		if j.Verdict != tc.verdict {
			t.Errorf("%s from %s, %s: %s, want %s", tc.userAgent, tc.address, tc.who, j.Verdict, tc.verdict)
		}
	}
	if n := s.asked.Load(); n != 1 {
		t.Errorf("the site was asked %d times as the operator, want once", n)
	}
}

// TestWhatPeopleHaveRead has somebody send a tool of a search engine to a new robots.txt.
// Its crawlers have not read that, and may follow the old one.
func TestWhatPeopleHaveRead(t *testing.T) {
	for reader, want := range map[string]judge.Verdict{
		"Google-InspectionTool/1.0":         judge.Stale,
		"FeedFetcher-Google":                judge.Stale,
		"Google-Site-Verification/1.0":      judge.Stale,
		"Googlebot-Image/1.0":               judge.Disallowed,
		"AdsBot-Google":                     judge.Stale,
		"Googlebot/2.1, FeedFetcher-Google": judge.Disallowed,
	} {
		s := newChangingSite(t, options{Enforce: true}, loose)
		s.text = strict
		s.reread()
		s.hold()
		judged := func(userAgent, target string) (*http.Request, *Judgement) {
			r := from(requestBy(userAgent, target), "192.0.2.1")
			j := s.g.Judge(r)
			j.Identity, j.Verdict, j.Action = verify.Verified, judge.Allowed, judge.None
			return r, j
		}
		r, j := judged(reader, "/robots.txt")
		if err := s.g.passRobots(httptest.NewRecorder(), r, j, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			_, err := fmt.Fprint(w, strict)
			return err
		})); err != nil {
			t.Fatal(err)
		}
		r, j = judged("Googlebot/2.1", "/x")
		s.g.ask(r, s.entry, s.entry.State(), j)
		if j.Verdict != want {
			t.Errorf("%s has read it: %s, want %s", reader, j.Verdict, want)
		}
		own, of := judged(reader, "/x")
		if last, ok := s.g.lastReading(own, of); !ok || last.Status != http.StatusOK {
			t.Errorf("%s has read it, and it is not known", reader)
		}
	}
}
