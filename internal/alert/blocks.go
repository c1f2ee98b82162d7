package alert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	maxBlocks = 256 // rules by which search engines were blocked
	maxPath   = 200 // bytes of an example

	// A verified search engine causes an alert at once. An unverified one must be blocked for
	// claimedAfter, with gaps of at most claimedGap.
	claimedAfter = 15 * time.Minute
	claimedGap   = 10 * time.Minute

	// Times for which an alert stays open after the last block, and after a reload. The
	// configuration can now let the search engine pass without further blocks.
	verifiedHolds = 24 * time.Hour
	claimedHolds  = time.Hour
	reloadHolds   = time.Hour
	// reloadTakes is the time for which the previous configuration can still block.
	reloadTakes = 30 * time.Second
)

// Block is a search engine that was blocked by a rule for other crawlers. See
// [judge.Result.BlocksSearch].
type Block struct {
	Site     string       // its label
	Crawler  string       // token, or judge.OtherName
	Identity verify.State // verified, claimed or unknown
	Rule     string       // in robots.txt syntax
	Line     int
	Group    string // the user-agent line of its group
	Path     string
}

// blocks remember them since the start. The zero value is empty.
type blocks struct {
	mu  sync.RWMutex
	all map[blockKey]*blocked
}

type blockKey struct {
	site, crawler, rule, group string
	verified                   bool
}

type blocked struct {
	Block
	first time.Time    // of a time without gaps, or since there is an alert
	shown time.Time    // when what the Block says was so
	nanos atomic.Int64 // of the last, since 1970
}

// last returns the time of the last block.
func (x *blocked) last() time.Time { return time.Unix(0, x.nanos.Load()) }

// Blocked records a blocked search engine. Requests call it. It waits for other calls only.
func (b *Book) Blocked(x Block) { b.blocks.note(x, b.now()) }

func (b *blocks) note(x Block, now time.Time) {
	key := blockKey{x.Site, x.Crawler, x.Rule, x.Group, x.Identity == verify.Verified}
	if b.again(key, now) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.all[key]
	if known == nil {
		if len(b.all) >= maxBlocks && !b.makeRoom(key.verified) {
			return
		}
		if b.all == nil {
			b.all = make(map[blockKey]*blocked)
		}
		key.site, key.crawler, key.rule, key.group = strings.Clone(x.Site), strings.Clone(x.Crawler), strings.Clone(x.Rule), strings.Clone(x.Group)
		known = &blocked{first: now}
		b.all[key] = known
	} else if now.Sub(known.last()) > claimedGap && !known.counts(key, now) {
		known.first = now
	}
	known.Block = x
	known.Site, known.Crawler, known.Rule, known.Group = key.site, key.crawler, key.rule, key.group
	known.Path = strings.Clone(text.Cut(x.Path, maxPath))
	known.shown = now
	known.nanos.Store(now.UnixNano())
}

// again updates the time of a block that was recorded within the last second, under a read
// lock. It reports whether there is one.
func (b *blocks) again(key blockKey, now time.Time) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	known := b.all[key]
	if known == nil {
		return false
	}
	since := now.Sub(known.shown)
	if since < 0 || since >= time.Second {
		return false
	}
	known.nanos.Store(now.UnixNano())
	return true
}

// makeRoom removes the oldest block, unverified clients first. An unverified client never
// displaces a verified one. b.mu must be held.
func (b *blocks) makeRoom(forVerified bool) bool {
	var oldest *blocked
	var at blockKey
	for key, x := range b.all {
		if key.verified && !forVerified {
			continue
		}
		if oldest == nil || at.verified && !key.verified || at.verified == key.verified && x.last().Before(oldest.last()) {
			oldest, at = x, key
		}
	}
	delete(b.all, at)
	return oldest != nil
}

// find returns the current findings in order.
func (b *blocks) find(live map[string]report.Live, reloaded, now time.Time) (found []finding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, x := range b.all {
		if now.Sub(x.last()) >= key.holds() {
			delete(b.all, key)
			continue
		}
		state := live[x.Site].State
		switch {
		case x.last().Before(reloaded.Add(reloadTakes)) && now.Sub(reloaded) >= reloadHolds:
		case state != nil && state.Good != nil && state.Good.FirstRead.After(x.last()): // another version
		case state != nil && alwaysClosed(state): // as on a staging site
		case !x.counts(key, now):
		case key.verified:
			found = append(found, finding{Alert: x.alert(Critical)})
		default:
			found = append(found, finding{Alert: x.alert(Warning)})
		}
	}
	slices.SortFunc(found, func(x, y finding) int { return cmp.Compare(x.ID, y.ID) })
	return found
}

// holds returns the time for which an alert stays open.
func (k blockKey) holds() time.Duration {
	if k.verified {
		return verifiedHolds
	}
	return claimedHolds
}

// counts reports whether a block causes an alert. A pause does not end the alert early, so
// that irregular clients do not open and close it repeatedly.
func (x *blocked) counts(key blockKey, now time.Time) bool {
	return now.Sub(x.last()) < key.holds() && (key.verified || x.last().Sub(x.first) >= claimedAfter)
}

// alert returns the alert of a block.
func (x *blocked) alert(severity Severity) Alert {
	name, who := x.Crawler, "It is verified."
	if name == judge.OtherName {
		name = "A search engine"
	}
	title := name + " is blocked at " + x.Site
	if x.Identity != verify.Verified {
		title = fmt.Sprintf("A client that claims to be %s is blocked at %s", strings.Replace(name, "A search", "a search", 1), x.Site)
		who = fmt.Sprintf("It is not known to be the search engine: its identity is %s.", x.Identity)
	}
	return Alert{
		ID: idOf(SearchBlocked, x.Site, x.Crawler, string(severity), x.Rule, x.Group), Kind: SearchBlocked, Severity: severity,
		Site: x.Site, Crawler: x.Crawler, Since: x.first, Title: title,
		Detail: fmt.Sprintf("%s Line %d, %q of User-agent: %s, disallows %s. No group of the robots.txt names this crawler.",
			who, x.Line, text.Printable(x.Rule), text.Printable(x.Group), text.Printable(x.Path)),
		Do: searchCure, Copy: searchLine(x.Crawler, x.Identity == verify.Verified),
	}
}

// searchCure is the remedy for a search engine that is blocked by a rule for other crawlers.
// The dashboard and the Prometheus rules contain the same text.
const searchCure = "Correct the rule, or write this into robots_guard of the site and reload."

// searchLine returns the line of searchCure for a crawler. The class search stands for a
// crawler without a name of its own.
func searchLine(crawler string, verified bool) string {
	if crawler == judge.OtherName {
		crawler = "search"
	}
	if verified {
		return "only_log verified " + quotedToken(crawler)
	}
	return "only_log " + quotedToken(crawler)
}

// quotedToken quotes a token for a Caddyfile.
func quotedToken(token string) string {
	if strings.ContainsAny(token, " \t") {
		return `"` + token + `"`
	}
	return token
}
