package guard

import (
	"fmt"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// TestATrialForetells compares the result of a trial with the verdict once the shadow
// robots.txt is in force. Both files may name the client differently.
func TestATrialForetells(t *testing.T) {
	texts := []string{
		"User-agent: *\nDisallow: /a\n",
		"User-agent: GPTBot\nDisallow: /a\n",
		"User-agent: GPTBot\nDisallow: /a\n\nUser-agent: Zorkly\nDisallow: /b\n",
		"User-agent: Zorkly\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n",
		"User-agent: Zorkly\nAllow: /\n\nUser-agent: *\nDisallow: /\n",
		"User-agent: curl\nDisallow: /a\n\nUser-agent: FooBot\nDisallow: /b\n",
	}
	clients := []string{
		"GPTBot/1.2", "Zorkly/1.0", "Zorkly/1.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot/1.2 Zorkly/1.0", "curl/8.7.1", "FooBot/1.0 Zorkly/2.0",
		"Mozilla/5.0 (compatible; Zorkly/1.0; +https://zorkly.example/)", "UptimeRobot/2.0 Zorkly/1.0",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Zorkly/1.0 Chrome/140.0.0.0 Safari/537.36", uaFirefox,
	}
	names := make(map[string]int) // differences that occurred
	for i, before := range texts {
		for k, after := range texts {
			if i == k {
				continue
			}
			for _, wildcard := range [][]string{nil, {"other", "crawler", "ai_training"}} {
				o := options{Enforce: true, Wildcard: wildcard}
				live := testGuard(t, o, serving(after))
				<-fetchDone(live, requestBy("bingbot/2.0", "/"))
				o.Shadow = serving(after)
				for _, userAgent := range clients {
					for _, target := range []string{"/a", "/b"} {
						would := live.Judge(requestBy(userAgent, target))
						g := testGuard(t, o, serving(before))
						<-fetchDone(g, requestBy("bingbot/2.0", "/"))
						g.readTried()
						is := g.Judge(requestBy(userAgent, target))
						if is == nil {
							continue // a browser, which has no trial
						}
						want := report.VerdictDifferences{Requests: 1}
						switch was, will := is.Verdict == judge.Disallowed, would != nil && would.Verdict == judge.Disallowed; {
						case was && !will:
							want.NewlyAllowed = 1
						case !was && will:
							want.NewlyForbidden = 1
						}
						names[fmt.Sprint(want)]++
						if got := onlyTrial(t, g).VerdictDifferences; got != want {
							t.Errorf("%q asks for %s, once\n%s\nis in place of\n%s\n%+v, want %+v", userAgent, target, after, before, got, want)
						}
					}
				}
			}
		}
	}
	if len(names) != 3 {
		t.Errorf("only %v were seen", names)
	}
}
