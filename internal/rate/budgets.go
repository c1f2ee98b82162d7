package rate

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"net/netip"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Spender identifies the client of a request.
type Spender struct {
	// Site is the key of the robots.txt. Invented is true for an unknown host.
	Site     *policy.Key
	Invented bool
	// Token is the name of the crawler as in the registry, a robots.txt or a limit. It is "" for
	// any other name, because clients can invent names.
	Token    string
	Identity verify.State
	// Many is true for software that anybody can run, such as a library or a feed reader.
	Many bool
	// Network is the network of the client, from addr.Network. It is not used for a verified
	// crawler with a token.
	Network netip.Prefix
	// Holds is the place that the request already has, or nil. The request does not take a
	// second place there.
	Holds *Places
}

// Budgets are the budgets of all crawlers at all sites. Their number is bounded: a new budget
// replaces the least recently used budget of its bucket. Spoofed clients neither use nor evict
// the budget of a verified crawler. Unknown hosts do not evict the budgets of configured hosts.
//
// Several goroutines may use Budgets at once. A request waits for another only to add a new
// budget.
type Budgets struct {
	start           time.Time
	seed            maphash.Seed
	named, invented tables // for configured sites and for unknown hosts
	peers           peers
}

// tables are the budgets of configured or of unknown sites.
type tables struct {
	verified *table // by site and crawler
	claimed  *table // by site and claimed name
	networks *table // by site, network and claimed name
}

// Maximum numbers of budgets. A budget takes about 180 bytes.
const (
	maxCrawlers = 4096
	maxNetworks = 16384
	maxInvented = 1024
)

// NewBudgets returns empty budgets with a clock that begins at start.
func NewBudgets(start time.Time) *Budgets {
	b := &Budgets{start: start, seed: maphash.MakeSeed()}
	b.named = tables{newTable(maxCrawlers), newTable(maxCrawlers), newTable(maxNetworks)}
	b.invented = tables{newTable(maxInvented), newTable(maxInvented), newTable(maxInvented)}
	return b
}

// Spend charges a request to the budgets of its client and returns the pace of the client:
//   - A verified crawler has one budget for each site, from all addresses.
//   - A claimed crawler uses the budget of its network, and then the shared budget of the
//     claimed name. Software that anybody can run has no shared budget.
//   - A spoofed or unknown client uses the budget of its network.
//
// Each configured limit has a separate budget, so that limits do not affect each other. A
// request over the budget of its network is not charged to the shared budget, and vice versa.
// Spend allocates only for the first request of a budget.
//
// In mode [Enforce] a request over the rate is slowed. In mode [Spare] at most one in twenty of
// the requests in the last 24 hours is slowed, for each verified crawler and for each network
// with a claimed name. After slowing for 24 hours, Spare slows no more requests until the
// crawler has stayed within the rate for 24 hours.
//
// If the rules limit concurrent requests, a request within the rate holds a place until the
// caller gives it back.
func (b *Budgets) Spend(at time.Time, who *Spender, rules *Rules) (pace Pace) {
	asked := rules.File.Interval > 0 || rules.Owner.Interval > 0
	if !asked && rules.Concurrent <= 0 {
		return pace
	}
	now := max(0, at.Sub(b.start))
	site := b.hashSite(who.Site)
	var own, entered *budget
	full := false
	if rules.Concurrent > 0 {
		entered, full = b.enter(site, now, who, rules)
		own = entered
	}
	if asked {
		own = b.pace(&pace, site, now, who, rules, full)
	}
	if full {
		pace.Full, pace.Over, pace.Limited = true, true, true
		pace.Wait = max(pace.Wait, placeWait)
	}
	stops := pace.stops(rules)
	switch rules.Mode {
	case Enforce:
		pace.Slowed = stops
	case Spare:
		pace.Slowed, pace.Ended = own.slowingOf().slow(now, stops)
	}
	pace.settle(entered, who, full, stops)
	return pace
}

// pace takes a request from whose budgets it is. own is the one that nobody else spends
// from. full says that the request has found no place. It fills in the pace, as to return
// one would be to copy it three times, which took half of the time.
func (b *Budgets) pace(pace *Pace, site uint64, now time.Duration, who *Spender, rules *Rules, full bool) (own *budget) {
	if limit := rules.Owner; limit.Interval > 0 { // the guards of a site may have different limits
		site = mix(site ^ uint64(limit.Interval)<<10 ^ uint64(limit.Burst))
	}
	p, name := b.tablesOf(who), b.hashName(site, who.Token)
	switch {
	case who.Token == "" || who.Identity == verify.Spoofed:
		own = p.networks.find(b.hashNetwork(site, who.Network), now)
		own.spend(pace, now, rules, false, full)
		return own
	case who.Identity == verify.Verified:
		own = p.verified.find(name, now)
		b.spend(own, p.verified, pace, now, who, rules, full)
		return own
	}
	own = p.networks.find(b.hashNetwork(name, who.Network), now)
	took := own.spend(pace, now, rules, false, full)
	if who.Many {
		return own
	}
	byNetwork, all := *pace, p.claimed.find(name, now)
	if byNetwork.stops(rules) {
		pace.Wait = max(pace.Wait, all.next(now, rules))
		return own
	}
	tookOfAll := b.spend(all, p.claimed, pace, now, who, rules, full)
	switch stops := pace.stops(rules); {
	case stops || full:
		own.giveBack(took)
		own.uncount(all, tookOfAll, now, rules)
	case byNetwork.Over:
		*pace = byNetwork
	}
	return own
}

// spend takes a request from the budget of a crawler, which other instances share.
func (b *Budgets) spend(of *budget, in *table, pace *Pace, now time.Duration, who *Spender, rules *Rules, full bool) taken {
	sharing := b.peers.sharing.Load() && !who.Invented
	if sharing && of.name.Load() == 0 {
		b.peers.name(of, in, nameOf(who, rules.Owner))
	}
	return of.spend(pace, now, rules, sharing, full)
}

// tablesOf returns the tables for a client.
func (b *Budgets) tablesOf(who *Spender) *tables {
	if who.Invented {
		return &b.invented
	}
	return &b.named
}

// Len returns the number of budgets.
func (b *Budgets) Len() (n int) {
	for _, p := range []tables{b.named, b.invented} {
		n += p.verified.len() + p.claimed.len() + p.networks.len()
	}
	return n
}

// hashSite returns a hash of a site, including its server.
func (b *Budgets) hashSite(site *policy.Key) uint64 {
	h := maphash.String(b.seed, site.Host)
	if site.Secure {
		h = ^h // by more than limits or networks differ in
	}
	if len(site.Source)|len(site.Server)|len(site.ForwardedHost) > 0 { // most sites have none
		for _, s := range [...]string{site.Source, site.Server, site.ForwardedHost} {
			h = mix(h ^ maphash.String(b.seed, s))
		}
	}
	return h
}

// hashName returns a hash of a name at a site.
func (b *Budgets) hashName(site uint64, token string) uint64 {
	return mix(bits.RotateLeft64(site, 32) ^ maphash.String(b.seed, token))
}

// hashNetwork adds a network to a hash.
func (b *Budgets) hashNetwork(h uint64, network netip.Prefix) uint64 {
	address := network.Addr().As16()
	high, low := binary.LittleEndian.Uint64(address[:8]), binary.LittleEndian.Uint64(address[8:])
	// One half is always the same: of a /48 the low one, of a /24 the high one. The last
	// byte of the other one is 0, and tells which it is.
	return mix(h ^ high ^ low ^ uint64(network.Bits())<<56)
}

// mix spreads the entropy of a hash over all bits (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
