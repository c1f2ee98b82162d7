package caddymodule

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// TestCaddyfileHostile parses invalid Caddyfiles with every directive, option and matcher. Each
// Caddyfile yields an error with its place, or valid JSON. The inputs consist of pieces of valid
// Caddyfiles and are the same in each run.
func TestCaddyfileHostile(t *testing.T) {
	pieces := strings.Fields(`source server file https://a.test/robots.txt fetch_timeout fetch_wait fetch_from 192.0.2.1 10.0.0.1 5s 0 -1s 99999999h 1d ttl 1m 24h grace off
		change_guard unreachable last_good disallow_google merge_slashes on allow_private wildcard search browser exempt verified
		Googlebot only_log seo spoofed block status 403 200 99999 on_violation respond storage policies 10000 -1 retention 90d verify ranges
		url rdns web_bot_auth crawler FooBot class fallback 192.0.2.0/24 ::/0 enforce monitor robots_guard identity _other * "" \ { } { } { }`)
	pieces = append(pieces, "\n", "\n", "\n", "\n", " { \n", "\n}\n", `"Foo Bot"`, "\"\n\"", "\x00", "\xff", "ｅnforce", strings.Repeat("x", 10_000), "{$HOME}", "{http.error}")
	random := rand.New(rand.NewPCG(1, 2))
	files := 2000
	if os.Getenv("LONG_TESTS") != "" {
		files = 50_000
	}
	accepted := 0
	for range files {
		var b strings.Builder
		b.WriteString("robots_guard ")
		if random.IntN(4) > 0 {
			b.WriteString("{\n")
		}
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))] + " ")
		}
		b.WriteString("\n}\n")
		accepted += readAll(t, b.String())
	}
	if accepted < files/100 {
		t.Errorf("only %d are right", accepted)
	}
}

// FuzzCaddyfile parses any input as TestCaddyfileHostile does. The golden files are the seeds.
func FuzzCaddyfile(f *testing.F) {
	files, err := filepath.Glob("testdata/adapt/*.caddyfiletest")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		text, _, _ := strings.Cut(string(data), "\n----------\n")
		if i := strings.Index(text, "robots_guard"); i >= 0 {
			f.Add(text[i:])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 4096 { // longer inputs reach no other code
			readAll(t, text)
		}
	})
}

// readAll parses a text with every directive, option and matcher, and returns the number that
// accept it. An error must name the place. An accepted value must survive JSON encoding unchanged.
func readAll(t *testing.T, text string) (accepted int) {
	t.Helper()
	tokens, err := caddyfile.Tokenize([]byte(text), "Caddyfile")
	if err != nil || len(tokens) == 0 {
		return 0 // an error of Caddy
	}
	type module = caddyfile.Unmarshaler
	for _, pair := range [][2]module{
		{new(Handler), new(Handler)}, {new(App), new(App)}, {new(Dashboard), new(Dashboard)},
		{new(MatchCrawler), new(MatchCrawler)}, {new(MatchDisallowed), new(MatchDisallowed)},
	} {
		read, again := pair[0], pair[1]
		if err := read.UnmarshalCaddyfile(caddyfile.NewDispenser(tokens)); err != nil {
			if !strings.Contains(err.Error(), "Caddyfile:") {
				t.Errorf("%.300q: no place in %q", text, err)
			}
			continue
		}
		accepted++
		written, err := json.Marshal(read)
		if err != nil {
			t.Errorf("%.300q: %v", text, err)
			continue
		}
		if err := json.Unmarshal(written, again); err != nil {
			t.Errorf("%.300q became %.300s: %v", text, written, err)
		} else if rewritten, err := json.Marshal(again); err != nil || !bytes.Equal(written, rewritten) {
			t.Errorf("%.300q became %.300s, and that %.300s (%v)", text, written, rewritten, err)
		}
	}
	return accepted
}
