package caddymodule

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestOneEngineForLogs compares the replay of logs with the verdicts of the server.
func TestOneEngineForLogs(t *testing.T) {
	plain := Handler{Mode: modeEnforce, FetchTimeout: caddy.Duration(time.Minute), FetchWait: caddy.Duration(time.Minute)}
	configured := plain
	configured.Exempt, configured.ExemptVerified = []string{"CCBot", "preview"}, []string{"GPTBot"}
	configured.OnlyLog, configured.OnlyLogVerified = []string{"search"}, []string{"Bytespider"}
	configured.Wildcard, configured.KeepSlashes = []string{"library", "ai_training", "search"}, true
	for name, h := range map[string]Handler{"plain": plain, "configured": configured} {
		t.Run(name, func(t *testing.T) { compareWithLogs(t, h) })
	}
}

// compareWithLogs replays the requests that a guard has judged, and compares the counts.
func compareWithLogs(t *testing.T, h Handler) {
	offlineHandler := h
	offlineHandler.setDefaults()
	settings := siteOfHandler(t, &offlineHandler).Settings
	type counted struct{ crawler, class, verdict string }
	compared := 0
	for name, text := range parityFiles(t) {
		online := provisionedGuard(t, servingFile(t, h, text), nil)
		online.Judge(get("bingbot/2.0", "/")) // fetches the file
		want := make(map[counted]uint64)
		blocked := make(map[string]uint64)
		var log bytes.Buffer
		for _, target := range parityTargets(policy.Parse([]byte(text))) {
			u, err := url.ParseRequestURI(target)
			if err != nil || u.Path == "/robots.txt" {
				continue // no server accepts it, or no guard judges it
			}
			for i := range 2 * len(parityAgents) {
				userAgent, method := parityAgents[i/2], parityMethods[i%2]
				line, err := json.Marshal(map[string]any{"request_method": method, "request_uri": target, "http_user_agent": userAgent})
				if err != nil {
					t.Fatal(err)
				}
				if !json.Valid(line) || bytes.Contains(line, []byte(`\ufffd`)) {
					continue // JSON cannot represent it
				}
				r := get(userAgent, "/")
				r.Method, r.RequestURI, r.URL = method, target, u
				log.Write(append(line, '\n'))
				if j := online.Judge(r); j != nil {
					crawler := j.KnownName()
					if crawler == "" {
						crawler = judge.OtherName
					}
					want[counted{crawler, j.Client.Class.String(), j.Verdict.String()}]++
					if j.Action == judge.Blocked {
						blocked[j.Client.Class.String()]++
					}
					compared++
				}
			}
		}
		report, err := replay.Run(context.Background(), replay.Options{
			Logs: []string{"-"}, Stdin: &log, Versions: []replay.Version{{Body: []byte(text)}}, Workers: 1,
			Settings: settings,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, class := range report.Classes {
			if class.WouldBlock != blocked[class.Class] {
				t.Errorf("%s: enforce would block %d of %s, and blocked %d", name, class.WouldBlock, class.Class, blocked[class.Class])
			}
		}
		got := make(map[counted]uint64)
		for _, c := range report.Crawlers {
			for verdict, n := range map[judge.Verdict]uint64{judge.Allowed: c.Allowed, judge.Disallowed: c.Disallowed, judge.Stale: c.Stale, judge.Exempt: c.Exempt} {
				if n > 0 {
					got[counted{c.Token, c.Class, verdict.String()}] = n
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: the replay has\n%v, the server has\n%v", name, fmt.Sprint(got), fmt.Sprint(want))
		}
	}
	t.Logf("%d verdicts were compared", compared)
}
