package caddymodule

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// TestCaddyfileHostile reads ten thousand wrong Caddyfiles into everything that
// has a place in one: each is refused with an error that says where, or becomes
// JSON. They are made of pieces of right ones, always the same: a fuzzing engine
// would have to instrument all of Caddy first.
func TestCaddyfileHostile(t *testing.T) {
	pieces := strings.Fields(`source server file https://a.test/robots.txt fetch_timeout fetch_wait 5s 0 -1s 99999999h 1d ttl 1m 24h grace off
		change_guard unreachable last_good disallow_google merge_slashes on allow_private wildcard search browser exempt verified
		Googlebot only_log seo spoofed block status 403 200 99999 on_violation respond storage policies 10000 -1 retention 90d verify ranges
		url rdns web_bot_auth crawler FooBot class fallback 192.0.2.0/24 ::/0 enforce monitor robots_guard identity _other * "" \ { } { } { }`)
	pieces = append(pieces, "\n", "\n", "\n", "\n", " { \n", "\n}\n", `"Foo Bot"`, "\"\n\"", "\x00", "\xff", "ｅnforce", strings.Repeat("x", 10_000), "{$HOME}", "{http.error}")
	random := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 10_000 {
		var b strings.Builder
		b.WriteString("robots_guard ")
		if random.IntN(4) > 0 {
			b.WriteString("{\n")
		}
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))] + " ")
		}
		b.WriteString("\n}\n")
		tokens, err := caddyfile.Tokenize([]byte(b.String()), "Caddyfile")
		if err != nil {
			continue // Caddy's
		}
		for _, module := range []caddyfile.Unmarshaler{new(Handler), new(App), new(MatchCrawler), new(MatchDisallowed), new(Dashboard)} {
			if err := module.UnmarshalCaddyfile(caddyfile.NewDispenser(tokens)); err != nil {
				if !strings.Contains(err.Error(), "Caddyfile:") {
					t.Errorf("%.300q: no place in %q", b.String(), err)
				}
				continue
			}
			accepted++
			if _, err := json.Marshal(module); err != nil {
				t.Errorf("%.300q: %v", b.String(), err)
			}
		}
	}
	if accepted < 100 {
		t.Errorf("only %d are right", accepted)
	}
}
