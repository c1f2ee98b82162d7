package managed

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRuleWithTime checks that a rule begins and ends on time at its hosts, and the
// guard enforces the rules that crawlers were served.
func TestRuleWithTime(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private\n", nil)
	from := time.Now().Add(6 * time.Second)
	s := harness.Serve(t, `http://a.test:$PORT, http://b.test:$PORT {
		robots_guard enforce {
			grace off
		}
		robots_txt {
			rule sale {
				for GPTBot
				disallow /sale
				from $FROM
				until $UNTIL
				hosts a.test
				reason "nobody shall read this"
			}
			rule closing {
				for GPTBot
				disallow /later
				from $UNTIL
			}
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address(), "$FROM", from.Format(time.RFC3339Nano), "$UNTIL", from.Add(2*time.Hour).Format(time.RFC3339Nano))
	read := func(host string) harness.Answer {
		return harness.Get(t, s.URL("/robots.txt"), harness.GPTBot, harness.Host(host))
	}
	before := read("a.test")
	inTime := time.Now().Before(from) // false if this machine is too slow to observe it
	if inTime && (strings.Contains(before.Body, "sale") || maxAge(t, before) > 60) {
		t.Errorf("before the sale: %v %q", before.Header, before.Body)
	}
	if a := harness.Get(t, s.URL("/sale"), harness.GPTBot, harness.Host("a.test")); time.Now().Before(from) && a.Status != 200 {
		t.Errorf("before the sale GPTBot got %d", a.Status)
	}
	harness.Eventually(t, "the sale begins", func() bool {
		return strings.Contains(read("a.test").Body, "# rule sale\nUser-agent: GPTBot\nDisallow: /private\nDisallow: /sale\n")
	})
	if time.Now().Before(from) {
		t.Error("the rule began too early")
	}
	after := read("a.test")
	if age := maxAge(t, after); age != 3600 || strings.Contains(after.Body, "nobody shall") || inTime && after.Header.Get("ETag") == before.Header.Get("ETag") {
		t.Errorf("in the sale: %v %q", after.Header, after.Body)
	}
	harness.Eventually(t, "the guard enforces what GPTBot was served", func() bool {
		return harness.Get(t, s.URL("/sale"), harness.GPTBot, harness.Host("a.test")).Status == 403
	})
	if b := read("b.test"); strings.Contains(b.Body, "sale") {
		t.Errorf("b.test serves the rule of a.test: %q", b.Body)
	}
	if a := harness.Get(t, s.URL("/sale"), harness.GPTBot, harness.Host("b.test")); a.Status != 200 {
		t.Errorf("at b.test GPTBot got %d", a.Status)
	}
}

func maxAge(t *testing.T, a harness.Answer) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(a.Header.Get("Cache-Control"), "max-age="))
	if err != nil {
		t.Fatalf("Cache-Control is %q", a.Header.Get("Cache-Control"))
	}
	return n
}

// TestHostsOfRules checks that caddy validate reports a rule for a host that the site
// does not have. A rule in a snippet may name the hosts of any site that imports the
// snippet.
func TestHostsOfRules(t *testing.T) {
	t.Parallel()
	for hosts, want := range map[string]string{
		"shop.exmaple.test":               `rule sale: this site has no host "shop.exmaple.test"; did you mean shop.example.test?, at Caddyfile:3`,
		"b.test":                          `this site has no host "b.test"; it has shop.example.test, *.wild.test`,
		"shop.example.test *.wild.test":   "",
		"SHOP.example.test. x.wild.test":  "",
		"*.example.test":                  "",
		"shop.example.test x.y.wild.test": `no host "x.y.wild.test"`,
	} {
		file := harness.Caddyfile(t, strings.ReplaceAll(`http://shop.example.test, http://*.wild.test {
			robots_txt {
				rule sale {
					for *
					disallow /a
					hosts $HOSTS
				}
			}
		}
		http://b.test {
			robots_txt {
				disallow GPTBot
			}
		}
		`, "$HOSTS", hosts))
		_, stderr, code := harness.Command(t, "", "validate", "--config", file)
		if (code == 0) != (want == "") || !strings.Contains(strings.NewReplacer(`\"`, `"`, file, "Caddyfile").Replace(stderr), want) {
			t.Errorf("%s: exit %d, %s, want %s", hosts, code, stderr, want)
		}
	}
	file := harness.Caddyfile(t, `(rules) {
		robots_txt {
			rule sale {
				for *
				disallow /a
				hosts a.test
			}
		}
	}
	http://a.test {
		import rules
	}
	http://b.test {
		import rules
	}
	`)
	if _, stderr, code := harness.Command(t, "", "validate", "--config", file); code != 0 {
		t.Errorf("a snippet: exit %d, %s", code, stderr)
	}
}
