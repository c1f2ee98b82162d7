package guard

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// logFields maps the names of a log line's fields to their types.
type logFields map[string]string

// documentedFields returns the fields in a section of docs/logs.md, and the mandatory
// ones among them.
func documentedFields(t *testing.T, section string) (all, always logFields) {
	t.Helper()
	text, err := os.ReadFile("../../docs/logs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("docs/logs.md has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	all, always = make(logFields), make(logFields)
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (yes )?\\|").FindAllStringSubmatch(rest, -1) {
		all[m[1]] = m[2]
		if m[3] != "" {
			always[m[1]] = m[2]
		}
	}
	return all, always
}

// logLines calls f with a logger that writes as Caddy's does, and returns the fields of
// the lines by message.
func logLines(t *testing.T, f func(*zap.Logger)) map[string]logFields {
	t.Helper()
	var out bytes.Buffer
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg", EncodeTime: zapcore.EpochTimeEncoder})
	f(zap.New(zapcore.NewCore(encoder, zapcore.AddSync(&out), zapcore.DebugLevel)))
	found := make(map[string]logFields)
	for line := range strings.Lines(out.String()) {
		var values map[string]any
		if err := json.Unmarshal([]byte(line), &values); err != nil {
			t.Fatal(err)
		}
		fields := make(logFields)
		for name, value := range values {
			switch value.(type) {
			case string:
				fields[name] = "string"
			case float64:
				fields[name] = "number"
			case bool:
				fields[name] = "boolean"
			case []any:
				fields[name] = "array"
			case map[string]any:
				fields[name] = "object"
			default:
				t.Errorf("%s is a %T", name, value)
			}
		}
		delete(fields, "msg")
		found[values["msg"].(string)] = fields
	}
	return found
}

// TestLogSchema compares the log lines with docs/logs.md. Renaming, removing or
// changing the type of a field would break its users.
func TestLogSchema(t *testing.T) {
	compare := func(t *testing.T, got map[string]logFields, want logFields, messages ...string) {
		t.Helper()
		for _, message := range messages {
			if fields, ok := got[message]; !ok {
				t.Errorf("no line %q", message)
			} else if !maps.Equal(fields, want) {
				t.Errorf("%s: the fields are\n%v, docs/logs.md says\n%v", message, fields, want)
			}
		}
	}
	version := &policy.Version{FirstFetched: time.Now().Add(-time.Hour)}
	full := &Judgement{Site: new(site.Site),
		Request: judge.Request{Client: uaident.Identify("bingbot/2.0"), Verification: verify.Verified, Target: "/x"},
		Result: judge.Result{
			Verdict: judge.Disallowed, Action: judge.Blocked,
			RobotsVerdict: policy.Verdict{Rule: policy.Rule{Path: "/", Line: 2}, Group: policy.Agent{Name: "*", Line: 1}, Normalization: policy.SlashesDecoded, Ambiguous: true},
		},
		VerifiedBy: verify.Ranges, signature: "verified", allowedByHold: true, Version: version,
		Rate: Rate{State: rate.OverRate, Delay: policy.Delay{Interval: time.Second, Line: 3}, IsStale: true, Limit: &rate.Limit{Client: "bingbot"}, Pace: rate.Pace{IsOverRate: true, IsOverLimit: true, Requests: 500, Wait: time.Second}},
	}
	bare := &Judgement{Site: &site.Site{Label: judge.OtherName},
		Request: judge.Request{Client: uaident.Identify("bingbot/2.0"), Target: "/x"},
		Result:  judge.Result{Verdict: judge.Disallowed, Action: judge.Blocked},
	}
	verdictAll, verdictAlways := documentedFields(t, "The verdict")
	allowed := *full
	allowed.Verdict, allowed.Action = judge.Allowed, judge.NoAction
	allowed.Preferences = policy.Preferences{policy.PreferenceNo}

	t.Run("verdict", func(t *testing.T) {
		compare(t, logLines(t, func(l *zap.Logger) { l.Info("full", zap.Inline(full)) }), verdictAll, "full")
		compare(t, logLines(t, func(l *zap.Logger) { l.Info("bare", zap.Inline(bare)) }), verdictAlways, "bare")
		more, _ := documentedFields(t, "Allowed requests")
		maps.Copy(more, verdictAll)
		compare(t, logLines(t, func(l *zap.Logger) { l.Info("allowed", zap.Inline(&allowed)) }), more, "allowed")
	})
	t.Run("requests", func(t *testing.T) {
		all, always := documentedFields(t, "Requests outside of robots.txt")
		maps.Copy(all, verdictAll)
		maps.Copy(always, verdictAlways)
		g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
		r := requestBy("bingbot/2.0", "/x")
		g.recordRobotsFetch(r, full, ledger.RobotsFetch{At: time.Now().UnixMilli(), Status: http.StatusOK})
		write := func(j Judgement) map[string]logFields {
			return logLines(t, func(l *zap.Logger) {
				g.Logger = l
				g.logViolation(r, &j, "bingbot")
				j.Verdict, j.OnlySpoofed = judge.Disallowed, true
				g.logViolation(r, &j, "bingbot")
				j.Reason = judge.ReasonSiteClosed
				g.logViolation(r, &j, "bingbot")
			})
		}
		messages := []string{"request disallowed by robots.txt", "request while robots.txt is unreachable", "request with a spoofed name"}
		compare(t, write(*full), all, messages...)
		compare(t, write(*bare), always, messages...)
	})
	t.Run("slowing has ended", func(t *testing.T) {
		all, _ := documentedFields(t, "A search engine is slowed no more")
		lines := logLines(t, func(l *zap.Logger) {
			g := testGuard(t, options{}, serving(mixedRobots))
			g.Logger = l
			g.logSlowingEnded(full, "bingbot")
		})
		compare(t, lines, all, "a search engine was slowed for a whole day; the limit is lifted, because pages that return 429 for days drop out of the index")
	})
	t.Run("signatures", func(t *testing.T) {
		all, _ := documentedFields(t, "Signatures")
		got := logLines(t, func(l *zap.Logger) {
			signingGuard(t, l).Judge(signedRequest(`x=("@authority");tag="web-bot-auth"`))
		})
		compare(t, got, all, "signature checked")
	})
	t.Run("robots.txt", func(t *testing.T) {
		all, always := documentedFields(t, "The robots.txt")
		g := testGuard(t, options{}, serving(""))
		freshness := policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}
		good := policy.State{}.AfterFetch(policy.FetchResult{Status: http.StatusOK, Body: []byte(mixedRobots)}, time.Now(), freshness, 0)
		refused := policy.FetchResult{Err: errors.New("connection refused")}
		bad := good.AfterFetch(refused, time.Now(), freshness, 0)
		never := policy.State{}.AfterFetch(refused, time.Now(), freshness, 0)
		worse := bad.AfterFetch(refused, time.Now(), freshness, 0)
		got := logLines(t, func(l *zap.Logger) {
			g.Logger = l
			g.logFetched(&site.Site{}, good, bad, false, time.Time{})
			g.logFetched(&site.Site{}, bad, worse, false, time.Time{})
		})
		compare(t, got, all, "robots.txt cannot be read", "robots.txt still cannot be read")
		without := maps.Clone(all)
		delete(without, "error")
		got = logLines(t, func(l *zap.Logger) {
			g.Logger = l
			g.logFetched(&site.Site{}, policy.State{}, good, true, time.Time{})
			g.logFetched(&site.Site{}, good, good, true, time.Time{})
			g.logFetched(&site.Site{}, bad, good, false, time.Time{})
		})
		compare(t, got, without, "robots.txt read", "robots.txt changed", "robots.txt can be read again")
		always["error"] = all["error"]
		got = logLines(t, func(l *zap.Logger) {
			g.Logger = l
			g.logFetched(&site.Site{}, policy.State{}, never, false, time.Time{})
		})
		compare(t, got, always, "robots.txt cannot be read")
	})
	t.Run("findings", func(t *testing.T) {
		all, _ := documentedFields(t, "Findings")
		g := testGuard(t, options{}, serving(""))
		parsed := func(text string) *policy.Version {
			return &policy.Version{Status: http.StatusOK, Robots: policy.Parse([]byte(text)), Hash: sha256.Sum256([]byte(text))}
		}
		got := logLines(t, func(l *zap.Logger) {
			g.Logger = l
			g.logFindings(&site.Site{}, parsed("User-agent: *\nDisalow: /x\n"))
		})
		compare(t, got, all, "robots.txt has findings")
		for name, quiet := range map[string]func(){
			"a text without any": func() { g.logFindings(&site.Site{}, parsed("User-agent: *\nDisallow: /x\n")) },
			"no text": func() {
				g.logFindings(&site.Site{}, &policy.Version{Status: http.StatusNotFound, Robots: policy.Parse(nil)})
			},
		} {
			if got := logLines(t, func(l *zap.Logger) { g.Logger = l; quiet() }); len(got) > 0 {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
	t.Run("not protecting", func(t *testing.T) {
		all, always := documentedFields(t, "Not protecting")
		g := testGuard(t, options{Enforce: true}, serving("# nothing\n"))
		got := logLines(t, func(l *zap.Logger) {
			g.Logger = l
			r := requestBy("bingbot/2.0", "/")
			<-fetchDone(g, r)
			here := &Judgement{Site: &site.Site{Label: judge.OtherName, Key: keyFor(r), CacheSegment: policy.ConfiguredHosts}}
			g.recordSite(here)
			g.state.Cache.Get(keyFor(r)).MakeDue()
			g.Source = serving(mixedRobots)
			<-fetchDone(g, r)
			g.logProtectionChanges(keyFor(r))
		})
		const began = "not protecting: the site is in enforce, but its robots.txt restricts no crawler"
		compare(t, got, all, began)
		compare(t, got, always, began)
		compare(t, got, logFields{"site": "string", "hosts": "array"}, "protecting again: the robots.txt has rules")
	})
	t.Run("a text that is tried", func(t *testing.T) {
		all, always := documentedFields(t, "A shadow robots.txt")
		maps.Copy(all, verdictAll)
		maps.Copy(always, verdictAlways)
		g := testGuard(t, options{}, serving(mixedRobots))
		got := logLines(t, func(l *zap.Logger) {
			g.Logger = l
			g.logTrialDifference(requestBy("bingbot/2.0", "/x"), full, "next.txt", &shadow.Request{Difference: shadow.NewlyAllowed})
		})
		compare(t, got, all, "the shadow robots.txt has another verdict")
		got = logLines(t, func(l *zap.Logger) {
			g.Logger = l
			g.logTrialDifference(requestBy("bingbot/2.0", "/x"), bare, "next.txt", &shadow.Request{Difference: shadow.NewlyAllowed})
		})
		compare(t, got, always, "the shadow robots.txt has another verdict")
	})
	t.Run("change guard", func(t *testing.T) {
		all, always := documentedFields(t, "The change guard")
		s := newGuardedSite(t, loose)
		s.visit(uaBingbot, "/a", http.StatusOK)
		got := logLines(t, func(l *zap.Logger) {
			s.g.Logger = l
			s.become(strict)
			s.visit(uaBingbot, "/a", http.StatusOK)
		})
		const message = "change guard: the new robots.txt disallows pages that search engines were served; the previous version stays in force"
		compare(t, got, all, message)
		compare(t, got, always, message)
	})
}
