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
	returns // one that has read, and disobeys later
	numActions
)

func (a action) String() string {
	return [...]string{"edit", "break", "mend", "reload", "crash", "cut", "join", "visit", "pass", "read and ignore", "ignore", "return"}[a]
}

// plan is a world that can be run: what is in it, and what happens.
type plan struct {
	seed                     uint64
	hosts, instances         int
	verifies, stores, guards bool
	skews                    [3]time.Duration // by which the clocks of instances are ahead
	events                   []event
	tells                    bool // the world its story
}

// maxSkew is how far two clocks may be apart.
const maxSkew = time.Hour

// often is how many of each there are in a simulated day and site, on average.
var often = [numActions]float64{edits: 0.15, breaks: 0.1, mends: 0.3, reloads: 0.15, crashes: 0.08, cuts: 0.05, joins: 0.2, comes: 20, passes: 1, reads: 1, ignores: 1, returns: 1}

// newPlan makes a world from a seed. In one of four the owner edits, and processes end, most
// days.
func newPlan(seed uint64, days int) plan {
	dice := rand.New(rand.NewPCG(seed, 1))
	p := plan{seed: seed, hosts: 1 + dice.IntN(2), instances: 1 + dice.IntN(3), verifies: dice.IntN(2) == 0, stores: dice.IntN(3) > 0, guards: dice.IntN(4) == 0}
	p.stores = p.stores || p.instances > 1
	for what, n := range often {
		if busy := seed%4 == 3; busy && (action(what) == edits || action(what) == crashes) {
			n *= 8
		}
		for range int(n*float64(days*p.hosts) + dice.Float64()) {
			p.events = append(p.events, event{time.Duration(dice.Int64N(int64(days) * int64(24*time.Hour))), action(what), dice.Uint64()})
		}
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at/1000 - b.at/1000) })
	if p.instances > 1 && dice.IntN(2) == 0 {
		for n := range p.instances {
			p.skews[n] = time.Duration(dice.Int64N(int64(maxSkew/time.Second))) * time.Second
		}
	}
	return p
}

// tokens are those of crawlers, and those that texts name.
var tokens = []string{"Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "AhrefsBot", "SemrushBot", "Amazonbot"}

// newText writes a robots.txt.
func newText(dice *rand.Rand) string {
	rules := []string{"/", "/a/", "/a/x", "/b", "/b/z$", "/*?", "/c", "/d/e", ""}
	var b strings.Builder
	for range 1 + dice.IntN(3) {
		names := []string{"*", "*", tokens[dice.IntN(len(tokens))], tokens[dice.IntN(len(tokens))]}
		fmt.Fprintf(&b, "User-agent: %s\n", names[dice.IntN(len(names))])
		if dice.IntN(8) == 0 {
			b.WriteString("Crawl-delay: 1\n")
		}
		for range 1 + dice.IntN(3) {
			fmt.Fprintf(&b, "%s: %s\n", []string{"Disallow", "Disallow", "Allow"}[dice.IntN(3)], rules[dice.IntN(len(rules))])
		}
	}
	return b.String()
}
