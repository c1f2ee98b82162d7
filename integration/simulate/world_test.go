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
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// world is a plan that runs.
type world struct {
	mu          sync.Mutex // of the sites: they are also read in the background
	sites       []*site
	instances   []*instance
	crawlers    []*crawler
	verifier    *verify.Verifier // nil if nobody is verified
	verified    []string         // tokens
	changeGuard time.Duration
	start       time.Time
	story       []string
	failure     string // the invariant that was broken
	counts      counts
	tells       bool         // the story
	skewed      bool         // clocks are apart
	holdsRates  bool         // who is too fast is slowed
	setsClocks  bool         // they are set meanwhile
	set         time.Time    // when the last one was
	owner       *owner       // nil where sites write their robots.txt themselves
	ways        int          // that sites have redirected to
	hasLimits   bool         // the owner has set some
	takes       atomic.Int64 // how long a page takes, in nanoseconds
	enginePaces map[string]*pace
	places      *rand.Rand // for where crawlers read the file in an event
}

// counts are what came to pass, so that a world in which nothing happens is seen.
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

// settle lets what is going on in the background end.
func (w *world) settle() { synctest.Wait() }

// run lets a plan happen, until an invariant breaks. It has to be called in a bubble.
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
		w.tell("the owner publishes by rules, rollout %+v\n%s", w.owner.rollout, indent(string(w.owner.rules.Spec())))
	}
	storage := newDisk()
	for n := range p.instances {
		i := &instance{id: fmt.Sprintf("i%d", n), world: w, sites: new(request.Sites), server: &caddyhttp.Server{
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
		time.Sleep(time.Minute) // until what hangs is given up
	}
	w.settle()
	return w
}

// forget lets the stores of a world with limits forget how often others were asked more
// than a minute ago, as they do every two seconds.
func (w *world) forget() {
	if !w.hasLimits {
		return
	}
	for _, i := range w.instances {
		i.dirty.Store(true)
		i.keep()
	}
}

// rest lets the stores do what they do all the time, after so long that nothing that is
// noted waits for its turn. Where nothing is to be written there is nothing to learn, either.
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

// verify makes some names such that can be verified.
func (w *world) verify(t *testing.T) {
	list := filepath.Join(t.TempDir(), "addresses.txt")
	if err := os.WriteFile(list, []byte("198.18.0.0/16\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := verify.Config{Crawlers: uaident.Default().Crawlers()}
	w.verified = append(slices.Clone(tokens[:5]), slow)
	for _, token := range w.verified {
		c.Lists = append(c.Lists, verify.List{For: token, File: list})
	}
	w.verifier = verify.New(verify.Options{KeepVerified: 64, KeepOthers: 64})
	if err := w.verifier.Configure(c); err != nil {
		t.Fatal(err)
	}
}

// people makes the crawlers that obey: of each name one that is verified where there is
// such a thing, else one in a network of its own. Of four one reads the file where no guard
// sees it, and another one now there and now here.
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

// twins adds a crawler of a name that another one has, in another network, with a copy of its own.
func (w *world) twins(dice *rand.Rand) {
	c := *w.crawlers[5+dice.IntN(3)] // whose names are not verified
	c.addresses = []string{"203.0.100.1", "203.0.101.1"}
	c.keeps, c.copies = []time.Duration{time.Minute, 24 * time.Hour}[dice.IntN(2)], make(map[string]*reading)
	w.crawlers = append(w.crawlers, &c)
}

// count compares what the instances have counted with what they were asked.
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
				sum += counts.Requests()
			}
		}
		if time.Since(i.born) < 20*24*time.Hour && int(sum) != i.asked {
			w.fail("instance %s was asked %d times since %s, and counted %d", i.id, i.asked, i.born.Sub(w.start), sum)
		}
	}
}
