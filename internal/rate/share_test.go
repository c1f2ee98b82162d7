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

// cluster is some instances that share a site, each with a clock that is an hour later
// than that of the one before.
type cluster struct {
	all []*Budgets
	up  []bool
}

func newCluster(n int) *cluster {
	c := new(cluster)
	for i := range n {
		c.all, c.up = append(c.all, NewBudgets(c.at(i, 0))), append(c.up, true)
		c.all[i].Share(c.at(i, 0), n > 1)
	}
	return c
}

func (c *cluster) at(i int, passed time.Duration) time.Time {
	return start.Add(time.Duration(i)*time.Hour + passed)
}

// sync has each tell the others what it has counted, as a storage does that they share.
func (c *cluster) sync(t *testing.T, passed time.Duration) {
	for i, from := range c.all {
		data, err := from.Export(c.at(i, passed))
		if err != nil {
			t.Fatal(err)
		}
		for j, to := range c.all {
			if j != i && c.up[i] && c.up[j] && data != nil {
				if err := to.Import(fmt.Sprint(i), data, c.at(j, passed)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for i, b := range c.all {
		b.Share(c.at(i, passed), len(c.all) > 1)
	}
}

// run has a crawler ask, each time the instance that route says, and returns how many
// passed in the last part of that time.
func (c *cluster) run(t *testing.T, client *Client, rules *Rules, from, to time.Duration, step func() time.Duration, route func() int, last time.Duration) (passed, asked int) {
	synced := from
	for now := from; now < to; now += step() {
		for ; synced <= now; synced += 15 * time.Second {
			c.sync(t, synced)
		}
		i := route()
		over := c.all[i].Spend(c.at(i, now), client.from(i), rules).Over
		if now >= to-last {
			asked++
			if !over {
				passed++
			}
		}
	}
	return passed, asked
}

// TestInstancesShareWhatIsAllowed has several instances, whose clocks are hours apart,
// let pass what one would, however the requests of a greedy crawler are spread.
func TestInstancesShareWhatIsAllowed(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	limit := &Rules{Configured: Rule{Interval: time.Second, Burst: 10}, Window: 5 * time.Minute}
	for n := 1; n <= 3; n++ {
		for name, route := range map[string]func() int{
			"evenly":     func() int { return random.IntN(n) },
			"unevenly":   func() int { return min(n-1, int(random.ExpFloat64()*0.7)) },
			"to one":     func() int { return n - 1 },
			"two by two": func() func() int { i := 0; return func() int { i++; return i / 2 % n } }(),
		} {
			for what, rules := range map[string]*Rules{"Crawl-delay": asking(5 * time.Second), "limit": limit} {
				client := map[bool]*Client{true: &verified, false: &claimed}[what == "limit"]
				c := newCluster(n)
				const last = 20 * time.Minute
				passed, _ := c.run(t, client, rules, 0, 30*time.Minute, func() time.Duration { return 400 * time.Millisecond }, route, last)
				want := float64(last) / float64(max(rules.CrawlDelay.Interval, rules.Configured.Interval))
				if got := float64(passed) / want; got < 0.8 || got > 1.2 {
					t.Errorf("%d instances, %s, %s, %v: %.2f of what is allowed passed", n, name, what, client.Identity, got)
				}
			}
		}
	}
}

// TestObedientAtSeveralInstances keeps a delay as Bing does while each request reaches
// another instance: it is never too fast.
func TestObedientAtSeveralInstances(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, delay := range []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second} {
		c := newCluster(3)
		begin := time.Duration(0)
		slot := time.Duration(0)
		step := func() time.Duration { // from one place in a window to one in the next
			before := begin
			slot += delay
			begin = slot + time.Duration(random.Int64N(int64(delay)))
			return begin - before
		}
		const long = time.Hour
		if passed, asked := c.run(t, &verified, asking(delay), 0, long, step, func() int { return random.IntN(3) }, long); passed != asked || asked == 0 {
			t.Errorf("a delay of %v: %d of %d passed", delay, passed, asked)
		}
	}
}

// TestWithinALimitAtSeveralInstances asks as often as an owner's limit allows, a burst first,
// whichever instance that reaches: it is never too fast, nor is it after another one has
// asked a little by the same name.
func TestWithinALimitAtSeveralInstances(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, limit := range []Rule{{time.Second, 5}, {3 * time.Second, 4}, {5 * time.Minute, 3}} {
		for name, route := range map[string]func(asked int) int{
			"in turn":     func(asked int) int { return asked % 3 },
			"by chance":   func(int) int { return random.IntN(3) },
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
			rules := &Rules{Configured: limit, Window: 5 * time.Minute}
			if passed, all := c.run(t, &claimed, rules, 0, to, step, func() int { return route(asked) }, to); passed != all || all < 300 {
				t.Errorf("%v, %s: %d of %d passed", limit, name, passed, all)
			}
		}
	}
}

// live returns how many others tell what they count.
func live(b *Budgets) (n int) {
	for _, p := range b.peers.byInstance {
		if p.hasChanged {
			n++
		}
	}
	return n
}

// TestInstanceThatEnds leaves all that is allowed to the others within two minutes, and
// counts nothing that one has left behind.
func TestInstanceThatEnds(t *testing.T) {
	rules := &Rules{Configured: Rule{Interval: time.Second, Burst: 5}, Window: 5 * time.Minute}
	c := newCluster(2)
	quick := func() time.Duration { return 100 * time.Millisecond }
	turn := 0
	c.run(t, &verified, rules, 0, 20*time.Minute, quick, func() int { turn++; return turn % 2 }, time.Minute)
	if n := live(c.all[0]); n != 1 {
		t.Fatalf("%d others, want 1", n)
	}
	left, err := c.all[1].Export(c.at(1, 20*time.Minute))
	if err != nil || left == nil {
		t.Fatal("nothing was counted", err)
	}
	c.up[1] = false
	passed, _ := c.run(t, &verified, rules, 20*time.Minute, 27*time.Minute, quick, func() int { return 0 }, 5*time.Minute)
	if passed < 280 || passed > 320 {
		t.Errorf("%d passed in the last five minutes of which 300 may", passed)
	}
	if n := live(c.all[0]); n != 0 {
		t.Errorf("%d others, want none", n)
	}
	alone := NewBudgets(start)
	alone.Share(start, true)
	alone.Spend(start, &verified, rules)
	for i := range 4 { // what is read again says nothing new
		at := start.Add(time.Duration(i) * 15 * time.Second)
		if err := alone.Import("1", left, at); err != nil {
			t.Fatal(err)
		}
		if n := live(alone); n != 0 {
			t.Errorf("%d others live, want none", n)
		}
	}
}

// TestImportRefuses what are no counts, and takes in no more than it has room for.
func TestImportRefuses(t *testing.T) {
	b := NewBudgets(start)
	b.Share(start, true)
	many := make([]string, 0, maxShared+1)
	for i := range maxShared + 1 {
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
		t.Errorf("%d others are known, want %d", len(b.peers.byInstance), maxPeers)
	}
}

// TestNothingIsToldAlone keeps what one instance counts to itself, and what nobody else
// can have: what impostors and clients invent.
func TestNothingIsToldAlone(t *testing.T) {
	rules := asking(time.Second)
	b := NewBudgets(start)
	b.Spend(start, &verified, rules)
	if data, err := b.Export(start); data != nil || err != nil {
		t.Errorf("alone it tells %s, %v", data, err)
	}
	b.Share(start, true)
	for _, who := range []Client{{Site: shop}, {Site: shop, Token: "bingbot", UnknownHost: true, Identity: verified.Identity}} {
		b.Spend(start, who.from(1), rules)
	}
	if data, err := b.Export(start); data != nil || err != nil {
		t.Errorf("it tells %s, %v", data, err)
	}
	b.Spend(start, &verified, rules)
	if data, err := b.Export(start); !strings.Contains(string(data), `":2}`) || err != nil {
		t.Errorf("it tells %s, %v, want what it has counted since it shares, and before", data, err)
	}
	if data, err := b.Export(start.Add(time.Hour)); data != nil || err != nil {
		t.Errorf("an hour later it tells %s, %v", data, err)
	}
	if n := testing.AllocsPerRun(100, func() { b.Spend(start, &verified, rules) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPutOutBudgetsAreNotShared bounds those that others are told of, however many
// crawlers come and go.
func TestPutOutBudgetsAreNotShared(t *testing.T) {
	b := NewBudgets(start)
	b.Share(start, true)
	rules := &Rules{CrawlDelay: Rule{Interval: time.Second, Burst: 1}, Window: time.Minute}
	for n := range 3 * maxCrawlers {
		who := Client{Site: &policy.Key{Host: "a.test"}, Token: fmt.Sprint("bot ", n), Identity: verify.Verified}
		b.Spend(start, &who, rules)
	}
	data, err := b.Export(start)
	if n := strings.Count(string(data), ":1"); err != nil || n > maxCrawlers || n < maxCrawlers/2 {
		t.Errorf("others are told of %d crawlers, where there are budgets for %d: %v", n, maxCrawlers, err)
	}
	if n := len(b.peers.sharedBudgets); n > maxCrawlers {
		t.Errorf("%d are remembered", n)
	}
}
