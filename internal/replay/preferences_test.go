package replay

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestAgainstPreferences counts what is asked for although a preference is stated
// against what a crawler's class fetches for, and whether the crawler had read it.
func TestAgainstPreferences(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /press/ train-ai=y, search=n\nDisallow: /private/\n"
	const one, two = "21/Nov/2026:13:00:00", "21/Nov/2026:14:00:00"
	const ccbot = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	log := combined(noon, "GET /robots.txt", gptbot) + combined(one, "GET /a", gptbot) + combined(one, "GET /b", gptbot) +
		combined(one, "GET /press/a", gptbot) + combined(one, "GET /private/a", gptbot) + // allowed, and forbidden
		combined(one, "GET /a", ccbot) + combined(two, "GET /robots.txt", ccbot) + // which it reads too late
		combined(one, "GET /press/a", googlebot) + combined(one, "GET /a", googlebot)
	r := replayed(t, log, func(o *Options) { o.Versions = oneVersion(robots) })
	got := make(map[string]AgainstReport)
	for _, c := range r.Crawlers {
		if c.Against != nil {
			got[c.Token] = *c.Against
		}
	}
	want := map[string]AgainstReport{"GPTBot": {"train-ai=n", 2, true, 0}, "CCBot": {"train-ai=n", 1, false, 0}, "Googlebot": {"search=n", 1, false, 0}}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for token, against := range want {
		if got[token] != against {
			t.Errorf("%s: got %+v, want %+v", token, got[token], against)
		}
	}
	if r.Disallowed != 1 {
		t.Errorf("%d requests are outside of the robots.txt: a preference forbids none", r.Disallowed)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"table": func(b *bytes.Buffer) error { return r.WriteTable(b) }, "HTML": func(b *bytes.Buffer) error { return r.WriteHTML(b) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil || !strings.Contains(out.String(), againstText) || !strings.Contains(out.String(), "train-ai=n") || !strings.Contains(out.String(), "not in these logs") {
			t.Errorf("%s (%v) does not tell it:\n%s", name, err, out.String())
		}
	}
}

// TestHeldToPreferences counts what usage enforce would have answered: of a crawler that
// only trains, after it has read the text that was current.
func TestHeldToPreferences(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /press/ train-ai=y\nDisallow: /private/\n"
	const claude = "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"
	const one, two = "21/Nov/2026:13:00:00", "21/Nov/2026:14:00:00"
	log := combined(noon, "GET /a", claude) + // before it has read anything
		combined(one, "GET /robots.txt", claude) + combined(one, "GET /robots.txt", gptbot) +
		combined(two, "GET /a", claude) + combined(two, "GET /b", claude) + combined(two, "GET /a", gptbot) +
		combined(two, "GET /press/a", claude) + combined(two, "GET /private/a", claude) + combined(two, "POST /a", claude)
	held := func(change func(*Options)) uint64 {
		r := replayed(t, log, change)
		if r.Disallowed != 1 {
			t.Errorf("%d requests are outside of the robots.txt", r.Disallowed)
		}
		var table bytes.Buffer
		if err := r.WriteTable(&table); err != nil || strings.Contains(table.String(), "usage enforce would have answered") != (r.Held() > 0) {
			t.Errorf("the table (%v) says:\n%s", err, table.String())
		}
		return r.Held()
	}
	stated := oneVersion(robots)
	for _, tc := range []struct {
		name   string
		change func(*Options)
		want   uint64
	}{
		{"asked for", func(o *Options) { o.Versions, o.Settings.EnforceUse = stated, true }, 2},
		{"not asked for", func(o *Options) { o.Versions = stated }, 0},
		{"only logged", func(o *Options) {
			o.Versions, o.Settings.EnforceUse = stated, true
			o.Settings.OnlyLog, _ = judge.ParseClients(uaident.Default(), []string{"ClaudeBot"}, nil)
		}, 0},
		{"read before it was stated", func(o *Options) {
			o.Settings.EnforceUse = true
			changed := time.Date(2026, 11, 21, 13, 30, 0, 0, time.UTC)
			o.Versions = []Version{{Name: "old", Body: []byte("User-agent: *\nDisallow: /private/\n")}, {Name: "new", Body: []byte(robots), From: changed}}
		}, 0},
	} {
		if got := held(tc.change); got != tc.want {
			t.Errorf("%s: %d are held, want %d", tc.name, got, tc.want)
		}
	}
}
