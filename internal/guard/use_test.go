package guard

import (
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Texts that state nothing, a no, the same no beside another rule, and a yes.
const (
	statesNothing = "User-agent: *\nDisallow: /private/\n"
	statesNo      = "User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=n\n"
	statesNoToo   = "User-agent: *\nDisallow: /private/\nDisallow: /old/\nContent-Usage: train-ai=n\nContent-Usage: /press/ train-ai=y\n"
	statesYes     = "User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=y\n"
)

// TestWhoIsHeldToAPreference holds a crawler to train-ai=n only where it is known to
// have read it: time teaches nobody a preference, and nobody reads for another.
func TestWhoIsHeldToAPreference(t *testing.T) {
	claude := func(target string) *http.Request { return from(requestBy("ClaudeBot/1.0", target), "192.0.2.1") }
	enforce := options{Enforce: true, EnforceUse: true}
	for _, tc := range []struct {
		name    string
		handler options
		texts   []string      // of the site, the last is in force
		reader  *http.Request // nil for nobody
		reads   string        // the text that it is served
		asks    *http.Request
		verdict judge.Verdict
		action  judge.Action
	}{
		{"nobody has read it", enforce, []string{statesNo}, nil, "", claude("/x"), judge.Allowed, judge.None},
		{"nobody has read it, and there is no grace", options{Enforce: true, EnforceUse: true, Grace: -1}, []string{statesNothing, statesNo}, nil, "", claude("/x"), judge.Allowed, judge.None},
		{"it has", enforce, []string{statesNo}, claude("/robots.txt"), statesNo, claude("/x"), judge.AgainstPreference, judge.Blocked},
		{"it has, and is monitored", options{EnforceUse: true}, []string{statesNo}, claude("/robots.txt"), statesNo, claude("/x"), judge.AgainstPreference, judge.Logged},
		{"it has, and is only logged", options{Enforce: true, EnforceUse: true, OnlyLog: []string{"ClaudeBot"}}, []string{statesNo}, claude("/robots.txt"), statesNo, claude("/x"), judge.AgainstPreference, judge.Logged},
		{"it has, and is exempt", options{Enforce: true, EnforceUse: true, Exempt: []string{"ai_training"}}, []string{statesNo}, claude("/robots.txt"), statesNo, claude("/x"), judge.Exempt, judge.None},
		{"it has, and nobody wants that", options{Enforce: true}, []string{statesNo}, claude("/robots.txt"), statesNo, claude("/x"), judge.Allowed, judge.None},
		{"it has, and asks for a rule's page", enforce, []string{statesNo}, claude("/robots.txt"), statesNo, claude("/private/x"), judge.Disallowed, judge.Blocked},
		{"it has, and asks for the file", enforce, []string{statesNo}, claude("/robots.txt"), statesNo, claude("/robots.txt"), judge.Allowed, judge.None},
		{"it has, and another text that says so is in force", enforce, []string{statesNo, statesNoToo}, claude("/robots.txt"), statesNo, claude("/x"), judge.AgainstPreference, judge.Blocked},
		{"but not of this page any more", enforce, []string{statesNo, statesNoToo}, claude("/robots.txt"), statesNo, claude("/press/x"), judge.Allowed, judge.None},
		{"it has read the text before, which says nothing", enforce, []string{statesNothing, statesNo}, claude("/robots.txt"), statesNothing, claude("/x"), judge.Allowed, judge.None},
		{"it has read that it may", enforce, []string{statesYes, statesNo}, claude("/robots.txt"), statesYes, claude("/x"), judge.Allowed, judge.None},
		{"it has, and by now it may", enforce, []string{statesNo, statesYes}, claude("/robots.txt"), statesNo, claude("/x"), judge.Allowed, judge.None},
		{"it has, and by now it is stated no more", enforce, []string{statesNo, statesNothing}, claude("/robots.txt"), statesNo, claude("/x"), judge.Allowed, judge.None},
		{"another crawler has", enforce, []string{statesNo}, from(requestBy("GPTBot/1.0", "/robots.txt"), "192.0.2.1"), statesNo, claude("/x"), judge.Allowed, judge.None},
		{"who bears its name elsewhere has", enforce, []string{statesNo}, from(requestBy("ClaudeBot/1.0", "/robots.txt"), "198.51.100.1"), statesNo, claude("/x"), judge.Allowed, judge.None},
		{"it has read what nobody knows", enforce, []string{statesNo}, claude("/robots.txt"), statesNoToo, claude("/x"), judge.Allowed, judge.None},
		{"one that searches, too, has", enforce, []string{statesNo}, from(requestBy("GPTBot/1.0", "/robots.txt"), "192.0.2.1"), statesNo, from(requestBy("GPTBot/1.0", "/x"), "192.0.2.1"), judge.Allowed, judge.None},
		{"a search engine has", enforce, []string{statesNo}, from(requestBy("Googlebot/2.1", "/robots.txt"), "192.0.2.1"), statesNo, from(requestBy("Googlebot/2.1", "/x"), "192.0.2.1"), judge.Allowed, judge.None},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newChangingSite(t, tc.handler, tc.texts[0])
			for _, text := range tc.texts[1:] {
				s.text = text
				s.reread()
			}
			s.hold()
			if tc.reader != nil {
				s.reads(tc.reader, tc.reads)
			}
			j := s.g.Judge(tc.asks)
			if j.Verdict != tc.verdict || j.Action != tc.action {
				t.Fatalf("%v, %v; want %v, %v", j.Verdict, j.Action, tc.verdict, tc.action)
			}
			rule, ok := j.placeholder("http.robots_guard.rule")
			line, _ := j.placeholder("http.robots_guard.line")
			if held := j.Verdict == judge.AgainstPreference; held && (rule != "Content-Usage: train-ai=n" || line == "" || !ok) || !held && j.Against != nil {
				t.Errorf("by %q in line %q", rule, line)
			}
		})
	}
}

// TestPreferenceReadByItsOperator does not let what a crawler's operator has read by
// another crawler count for it, and counts its own readings by whatever address.
func TestPreferenceReadByItsOperator(t *testing.T) {
	s := newChangingSite(t, options{Enforce: true, EnforceUse: true}, statesNo)
	s.hold()
	ask := func() judge.Verdict {
		r := from(requestBy("ClaudeBot/1.0", "/x"), "192.0.2.1")
		j := s.g.Judge(r)
		j.Identity, j.Verdict, j.Action, j.Against = verify.Verified, judge.Allowed, judge.None, nil
		s.g.ask(r, s.entry, s.entry.State(), j)
		return j.Verdict
	}
	read := func(userAgent, address string) {
		r := from(requestBy(userAgent, "/robots.txt"), address)
		j := s.g.Judge(r)
		j.Identity = verify.Verified
		for _, reader := range s.g.readersOf(r, j) {
			s.g.shared.readers.Read(reader, ledger.Reading{At: time.Now(), Status: http.StatusOK, Hash: s.entry.State().Good.Hash})
		}
	}
	if got := ask(); got != judge.Allowed {
		t.Errorf("before any reading: %v", got)
	}
	read("Claude-SearchBot/1.0", "192.0.2.1")
	if got := ask(); got != judge.Allowed {
		t.Errorf("after another crawler of its operator has read it: %v", got)
	}
	read("ClaudeBot/1.0", "198.51.100.1")
	if got := ask(); got != judge.AgainstPreference {
		t.Errorf("after it has read it by another address: %v", got)
	}
}

// TestAgainstPreferenceIsTold counts a request against a preference apart from those
// against the rules, and tells of it by an event of its own.
func TestAgainstPreferenceIsTold(t *testing.T) {
	h := recordingGuard(t, options{EnforceUse: true}, statesNo)
	var e told
	h.Events = e.events()
	e.done.Add(1)
	h.visit(t, "ClaudeBot/1.0", "http://example.com/x", "192.0.2.1")
	read := ledger.Reading{At: time.Now(), Status: http.StatusOK, Hash: sha256.Sum256([]byte(statesNo))}
	r := requestBy("ClaudeBot/1.0", "/x")
	r.Host = "example.com"
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), exampleServer)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "192.0.2.1")
	h.shared.readers.Read(h.claimedReader(r, h.Judge(r)), read)
	h.visit(t, "ClaudeBot/1.0", "http://example.com/x", "192.0.2.1")
	row := h.shared.Ledger.Snapshot().Sites[0].Rows[0]
	counts := row.Series[ledger.Hours].Sum(ledger.Hours, time.Now().Add(-time.Hour), time.Now())
	if counts != (ledger.Counts{ledger.CountAllowed: 1, ledger.CountHeldToUse: 1, ledger.CountWouldBlock: 1, ledger.CountAgainst: 2}) || len(row.Rules.Items) != 0 {
		t.Fatalf("%s: %v are counted, by %v", row.Token, counts, row.Rules.Items)
	}
	e.done.Wait()
	if len(e.data) != 1 || e.data[0]["event"] != "robots_against_preference" || e.data[0]["verdict"] != "against_preference" || e.data[0]["rule"] != "Content-Usage: train-ai=n" || e.data[0]["line"] != 3 {
		t.Errorf("%v is told", e.data)
	}
}
