package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// event is what happens at a time. Each has its own dice, so that leaving others out
// changes nothing about it.
type event struct {
	at   time.Duration
	what action
	seed uint64
}

// An action is what an event does.
type action uint8

const (
	edits action = iota // an owner serves another text
	breaks
	mends
	reloads
	crashes
	cuts // an instance from the storage
	joins
	comes  // a crawler that obeys
	passes // one that has read nothing, and asks for what no text forbids
	reads  // one that reads and does not obey
	ignores
	numActions
	acts    = numActions      // an owner who publishes
	paces   = numActions + 1  // a crawler that obeys fetches many pages
	rushes  = numActions + 2  // one that does not
	sets    = numActions + 3  // the clock of an instance
	leads   = numActions + 4  // a site to where its robots.txt is, by redirects
	hurries = numActions + 5  // a crawler, beyond the limit of the owner
	crowds  = numActions + 6  // many requests at once
	strolls = numActions + 7  // a search engine
	builds  = numActions + 9  // a site, on another text of its own
	crosses = numActions + 8  // a site that redirects by another one that is guarded
	empties = numActions + 10 // a site serves a file without rules, or a web page
)

func (a action) String() string {
	return [...]string{"edit", "break", "mend", "reload", "crash", "cut", "join", "visit", "pass", "read and ignore", "ignore", "act", "pace", "rush", "set", "lead", "hurry", "crowd", "stroll", "cross", "build", "empty"}[a]
}

// plan is a world that can be run: what is in it, and what happens.
type plan struct {
	seed                     uint64
	hosts, instances         int
	days                     int
	verifies, stores, guards bool
	manages                  bool             // the robots.txt are published by rules
	builds                   bool             // on what the sites have by themselves
	holdsRates               bool             // who is too fast is slowed
	setsClocks               bool             // clocks are set meanwhile
	redirects                bool             // sites redirect their robots.txt
	limits                   bool             // the owner has set some, beside rates
	stamps                   bool             // the sites write the time into a comment
	twins                    bool             // two crawlers have one name
	skews                    [3]time.Duration // by which the clocks of instances are ahead
	events                   []event
	tells                    bool // the world its story
}

// often is how many of each there are in a simulated day and site, on average.
var often = [numActions]float64{edits: 0.15, breaks: 0.1, mends: 0.3, reloads: 0.15, crashes: 0.08, cuts: 0.05, joins: 0.2, comes: 20, passes: 1, reads: 1, ignores: 1}

// newPlan makes a world from a seed. In one of four the owner edits, and processes end, most
// days.
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

// managedDays is how long a world lasts in which the owner publishes by rules: all
// instances look at the history each minute, which takes its time.
const managedDays = 6

// manage decides whether the owner publishes by rules. It has dice of its own, as all that
// was added later has.
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
	p.twins = !p.holdsRates && rand.New(rand.NewPCG(p.seed, 13)).IntN(3) == 0
}

// managedDensity is how much more often something happens in such a world.
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

// act adds what happens in some worlds alone.
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
		defer func() { add(builds, 4*p.days*p.hosts) }() // the others stay as they are
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
	if p.redirects && p.hosts == 2 {
		add(crosses, p.days/6)
	}
	if !p.manages {
		add(empties, p.days/6)
	}
}

// stroll adds thirty hours in which the search engine asks each 150 seconds.
func (p *plan) stroll(dice *rand.Rand) {
	began := time.Duration(dice.Int64N(int64(p.days-2) * int64(24*time.Hour)))
	for at := began; at < began+30*time.Hour; at += 150 * time.Second {
		p.events = append(p.events, event{at, strolls, dice.Uint64()})
	}
}

// tokens are those of crawlers, and those that texts name.
var tokens = []string{"Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "AhrefsBot", "SemrushBot", "Amazonbot", slow}

// slow is a crawler that may keep a copy for longer than others, by its operator's word.
const slow, slowLag = "DuckAssistBot", 72 * time.Hour

// newText writes a robots.txt.
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
