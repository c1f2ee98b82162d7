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
	// minUnverifiedTime, with gaps of at most maxUnverifiedGap.
	minUnverifiedTime = 15 * time.Minute
	maxUnverifiedGap  = 10 * time.Minute

	// Times for which an alert stays open after the last block, and after a reload. The
	// configuration can now let the search engine pass without further blocks.
	verifiedAlertDuration   = 24 * time.Hour
	unverifiedAlertDuration = time.Hour
	reloadAlertDuration     = time.Hour
	// reloadDuration is the time for which the previous configuration can still block.
	reloadDuration = 30 * time.Second
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

// searchBlocks records the blocks of search engines since the start. The zero value is empty.
type searchBlocks struct {
	mu    sync.RWMutex
	byKey map[blockKey]*blockRecord
}

type blockKey struct {
	site, crawler, rule, group string
	verified                   bool
}

type blockRecord struct {
	Block
	start     time.Time    // start of a period without gaps, or of the alert
	updated   time.Time    // time of the recorded Block
	lastNanos atomic.Int64 // time of the last block, in Unix nanoseconds
}

// last returns the time of the last block.
func (x *blockRecord) last() time.Time { return time.Unix(0, x.lastNanos.Load()) }

// RecordBlock records a blocked search engine. Requests call it. It waits for other calls only.
func (b *Manager) RecordBlock(block Block) { b.blocks.record(block, b.now()) }

func (b *searchBlocks) record(block Block, now time.Time) {
	key := blockKey{block.Site, block.Crawler, block.Rule, block.Group, block.Identity == verify.Verified}
	if b.recordRepeat(key, now) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	rec := b.byKey[key]
	if rec == nil {
		if len(b.byKey) >= maxBlocks && !b.makeRoom(key.verified) {
			return
		}
		if b.byKey == nil {
			b.byKey = make(map[blockKey]*blockRecord)
		}
		key.site, key.crawler, key.rule, key.group = strings.Clone(block.Site), strings.Clone(block.Crawler), strings.Clone(block.Rule), strings.Clone(block.Group)
		rec = &blockRecord{start: now}
		b.byKey[key] = rec
	} else if now.Sub(rec.last()) > maxUnverifiedGap && !rec.causesAlert(key, now) {
		rec.start = now
	}
	rec.Block = block
	rec.Site, rec.Crawler, rec.Rule, rec.Group = key.site, key.crawler, key.rule, key.group
	rec.Path = strings.Clone(text.Truncate(block.Path, maxPath))
	rec.updated = now
	rec.lastNanos.Store(now.UnixNano())
}

// recordRepeat updates the time of a block that was recorded within the last second, under a read
// lock. It reports whether there is one.
func (b *searchBlocks) recordRepeat(key blockKey, now time.Time) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	rec := b.byKey[key]
	if rec == nil {
		return false
	}
	age := now.Sub(rec.updated)
	if age < 0 || age >= time.Second {
		return false
	}
	rec.lastNanos.Store(now.UnixNano())
	return true
}

// makeRoom removes the oldest block, unverified clients first. An unverified client never
// displaces a verified one. b.mu must be held.
func (b *searchBlocks) makeRoom(forVerified bool) bool {
	var oldest *blockRecord
	var oldestKey blockKey
	for key, x := range b.byKey {
		if key.verified && !forVerified {
			continue
		}
		if oldest == nil || oldestKey.verified && !key.verified || oldestKey.verified == key.verified && x.last().Before(oldest.last()) {
			oldest, oldestKey = x, key
		}
	}
	delete(b.byKey, oldestKey)
	return oldest != nil
}

// find returns the current findings in order.
func (b *searchBlocks) find(live map[string]report.Live, reloaded, now time.Time) (found []finding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, rec := range b.byKey {
		if now.Sub(rec.last()) >= key.alertDuration() {
			delete(b.byKey, key)
			continue
		}
		state := live[rec.Site].State
		switch {
		case rec.last().Before(reloaded.Add(reloadDuration)) && now.Sub(reloaded) >= reloadAlertDuration:
		case state != nil && state.Current != nil && state.Current.FirstFetched.After(rec.last()): // another version
		case state != nil && alwaysDisallowedAll(state): // as on a staging site
		case !rec.causesAlert(key, now):
		case key.verified:
			found = append(found, finding{Alert: rec.alert(Critical)})
		default:
			found = append(found, finding{Alert: rec.alert(Warning)})
		}
	}
	slices.SortFunc(found, func(rec, y finding) int { return cmp.Compare(rec.ID, y.ID) })
	return found
}

// alertDuration returns the time for which an alert stays open.
func (k blockKey) alertDuration() time.Duration {
	if k.verified {
		return verifiedAlertDuration
	}
	return unverifiedAlertDuration
}

// causesAlert reports whether a block causes an alert. A pause does not end the alert early, so
// that irregular clients do not open and close it repeatedly.
func (x *blockRecord) causesAlert(key blockKey, now time.Time) bool {
	return now.Sub(x.last()) < key.alertDuration() && (key.verified || x.last().Sub(x.start) >= minUnverifiedTime)
}

// alert returns the alert of a block.
func (x *blockRecord) alert(severity Severity) Alert {
	name, identity := x.Crawler, "It is verified."
	if name == judge.OtherName {
		name = "A search engine"
	}
	title := name + " is blocked at " + x.Site
	if x.Identity != verify.Verified {
		title = fmt.Sprintf("A client that claims to be %s is blocked at %s", strings.Replace(name, "A search", "a search", 1), x.Site)
		identity = fmt.Sprintf("It is not known to be the search engine: its identity is %s.", x.Identity)
	}
	return Alert{
		ID: newID(SearchBlocked, x.Site, x.Crawler, string(severity), x.Rule, x.Group), Kind: SearchBlocked, Severity: severity,
		Site: x.Site, Crawler: x.Crawler, Since: x.start, Title: title,
		Detail: fmt.Sprintf("%s Line %d, %q of User-agent: %s, disallows %s. No group of the robots.txt names this crawler.",
			identity, x.Line, text.Printable(x.Rule), text.Printable(x.Group), text.Printable(x.Path)),
		Remedy: searchRemedy, RemedySnippet: searchOption(x.Crawler, x.Identity == verify.Verified),
	}
}

// searchRemedy is the remedy for a search engine that is blocked by a rule for other crawlers.
// The dashboard and the Prometheus rules contain the same text.
const searchRemedy = "Correct the rule, or write this into robots_guard of the site and reload."

// searchOption returns the line of searchRemedy for a crawler. The class search stands for a
// crawler without a name of its own.
func searchOption(crawler string, verified bool) string {
	if crawler == judge.OtherName {
		crawler = "search"
	}
	if verified {
		return "only_log verified " + caddyfileQuote(crawler)
	}
	return "only_log " + caddyfileQuote(crawler)
}

// caddyfileQuote quotes a token for a Caddyfile.
func caddyfileQuote(token string) string {
	if strings.ContainsAny(token, " \t") {
		return `"` + token + `"`
	}
	return token
}
