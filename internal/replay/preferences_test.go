package replay

import (
	"bytes"
	"strings"
	"testing"
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
	want := map[string]AgainstReport{"GPTBot": {"train-ai=n", 2, true}, "CCBot": {"train-ai=n", 1, false}, "Googlebot": {"search=n", 1, false}}
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
