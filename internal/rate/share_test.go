package rate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// cluster is a set of instances that share a site. The clock of each instance is an hour ahead of
// the previous one.
type cluster struct {
	instances []*Budgets
	up        []bool
}

func newCluster(n int) *cluster {
	c := new(cluster)
	for i := range n {
		c.instances, c.up = append(c.instances, NewBudgets(c.at(i, 0))), append(c.up, true)
		c.instances[i].SetSharing(c.at(i, 0), n > 1)
	}
	return c
}

func (c *cluster) at(i int, passed time.Duration) time.Time {
	return start.Add(time.Duration(i)*time.Hour + passed)
}

// sync exports the counts of each instance and imports them into the others.
func (c *cluster) sync(t *testing.T, passed time.Duration) {
	for i, from := range c.instances {
		data, err := from.Export(c.at(i, passed))
		if err != nil {
			t.Fatal(err)
		}
		for j, to := range c.instances {
			if j != i && c.up[i] && c.up[j] && data != nil {
				if err := to.Import(fmt.Sprint(i), data, c.at(j, passed)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for i, b := range c.instances {
		b.SetSharing(c.at(i, passed), len(c.instances) > 1)
	}
}

// run sends requests of a client. route returns the instance for each request. run returns the
// numbers of passed and sent requests in the last part of the time.
func (c *cluster) run(t *testing.T, client *Client, rules *Rules, from, to time.Duration, step func() time.Duration, route func() int, last time.Duration) (passed, asked int) {
	synced := from
	for now := from; now < to; now += step() {
		for ; synced <= now; synced += 15 * time.Second {
			c.sync(t, synced)
		}
		i := route()
		over := c.instances[i].ChargeRequest(c.at(i, now), client.from(i), rules).IsOverRate
		if now >= to-last {
			asked++
			if !over {
				passed++
			}
		}
	}
	return passed, asked
}

// TestInstancesShareRate checks that several instances together allow the rate of one instance,
// with different clocks and different distributions of the requests.
func TestInstancesShareRate(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	limit := &Rules{ConfiguredLimit: Rule{Interval: time.Second, Burst: 10}, Window: 5 * time.Minute}
	for n := 1; n <= 3; n++ {
		for name, route := range map[string]func() int{
			"evenly":     func() int { return random.IntN(n) },
			"unevenly":   func() int { return min(n-1, int(random.ExpFloat64()*0.7)) },
			"to one":     func() int { return n - 1 },
			"two by two": func() func() int { i := 0; return func() int { i++; return i / 2 % n } }(),
		} {
			for what, rules := range map[string]*Rules{"Crawl-delay": delayRules(5 * time.Second), "limit": limit} {
				client := map[bool]*Client{true: &verified, false: &claimed}[what == "limit"]
				c := newCluster(n)
				const last = 20 * time.Minute
				passed, _ := c.run(t, client, rules, 0, 30*time.Minute, func() time.Duration { return 400 * time.Millisecond }, route, last)
				want := float64(last) / float64(max(rules.CrawlDelay.Interval, rules.ConfiguredLimit.Interval))
				if got := float64(passed) / want; got < 0.8 || got > 1.2 {
					t.Errorf("%d instances, %s, %s, %v: %.2f times the allowed requests passed", n, name, what, client.Identity, got)
				}
			}
		}
	}
}

// TestBingAtSeveralInstances sends one request at a random time in each window of the delay, to
// random instances. No request is over the rate.
func TestBingAtSeveralInstances(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, delay := range []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second} {
		c := newCluster(3)
		begin := time.Duration(0)
		slot := time.Duration(0)
		step := func() time.Duration { // time from the request in one window to the request in the next
			previous := begin
			slot += delay
			begin = slot + time.Duration(random.Int64N(int64(delay)))
			return begin - previous
		}
		const long = time.Hour
		if passed, asked := c.run(t, &verified, delayRules(delay), 0, long, step, func() int { return random.IntN(3) }, long); passed != asked || asked == 0 {
			t.Errorf("delay %v: %d of %d passed", delay, passed, asked)
		}
	}
}

// TestCompliantAtSeveralInstances sends a burst and then requests at the interval of a limit, to
// different instances. No request is over the rate, also if another network sends a few requests
// with the same name.
func TestCompliantAtSeveralInstances(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, limit := range []Rule{{time.Second, 5}, {3 * time.Second, 4}, {5 * time.Minute, 3}} {
		for name, route := range map[string]func(asked int) int{
			"in turn":     func(asked int) int { return asked % 3 },
			"at random":   func(int) int { return random.IntN(3) },
			"for a while": func(asked int) int { return asked / 40 % 3 },
			"moved once":  func(asked int) int { return min(1, asked/150) },
		} {
			c, asked := newCluster(3), 0
			step := func() time.Duration {
				if asked++; asked < limit.Burst {
					return time.Millisecond
				}
				return limit.Interval
			}
			to := 300 * limit.Interval
			rules := &Rules{ConfiguredLimit: limit, Window: 5 * time.Minute}
			if passed, sent := c.run(t, &claimed, rules, 0, to, step, func() int { return route(asked) }, to); passed != sent || sent < 300 {
				t.Errorf("%v, %s: %d of %d passed", limit, name, passed, sent)
			}
		}
	}
}

// live returns the number of instances whose counts apply.
func live(b *Budgets) (n int) {
	for _, p := range b.peers.byInstance {
		if p.hasChanged {
			n++
		}
	}
	return n
}

// TestStoppedInstance stops an instance. The other instances use the whole rate within two minutes,
// and ignore the stored counts of the stopped instance.
func TestStoppedInstance(t *testing.T) {
	rules := &Rules{ConfiguredLimit: Rule{Interval: time.Second, Burst: 5}, Window: 5 * time.Minute}
	c := newCluster(2)
	quick := func() time.Duration { return 100 * time.Millisecond }
	turn := 0
	c.run(t, &verified, rules, 0, 20*time.Minute, quick, func() int { turn++; return turn % 2 }, time.Minute)
	if n := live(c.instances[0]); n != 1 {
		t.Fatalf("%d live instances, want 1", n)
	}
	exported, err := c.instances[1].Export(c.at(1, 20*time.Minute))
	if err != nil || exported == nil {
		t.Fatal("the instance exports no counts", err)
	}
	c.up[1] = false
	passed, _ := c.run(t, &verified, rules, 20*time.Minute, 27*time.Minute, quick, func() int { return 0 }, 5*time.Minute)
	if passed < 280 || passed > 320 {
		t.Errorf("%d requests passed in the last five minutes, want about 300", passed)
	}
	if n := live(c.instances[0]); n != 0 {
		t.Errorf("%d live instances, want none", n)
	}
	other := NewBudgets(start)
	other.SetSharing(start, true)
	other.ChargeRequest(start, &verified, rules)
	for i := range 4 { // repeated imports of unchanged counts
		at := start.Add(time.Duration(i) * 15 * time.Second)
		if err := other.Import("1", exported, at); err != nil {
			t.Fatal(err)
		}
		if n := live(other); n != 0 {
			t.Errorf("%d live instances, want none", n)
		}
	}
}

// TestImportErrors checks invalid imports and the bound on instances.
func TestImportErrors(t *testing.T) {
	b := NewBudgets(start)
	b.SetSharing(start, true)
	many := make([]string, 0, maxSharedBudgets+1)
	for i := range maxSharedBudgets + 1 {
		many = append(many, fmt.Sprintf(`"%x":1`, i))
	}
	for _, text := range []string{
		"", "null,", "[]", "noise", `{"requests":{"zz":1}}`, `{"requests":{"1":-1}}`, `{"requests":{"1":99999999999}}`,
		`{"requests":{"1":1.5}}`, `{"requests":{` + strings.Join(many, ",") + `}}`,
	} {
		if err := b.Import("other", []byte(text), start); !errors.Is(err, errInvalidCounts) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
	for i := range 2 * maxPeers {
		if err := b.Import(fmt.Sprint(i), []byte(`{}`), start); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.peers.byInstance) != maxPeers {
		t.Errorf("%d instances are known, want %d", len(b.peers.byInstance), maxPeers)
	}
}

// TestExport checks that one instance alone exports nothing, and that budgets of impostors and
// invented hosts are not exported.
func TestExport(t *testing.T) {
	rules := delayRules(time.Second)
	b := NewBudgets(start)
	b.ChargeRequest(start, &verified, rules)
	if data, err := b.Export(start); data != nil || err != nil {
		t.Errorf("exported without other instances: %s, %v", data, err)
	}
	b.SetSharing(start, true)
	for _, client := range []Client{{Site: shop}, {Site: shop, Token: "bingbot", UnknownHost: true, Identity: verified.Identity}} {
		b.ChargeRequest(start, client.from(1), rules)
	}
	if data, err := b.Export(start); data != nil || err != nil {
		t.Errorf("exported: %s, %v", data, err)
	}
	b.ChargeRequest(start, &verified, rules)
	if data, err := b.Export(start); !strings.Contains(string(data), `":2}`) || err != nil {
		t.Errorf("exported: %s, %v, want the counts before and after Share", data, err)
	}
	if data, err := b.Export(start.Add(time.Hour)); data != nil || err != nil {
		t.Errorf("exported an hour later: %s, %v", data, err)
	}
	if n := testing.AllocsPerRun(100, func() { b.ChargeRequest(start, &verified, rules) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEvictedBudgetsAreNotExported checks that the number of exported budgets stays bounded.
func TestEvictedBudgetsAreNotExported(t *testing.T) {
	b := NewBudgets(start)
	b.SetSharing(start, true)
	rules := &Rules{CrawlDelay: Rule{Interval: time.Second, Burst: 1}, Window: time.Minute}
	for n := range 3 * maxCrawlerBudgets {
		client := Client{Site: &policy.Key{Host: "a.test"}, Token: fmt.Sprint("bot ", n), Identity: verify.Verified}
		b.ChargeRequest(start, &client, rules)
	}
	data, err := b.Export(start)
	if n := strings.Count(string(data), ":1"); err != nil || n > maxCrawlerBudgets || n < maxCrawlerBudgets/2 {
		t.Errorf("%d crawlers are exported, at most %d have budgets: %v", n, maxCrawlerBudgets, err)
	}
	if n := len(b.peers.sharedBudgets); n > maxCrawlerBudgets {
		t.Errorf("%d budgets are shared", n)
	}
}
