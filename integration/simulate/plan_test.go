package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// event is an action at a time. Each event has its own seed, so that removing other
// events does not change it.
type event struct {
	at   time.Duration
	what action
	seed uint64
}

// An action is what an event does.
type action uint8

const (
	edits action = iota // an owner changes robots.txt
	breaks
	mends
	reloads
	crashes
	cuts // an instance loses the storage
	joins
	comes  // a crawler that obeys
	passes // a crawler without a copy requests a page that no file disallows
	reads  // a crawler fetches robots.txt and does not obey
	ignores
	numActions
	acts    = numActions      // the owner acts on a published change
	paces   = numActions + 1  // a crawler that obeys requests many pages
	rushes  = numActions + 2  // a crawler exceeds its Crawl-delay
	sets    = numActions + 3  // the clock of an instance
	leads   = numActions + 4  // a site redirects its robots.txt
	hurries = numActions + 5  // a crawler exceeds the owner's limit
	crowds  = numActions + 6  // concurrent requests
	strolls = numActions + 7  // a search engine requests a page
	builds  = numActions + 9  // a site changes its base
	crosses = numActions + 8  // a site redirects through another guarded site
	empties = numActions + 10 // a site serves a file without rules, or an HTML page
	fills   = numActions + 11 // a large tenant causes fetches of its files
)

func (a action) String() string {
	return [...]string{"edit", "break", "mend", "reload", "crash", "cut", "join", "visit", "pass", "read and ignore", "ignore", "act", "pace", "rush", "set", "lead", "hurry", "crowd", "stroll", "cross", "build", "empty", "fill"}[a]
}

// plan describes a world: its properties and events.
type plan struct {
	seed                     uint64
	hosts, instances         int
	days                     int
	verifies, stores, guards bool
	manages                  bool             // robots.txt files are published by rules
	builds                   bool             // the rules extend the sites' own files
	holdsRates               bool             // the guard enforces rates
	setsClocks               bool             // clocks are set during the run
	redirects                bool             // sites redirect their robots.txt
	limits                   bool             // the owner has set limits in addition to Crawl-delay
	stamps                   bool             // the sites write the time into a comment
	twins                    bool             // two crawlers have the same name
	tenants                  bool             // the sites share a wildcard with tenants with large files
	skews                    [3]time.Duration // skews of the instances' clocks
	events                   []event
	tells                    bool // the world records its story
}

// often is the average number of each action per simulated day and site.
var often = [numActions]float64{edits: 0.15, breaks: 0.1, mends: 0.3, reloads: 0.15, crashes: 0.08, cuts: 0.05, joins: 0.2, comes: 20, passes: 1, reads: 1, ignores: 1}

// newPlan derives a plan from a seed. In a quarter of the worlds the owner edits
// robots.txt and processes crash on most days.
func newPlan(seed uint64, days int) plan {
	dice := rand.New(rand.NewPCG(seed, 1))
	p := plan{seed: seed, hosts: 1 + dice.IntN(2), instances: 1 + dice.IntN(3), verifies: dice.IntN(2) == 0, stores: dice.IntN(3) > 0, guards: dice.IntN(4) == 0}
	p.stores = p.stores || p.instances > 1
	if p.manage(); p.manages {
		days = p.days
	}
	p.days = days
	for what, n := range often {
		if busy := seed%4 == 3; busy && (action(what) == edits || action(what) == crashes) {
			n *= 8
		}
		if p.manages {
			n *= managedDensity(action(what))
		}
		for range int(n*float64(days*p.hosts) + dice.Float64()) {
			p.events = append(p.events, event{time.Duration(dice.Int64N(int64(days) * int64(24*time.Hour))), action(what), dice.Uint64()})
		}
	}
	p.act()
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at/1000 - b.at/1000) })
	if p.instances > 1 && dice.IntN(2) == 0 {
		for n := range p.instances {
			p.skews[n] = time.Duration(dice.Int64N(int64(maxSkew/time.Second))) * time.Second
		}
	}
	return p
}

// managedDays is the length of a world with published rules. It is short, because all
// instances load the history often.
const managedDays = 6

// manage decides whether the owner publishes by rules. It has its own random numbers,
// so that older parts of a plan stay the same for a seed. The same applies to all later
// additions.
func (p *plan) manage() {
	dice := rand.New(rand.NewPCG(p.seed, 4))
	if p.manages = dice.IntN(5) == 0; p.manages {
		p.stores, p.days = true, managedDays
	}
	p.builds = p.manages && rand.New(rand.NewPCG(p.seed, 9)).IntN(2) == 0
	p.holdsRates = dice.IntN(3) == 0
	p.setsClocks = p.stores && dice.IntN(3) == 0
	p.redirects = !p.manages && dice.IntN(2) == 0
	p.limits = p.holdsRates && dice.IntN(2) == 0
	p.stamps = !p.manages && !p.holdsRates && rand.New(rand.NewPCG(p.seed, 11)).IntN(3) == 0
	p.tenants = !p.manages && rand.New(rand.NewPCG(p.seed, 14)).IntN(5) == 0
	p.twins = !p.holdsRates && rand.New(rand.NewPCG(p.seed, 13)).IntN(3) == 0
}

// managedDensity is the factor for the number of actions in a world with published
// rules.
func managedDensity(a action) float64 {
	switch a {
	case breaks, mends:
		return 0
	case edits, reloads, crashes, cuts, joins:
		return 8
	case reads, ignores, passes:
		return 3
	}
	return 1
}

// act adds the actions that occur only in some worlds.
func (p *plan) act() {
	dice := rand.New(rand.NewPCG(p.seed, 6))
	add := func(a action, n int) {
		for range n {
			p.events = append(p.events, event{time.Duration(dice.Int64N(int64(p.days) * int64(24*time.Hour))), a, dice.Uint64()})
		}
	}
	if p.manages {
		add(acts, 4*p.days)
	}
	if p.builds {
		defer func() { add(builds, 4*p.days*p.hosts) }() // deferred, so that the other events stay the same for a seed
	}
	if p.holdsRates {
		add(paces, p.days)
		add(rushes, p.days/3)
	}
	if p.setsClocks {
		add(sets, p.days/5)
	}
	if p.redirects {
		add(leads, p.days*p.hosts/2)
	}
	if p.limits {
		add(hurries, p.days/3)
		add(crowds, p.days/3)
		p.stroll(dice)
	}
	// Tenants have different owners, so a redirect to another tenant does not open its pages.
	if p.redirects && p.hosts == 2 && !p.tenants {
		add(crosses, p.days/6)
	}
	if !p.manages {
		add(empties, p.days/6)
	}
	if p.tenants {
		add(fills, p.days/6)
	}
}

// stroll adds thirty hours in which the search engine sends a request every 150
// seconds.
func (p *plan) stroll(dice *rand.Rand) {
	began := time.Duration(dice.Int64N(int64(p.days-2) * int64(24*time.Hour)))
	for at := began; at < began+30*time.Hour; at += 150 * time.Second {
		p.events = append(p.events, event{at, strolls, dice.Uint64()})
	}
}

// tokens are the tokens of the crawlers, which also occur in robots.txt files.
var tokens = []string{"Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "AhrefsBot", "SemrushBot", "Amazonbot", slow}

// slow is a crawler that may keep a copy for longer than others, according to its
// operator.
const slow, slowLag = "DuckAssistBot", 72 * time.Hour

// newText returns a random robots.txt.
func newText(dice *rand.Rand) string {
	rules := []string{"/", "/a/", "/a/x", "/b", "/b/z$", "/*?", "/c", "/d/e", ""}
	var b strings.Builder
	for range 1 + dice.IntN(3) {
		names := []string{"*", "*", tokens[dice.IntN(len(tokens))], tokens[dice.IntN(len(tokens))]}
		fmt.Fprintf(&b, "User-agent: %s\n", names[dice.IntN(len(names))])
		if dice.IntN(8) == 0 {
			fmt.Fprintf(&b, "Crawl-delay: %s\n", delays[b.Len()%len(delays)])
		}
		for range 1 + dice.IntN(3) {
			fmt.Fprintf(&b, "%s: %s\n", []string{"Disallow", "Disallow", "Allow"}[dice.IntN(3)], rules[dice.IntN(len(rules))])
		}
	}
	return b.String()
}
