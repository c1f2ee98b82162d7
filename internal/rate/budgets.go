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

// Spender is who asks.
type Spender struct {
	// Site is whose robots.txt it is, and Invented says that clients choose that.
	Site     *policy.Key
	Invented bool
	// Token is the crawler's name as the registry, a robots.txt or a limit spells it, ""
	// if none does: clients can invent all others.
	Token    string
	Identity verify.State
	// Many says that whoever likes runs what has the name: a library, a feed reader.
	Many bool
	// Network is where the request comes from, as addr.Network has it. Of a verified
	// crawler with a token nobody looks at it.
	Network netip.Prefix
	// Holds is where the request has taken a place before, nil if nowhere: it takes no
	// second one there.
	Holds *Places
}

// Budgets are those of all crawlers at all sites. They are bounded: of those that
// share a bucket the least recently used goes, which is then as if it had never asked.
// What one spends no other can: impostors neither spend what a verified crawler has
// nor put it out, nor do sites that clients invent put out others.
//
// Several goroutines may use Budgets at once. No request waits for another, but for
// those of whom nothing is known yet.
type Budgets struct {
	start           time.Time
	seed            maphash.Seed
	named, invented tables // for sites that the configuration names, and for others
	peers           peers
}

// tables are the budgets of a part of the sites.
type tables struct {
	verified *table // by site and crawler
	claimed  *table // by site and name: what all spend who claim to have it
	networks *table // by site, network and, of those that claim to be one, name
}

// How many budgets there are at most; one takes about 180 bytes.
const (
	maxCrawlers = 4096
	maxNetworks = 16384
	maxInvented = 1024
)

// NewBudgets returns budgets from which nothing was spent before start.
func NewBudgets(start time.Time) *Budgets {
	b := &Budgets{start: start, seed: maphash.MakeSeed()}
	b.named = tables{newTable(maxCrawlers), newTable(maxCrawlers), newTable(maxNetworks)}
	b.invented = tables{newTable(maxInvented), newTable(maxInvented), newTable(maxInvented)}
	return b
}

// Spend takes a request from whose budget it is and tells how fast that one is:
//   - of a verified crawler all requests to a site are one budget, from whatever
//     addresses they come;
//   - who claims to be a crawler spends from the budget of its network, and then from
//     one that all share who claim so, unless many run what has the name;
//   - who uses a false name, or one that nobody knows, spends from that of its network.
//
// What the owner has set otherwise is spent from another budget, so that no milder limit
// makes room in it, nor a stricter one takes any. What is one too many by the network's
// budget takes nothing from the shared one, nor the other way round. It
// does not allocate, unless nothing was spent from the budget yet.
//
// What is one too many is slowed where the rules say so. With [Spare] that is no more
// than one in twenty of the requests in the last 24 hours, of a verified crawler or of
// each network that claims to be one, so that no impostor moves that share to another;
// and none any more once that has lasted for 24 hours without a pause of one in which
// none was one too many. After 24 such hours it may be again.
//
// Where the rules say how many requests may be under way at once, a request that is none
// too many holds a place until the caller gives it back.
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
	if limit := rules.Owner; limit.Interval > 0 { // guards of a site may have several
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

// tablesOf returns the tables that have the budgets of whoever asks.
func (b *Budgets) tablesOf(who *Spender) *tables {
	if who.Invented {
		return &b.invented
	}
	return &b.named
}

// Len returns how many budgets there are.
func (b *Budgets) Len() (n int) {
	for _, p := range []tables{b.named, b.invented} {
		n += p.verified.len() + p.claimed.len() + p.networks.len()
	}
	return n
}

// hashSite tells sites apart. What differs in the server, too, is another site.
func (b *Budgets) hashSite(site *policy.Key) uint64 {
	h := maphash.String(b.seed, site.Host)
	if site.Secure {
		h = ^h // by more than limits or networks differ in
	}
	if len(site.Source)|len(site.Server)|len(site.ForwardedHost) > 0 { // most have none
		for _, s := range [...]string{site.Source, site.Server, site.ForwardedHost} {
			h = mix(h ^ maphash.String(b.seed, s))
		}
	}
	return h
}

// hashName tells names at a site apart.
func (b *Budgets) hashName(site uint64, token string) uint64 {
	return mix(bits.RotateLeft64(site, 32) ^ maphash.String(b.seed, token))
}

// hashNetwork tells networks of those with the same hash apart.
func (b *Budgets) hashNetwork(h uint64, network netip.Prefix) uint64 {
	address := network.Addr().As16()
	high, low := binary.LittleEndian.Uint64(address[:8]), binary.LittleEndian.Uint64(address[8:])
	// One half is always the same: of a /48 the low one, of a /24 the high one. The last
	// byte of the other one is 0, and tells which it is.
	return mix(h ^ high ^ low ^ uint64(network.Bits())<<56)
}

// mix spreads what a hash tells over all its bits (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
