package simulate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	guardsite "github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// world is a running plan.
type world struct {
	mu          sync.Mutex // guards the sites, which are also used in the background
	sites       []*site
	instances   []*instance
	crawlers    []*crawler
	verifier    *verify.Verifier // nil if clients are not verified
	verified    []string         // tokens of verified crawlers
	changeGuard time.Duration
	start       time.Time
	story       []string
	failure     string // the violated invariant
	counts      counts
	tells       bool         // records the story
	skewed      bool         // clocks differ
	holdsRates  bool         // the guard enforces rates
	setsClocks  bool         // clocks are set during the run
	set         time.Time    // when a clock was last set
	owner       *owner       // nil if the sites have their own files
	ways        int          // number of redirect chains so far
	hasLimits   bool         // the owner has set limits
	takes       atomic.Int64 // duration of a page in nanoseconds
	enginePaces map[string]*pace
	places      *rand.Rand // decides where crawlers fetch robots.txt in an event
}

// counts are the numbers of events by outcome. They reveal a world in which nothing
// happens.
type counts struct{ events, pages, blocked, slowed, strangers, siteDays int }

func (c *counts) add(more counts) {
	c.events += more.events
	c.pages += more.pages
	c.blocked += more.blocked
	c.slowed += more.slowed
	c.strangers += more.strangers
	c.siteDays += more.siteDays
}

func (w *world) site(host string) *site {
	for _, s := range w.sites {
		if s.host == host {
			return s
		}
	}
	return nil
}

// settle waits for background work.
func (w *world) settle() { synctest.Wait() }

// run runs a plan until its end or a violated invariant. It must be called in a
// synctest bubble.
func run(t *testing.T, p plan) *world {
	w := &world{start: time.Now(), tells: p.tells, holdsRates: p.holdsRates, setsClocks: p.setsClocks, hasLimits: p.limits, enginePaces: make(map[string]*pace), skewed: p.setsClocks && p.instances > 1}
	dice := rand.New(rand.NewPCG(p.seed, 2))
	if p.guards {
		w.changeGuard = 24 * time.Hour
	}
	if p.verifies {
		w.verify(t)
		defer w.verifier.Close()
	}
	hosts := caddyhttp.MatchHost{}
	for n := range p.hosts {
		s := &site{host: fmt.Sprintf("%c.test", 'a'+n), stamps: p.stamps, text: w.newText(dice), maxAge: []time.Duration{0, time.Minute, time.Hour, 24 * time.Hour}[dice.IntN(4)]}
		w.sites, hosts = append(w.sites, s), append(hosts, s.host)
		s.changed, s.settled = w.start, w.start
		s.phases = []phase{{mode: same, text: s.text, from: w.start}}
		w.tell("%s serves with max-age %s\n%s", s.host, s.maxAge, indent(s.text))
	}
	if p.manages {
		w.owner = newOwner(rand.New(rand.NewPCG(p.seed, 5)), p)
		if p.builds {
			w.newBases(rand.New(rand.NewPCG(p.seed, 10)))
		}
		w.tell("the owner publishes by rules, rollout %+v\n%s", w.owner.rollout, indent(string(w.owner.rules.EncodeSpec())))
	}
	if p.tenants {
		hosts = caddyhttp.MatchHost{"*.test"}
	}
	storage := newDisk()
	for n := range p.instances {
		i := &instance{id: fmt.Sprintf("i%d", n), world: w, sites: new(guardsite.Sites), server: &caddyhttp.Server{
			Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{&hosts}}}},
		}}
		if p.stores {
			i.storage = &link{disk: storage, of: i, clock: []setting{{w.start, p.skews[n]}}}
			if skew := p.skews[n]; skew != 0 {
				w.skewed = true
				w.tell("the clock of %s is ahead by %s", i.id, skew)
			}
		}
		i.start()
		w.instances = append(w.instances, i)
	}
	w.people(dice, rand.New(rand.NewPCG(p.seed, 8)))
	if p.twins {
		w.twins(rand.New(rand.NewPCG(p.seed, 12)))
	}
	for _, e := range p.events {
		time.Sleep(e.at - time.Since(w.start))
		w.counts.events++
		w.watch()
		w.forget()
		w.happen(e)
		w.rest()
		w.watch()
		if w.failure != "" {
			break
		}
	}
	w.count()
	for _, i := range w.instances {
		i.end()
		_ = i.state.Destruct()
	}
	if p.builds {
		time.Sleep(time.Minute) // until requests without a response time out
	}
	w.settle()
	return w
}

// forget makes the stores of a world with limits drop request counts that are older
// than a minute, as they do every two seconds.
func (w *world) forget() {
	if !w.hasLimits {
		return
	}
	for _, i := range w.instances {
		i.dirty.Store(true)
		i.keep()
	}
}

// rest makes the stores do their periodic work, after delays that exceed their
// intervals. Without data to store there is no data to load either.
func (w *world) rest() {
	if !slices.ContainsFunc(w.instances, (*instance).isDirty) {
		time.Sleep(17 * time.Second)
		return
	}
	for _, step := range []struct {
		after time.Duration
		do    func(*instance)
	}{{0, (*instance).look}, {13 * time.Second, (*instance).keep}, {2 * time.Second, (*instance).learn}, {2 * time.Second, (*instance).keep}} {
		time.Sleep(step.after)
		for _, i := range w.instances {
			step.do(i)
		}
	}
}

// verify makes some crawlers verifiable.
func (w *world) verify(t *testing.T) {
	list := filepath.Join(t.TempDir(), "addresses.txt")
	if err := os.WriteFile(list, []byte("198.18.0.0/16\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := verify.Config{Crawlers: uaident.Default().Crawlers()}
	w.verified = append(slices.Clone(tokens[:5]), slow)
	for _, token := range w.verified {
		c.Lists = append(c.Lists, verify.List{CrawlerOrOperator: token, File: list})
	}
	w.verifier = verify.New(verify.Options{MaxVerified: 64, MaxOtherResults: 64})
	if err := w.verifier.Configure(c); err != nil {
		t.Fatal(err)
	}
}

// people creates the crawlers that obey: for each name a verified one if possible,
// otherwise one in its own network. One in four fetches robots.txt where no guard sees
// it, and another fetches it there only sometimes.
func (w *world) people(dice, eyes *rand.Rand) {
	keeps := []time.Duration{time.Minute, time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour}
	for n, token := range tokens {
		where := always
		if dice.IntN(4) == 0 {
			where = never
		} else if eyes.IntN(3) == 0 {
			where = sometimes
		}
		c := &crawler{token: token, sight: where, keeps: keeps[dice.IntN(len(keeps))], lag: policy.MaxAge, patience: []int{mostHops, 10, 20}[n%3], copies: make(map[string]*reading)}
		if token == slow {
			c.keeps, c.lag = slowLag, slowLag
		}
		if slices.Contains(w.verified, token) {
			for address := range 4 {
				c.addresses = append(c.addresses, fmt.Sprintf("198.18.%d.%d", 16*n+address, 1+address))
			}
		} else {
			c.addresses = []string{fmt.Sprintf("203.0.%d.1", n), fmt.Sprintf("203.0.%d.2", n)}
		}
		w.crawlers = append(w.crawlers, c)
	}
}

// twins adds a crawler with the name of an existing one, in another network and with
// its own copy.
func (w *world) twins(dice *rand.Rand) {
	c := *w.crawlers[5+dice.IntN(3)] // these names are not verified
	c.addresses = []string{"203.0.100.1", "203.0.101.1"}
	c.keeps, c.copies = []time.Duration{time.Minute, 24 * time.Hour}[dice.IntN(2)], make(map[string]*reading)
	w.crawlers = append(w.crawlers, &c)
}

// count compares the counts in the ledger of each instance with its requests.
func (w *world) count() {
	if w.failure != "" {
		return
	}
	for _, i := range w.instances {
		snapshot := i.state.Ledger.Snapshot()
		var sum uint64
		for _, s := range snapshot.Sites {
			for _, row := range s.Rows {
				counts := row.Series[ledger.Days].Sum(ledger.Days, i.born.Add(-48*time.Hour), time.Now().Add(48*time.Hour))
				sum += counts.TotalRequests()
			}
		}
		if time.Since(i.born) < 20*24*time.Hour && int(sum) != i.asked {
			w.fail("instance %s got %d requests since %s, but counted %d", i.id, i.asked, i.born.Sub(w.start), sum)
		}
	}
}
