package guard

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// TestServedByWhoLags holds nobody to a text that was replaced before it was read, at an
// instance that lags or a cache: by now it may have read what is in force, unseen. Who is
// still served that text is held to it.
func TestServedByWhoLags(t *testing.T) {
	bing := func(target string) *http.Request { return from(requestBy("bingbot/2.0", target), "192.0.2.1") }
	for _, tc := range []struct {
		name    string
		other   map[string]string
		verdict judge.Verdict
	}{
		{"all are served the next one", nil, judge.Allowed},
		{"it is still served to such a crawler", map[string]string{"bingbot": strict}, judge.Disallowed},
	} {
		s := newTwoTexts(t, tc.other)
		s.g.FetchWait = time.Minute // which a busy machine may need
		for _, text := range []string{strict, loose} {
			s.text = text
			s.reread()
			s.hold()
		}
		s.reads(bing("/robots.txt"), strict)
		if j := s.g.Judge(bing("/x")); j.Verdict != tc.verdict {
			t.Errorf("%s: %s, want %s", tc.name, j.Verdict, tc.verdict)
		}
	}
}

// TestReadAgainForWhoHasReadTheCopy looks at the file before it blocks a crawler that was
// seen to read what the copy has: it may have read a milder one since, unseen.
func TestReadAgainForWhoHasReadTheCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTwoTexts(t, nil)
		s.text = strict
		s.reread()
		s.hold()
		bing := func(target string) *http.Request { return from(requestBy("bingbot/2.0", target), "192.0.2.1") }
		s.reads(bing("/robots.txt"), strict)
		time.Sleep(2 * time.Minute)
		if j := s.g.Judge(bing("/x")); j.Verdict != judge.Disallowed {
			t.Errorf("%s while it is served", j.Verdict)
		}
		time.Sleep(2 * time.Minute)
		s.text = loose
		if j := s.g.Judge(bing("/x")); j.Verdict != judge.Allowed {
			t.Errorf("%s once another is served", j.Verdict)
		}
	})
}
