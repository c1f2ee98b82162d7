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

// Client identifies the client of a request for [Budgets.ChargeRequest].
type Client struct {
	// Site is the key of the robots.txt. UnknownHost is true if the configuration does not name the
	// host.
	Site        *policy.Key
	UnknownHost bool
	// Token is the name of the crawler as in the registry, a robots.txt or a limit. It is "" for
	// any other name, because clients can invent names.
	Token    string
	Identity verify.State
	// IsSharedSoftware is true for software that anybody can run, for example a library or a feed reader.
	IsSharedSoftware bool
	// Network is the network of the client, from addr.NetworkOfAddr. It is not used for a verified
	// crawler with a token.
	Network netip.Prefix
	// HeldSlot is the slot that the request already holds, or nil. The request acquires no second
	// slot of the same budget.
	HeldSlot *Concurrency
}

// Budgets contains the budgets of all crawlers at all sites. Their number is bounded. A new budget
// replaces the least recently used budget of its hash bucket. Spoofed clients neither use nor evict
// the budget of a verified crawler. Unknown hosts do not evict the budgets of configured hosts.
//
// Budgets is safe for concurrent use. A request waits for another request only to add a new budget.
type Budgets struct {
	start                           time.Time
	seed                            maphash.Seed
	configuredTables, unknownTables budgetTables // These are the tables for configured sites and for unknown hosts.
	peers                           peers
}

// budgetTables are the budgets of all configured sites, or of all unknown hosts.
type budgetTables struct {
	verified *table // The key consists of site and crawler.
	claimed  *table // The key consists of site and claimed name.
	// The key consists of site and network, and of the claimed name if the client has a token and
	// is not spoofed.
	networks *table
}

// These are maximum numbers of budgets. A budget needs about 180 bytes.
const (
	maxCrawlerBudgets     = 4096
	maxNetworkBudgets     = 16384
	maxUnknownHostBudgets = 1024
)

// NewBudgets returns empty budgets with a clock that begins at start.
func NewBudgets(start time.Time) *Budgets {
	b := &Budgets{start: start, seed: maphash.MakeSeed()}
	b.configuredTables = budgetTables{newTable(maxCrawlerBudgets), newTable(maxCrawlerBudgets), newTable(maxNetworkBudgets)}
	b.unknownTables = budgetTables{newTable(maxUnknownHostBudgets), newTable(maxUnknownHostBudgets), newTable(maxUnknownHostBudgets)}
	return b
}

// ChargeRequest charges a request to the budgets of its client and returns the pace of the client:
//   - A verified crawler has one budget for each site, from all addresses.
//   - A crawler that is neither verified nor spoofed uses the budget of its network, and then the
//     budget of its claimed name, which all such networks share. Software that anybody can run has
//     no shared budget.
//   - A spoofed client, or a client without a token, uses the budget that all such clients of its
//     network share.
//
// Each configured limit has a separate budget, so that limits do not affect each other. A request
// over the budget of its network is not charged to the shared budget, and vice versa. ChargeRequest
// allocates only for the first request of a budget.
//
// In mode [Enforce] each request over the enforced rate gets 429. In mode [SlowSearch] at most one
// in twenty of the requests in the last 24 hours gets 429, for each verified crawler and for each
// network with a claimed name. After 24 hours with such responses, ChargeRequest passes all
// requests on until the crawler has stayed within the rate for 24 hours.
//
// If the rules limit concurrent requests, a request within the rate holds a slot until the caller
// calls [Concurrency.ReleaseSlot].
func (b *Budgets) ChargeRequest(at time.Time, client *Client, rules *Rules) (pace Pace) {
	hasRate := rules.CrawlDelay.Interval > 0 || rules.ConfiguredLimit.Interval > 0
	if !hasRate && rules.Concurrent <= 0 {
		return pace
	}
	now := max(0, at.Sub(b.start))
	site := b.hashSite(client.Site)
	var clientBudget, slotBudget *budget
	slotsFull := false
	if rules.Concurrent > 0 {
		slotBudget, slotsFull = b.acquireSlot(site, now, client, rules)
		clientBudget = slotBudget
	}
	if hasRate {
		clientBudget = b.chargeClient(&pace, site, now, client, rules, slotsFull)
	}
	if slotsFull {
		pace.IsOverConcurrent, pace.IsOverRate, pace.IsOverLimit = true, true, true
		pace.Wait = max(pace.Wait, concurrentRetryAfter)
	}
	isStopped := pace.exceedsEnforcedRate(rules)
	switch rules.Mode {
	case Enforce:
		pace.MustSlow = isStopped
	case SlowSearch:
		pace.MustSlow, pace.SlowingEnded = clientBudget.getOrAddSearchSlowing().shouldSlow(now, isStopped)
	}
	pace.keepOrReleaseSlot(slotBudget, client, slotsFull, isStopped)
	return pace
}

// chargeClient charges a request to the budgets of its client. own is the budget of this client
// alone, or of its network. slotsFull is true if the request found no free slot. chargeClient
// writes to pace, because returning a Pace would copy it three times, and double the running time.
func (b *Budgets) chargeClient(pace *Pace, site uint64, now time.Duration, client *Client, rules *Rules, slotsFull bool) (own *budget) {
	if limit := rules.ConfiguredLimit; limit.Interval > 0 { // The guards of a site may have different limits.
		site = mixBits(site ^ uint64(limit.Interval)<<10 ^ uint64(limit.Burst))
	}
	p, name := b.tablesForClient(client), b.hashName(site, client.Token)
	switch {
	case client.Token == "" || client.Identity == verify.Spoofed:
		own = p.networks.findBudget(b.hashNetwork(site, client.Network), now)
		own.chargeRequest(pace, now, rules, false, slotsFull)
		return own
	case client.Identity == verify.Verified:
		own = p.verified.findBudget(name, now)
		b.chargeSharedBudget(own, p.verified, pace, now, client, rules, slotsFull)
		return own
	}
	own = p.networks.findBudget(b.hashNetwork(name, client.Network), now)
	charged := own.chargeRequest(pace, now, rules, false, slotsFull)
	if client.IsSharedSoftware {
		return own
	}
	byNetwork, all := *pace, p.claimed.findBudget(name, now)
	if byNetwork.exceedsEnforcedRate(rules) {
		pace.Wait = max(pace.Wait, all.timeUntilWithinRate(now, rules))
		return own
	}
	chargedToName := b.chargeSharedBudget(all, p.claimed, pace, now, client, rules, slotsFull)
	switch stops := pace.exceedsEnforcedRate(rules); {
	case stops || slotsFull:
		own.refundCharge(charged)
		own.refundSharedCount(all, chargedToName, now, rules)
	case byNetwork.IsOverRate:
		*pace = byNetwork
	}
	return own
}

// chargeSharedBudget charges a request to a crawler name's budget, which other instances share.
// sharedTable is the table of the budget.
func (b *Budgets) chargeSharedBudget(shared *budget, sharedTable *table, pace *Pace, now time.Duration, client *Client, rules *Rules, slotsFull bool) budgetCharge {
	sharing := b.peers.isSharing.Load() && !client.UnknownHost
	if sharing && shared.sharedID.Load() == 0 {
		b.peers.addSharedBudget(shared, sharedTable, newSharedID(client, rules.ConfiguredLimit))
	}
	return shared.chargeRequest(pace, now, rules, sharing, slotsFull)
}

// tablesForClient returns the tables with the budgets of a client: those of configured sites or of
// unknown hosts.
func (b *Budgets) tablesForClient(client *Client) *budgetTables {
	if client.UnknownHost {
		return &b.unknownTables
	}
	return &b.configuredTables
}

// Len returns the number of budgets of all clients.
func (b *Budgets) Len() (n int) {
	for _, p := range []budgetTables{b.configuredTables, b.unknownTables} {
		n += p.verified.len() + p.claimed.len() + p.networks.len()
	}
	return n
}

// hashSite returns a hash of a site, including its server.
func (b *Budgets) hashSite(site *policy.Key) uint64 {
	h := maphash.String(b.seed, site.Host)
	if site.IsHTTPS {
		h = ^h // This changes more bits than another limit or network does.
	}
	if len(site.Source)|len(site.Server)|len(site.ForwardedHost) > 0 { // For most sites, all of these are empty.
		for _, s := range [...]string{site.Source, site.Server, site.ForwardedHost} {
			h = mixBits(h ^ maphash.String(b.seed, s))
		}
	}
	return h
}

// hashName returns a hash of a crawler name at a site. site is a hash of [Budgets.hashSite].
func (b *Budgets) hashName(site uint64, token string) uint64 {
	return mixBits(bits.RotateLeft64(site, 32) ^ maphash.String(b.seed, token))
}

// hashNetwork returns a hash of a network together with h, the hash of a site or of a name.
func (b *Budgets) hashNetwork(h uint64, network netip.Prefix) uint64 {
	address := network.Addr().As16()
	high, low := binary.LittleEndian.Uint64(address[:8]), binary.LittleEndian.Uint64(address[8:])
	// One half of the address is always zero. The last byte of the other half is zero too, because
	// networks are at most a /48 or a /24. This byte receives the length of the prefix.
	return mixBits(h ^ high ^ low ^ uint64(network.Bits())<<56)
}

// mixBits spreads the entropy of a hash over all bits (the finalizer of MurmurHash3).
func mixBits(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
