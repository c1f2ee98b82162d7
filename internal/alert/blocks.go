package alert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// MaxBlocks is the maximum number of search engines and rules for which blocks are recorded.
const MaxBlocks = 256

const (
	maxPath = 200 // maxPath is the maximum length of an example path in bytes.

	// A verified search engine causes an alert at once. An unverified one must be blocked for
	// minUnverifiedTime, with gaps of at most maxUnverifiedGap.
	minUnverifiedTime = 15 * time.Minute
	maxUnverifiedGap  = 10 * time.Minute

	// These are the times for which an alert stays open after the last block, and after a reload. The
	// new configuration can let the search engine pass.
	verifiedAlertDuration   = 24 * time.Hour
	unverifiedAlertDuration = time.Hour
	reloadAlertDuration     = time.Hour

	// reloadDuration is the time after a load during which the previous configuration may still block.
	reloadDuration = 30 * time.Second
)

// BlockedSearchEngine is a search engine that a rule for other crawlers blocks at a site. See
// [judge.Result.BlocksSearch].
type BlockedSearchEngine struct {
	Site     string       // Site is the label of the site.
	Crawler  string       // Crawler is a product token, or judge.OtherName.
	Identity verify.State // Identity is verified, claimed or unknown.
}

// SearchBlock is a blocked request of a search engine, with the rule.
type SearchBlock struct {
	BlockedSearchEngine
	Rule  string // Rule is the rule as a line of robots.txt.
	Group string // Group is the name in the User-agent line of the rule's group.
	Line  int
	Path  string
}

// searchBlockRecorder records blocked requests of search engines since the start, by search engine
// and rule. The zero value is empty.
type searchBlockRecorder struct {
	mu    sync.Mutex
	byKey map[blockKey]*blockRecord
}

type blockKey struct {
	BlockedSearchEngine
	rule, group string
}

type blockRecord struct {
	SearchBlock
	firstBlock time.Time // firstBlock is the first block of the period without gaps, or of the alert.
	lastBlock  time.Time
}

// RecordBlock records that a request of a search engine was blocked now.
func (m *Manager) RecordBlock(block SearchBlock) { m.blocks.record(block, m.now()) }

// BlockedSearchEngines returns the recently blocked search engines, with the time of the last block
// of each.
func (m *Manager) BlockedSearchEngines() map[BlockedSearchEngine]time.Time {
	m.blocks.mu.Lock()
	defer m.blocks.mu.Unlock()
	last := make(map[BlockedSearchEngine]time.Time)
	for key, rec := range m.blocks.byKey {
		if rec.lastBlock.After(last[key.BlockedSearchEngine]) {
			last[key.BlockedSearchEngine] = rec.lastBlock
		}
	}
	return last
}

func (b *searchBlockRecorder) record(block SearchBlock, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := blockKey{block.BlockedSearchEngine, block.Rule, block.Group}
	rec := b.byKey[key]
	if rec == nil {
		if len(b.byKey) >= MaxBlocks && !b.evictOldest(block.Identity) {
			return
		}
		if b.byKey == nil {
			b.byKey = make(map[blockKey]*blockRecord)
		}
		block.Site, block.Crawler, block.Rule, block.Group = strings.Clone(block.Site), strings.Clone(block.Crawler), strings.Clone(block.Rule), strings.Clone(block.Group)
		block.Path = strings.Clone(text.Truncate(block.Path, maxPath))
		rec = &blockRecord{SearchBlock: block, firstBlock: now}
		b.byKey[blockKey{block.BlockedSearchEngine, block.Rule, block.Group}] = rec
	} else if now.Sub(rec.lastBlock) > maxUnverifiedGap && !rec.causesAlert(now) {
		rec.firstBlock = now
	}
	rec.Line, rec.lastBlock = block.Line, now
}

// evictOldest makes room for a search engine with the given identity, by removing the entry with
// the oldest block, unverified clients first. evictOldest returns false if the new client is
// unverified and all entries are verified. The caller must have locked b.mu.
func (b *searchBlockRecorder) evictOldest(identity verify.State) bool {
	var oldest *blockRecord
	var oldestKey blockKey
	for key, rec := range b.byKey {
		isVerified := rec.Identity == verify.Verified
		switch {
		case isVerified && identity != verify.Verified:
		case oldest == nil, isVerified == (oldest.Identity == verify.Verified) && rec.lastBlock.Before(oldest.lastBlock), !isVerified && oldest.Identity == verify.Verified:
			oldest, oldestKey = rec, key
		}
	}
	delete(b.byKey, oldestKey)
	return oldest != nil
}

// currentAlerts returns the open alerts about blocked search engines, sorted by ID. live has the
// sites by name. lastLoad is the time at which the configuration was loaded.
func (b *searchBlockRecorder) currentAlerts(live map[string]report.SiteState, lastLoad, now time.Time) (found []Alert) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, rec := range b.byKey {
		if now.Sub(rec.lastBlock) >= rec.alertDuration() {
			delete(b.byKey, key)
			continue
		}
		state := live[rec.Site].State
		switch {
		case rec.lastBlock.Before(lastLoad.Add(reloadDuration)) && now.Sub(lastLoad) >= reloadAlertDuration:
		case state != nil && state.Current != nil && state.Current.FirstFetched.After(rec.lastBlock):
			// Another version is in force.
		case state != nil && alwaysDisallowedAll(state): // On a staging site, all crawlers are disallowed on purpose.
		case rec.causesAlert(now):
			found = append(found, rec.newAlert())
		}
	}
	slices.SortFunc(found, func(a, b Alert) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// alertDuration returns the time for which an alert stays open after the last block.
func (x *blockRecord) alertDuration() time.Duration {
	if x.Identity == verify.Verified {
		return verifiedAlertDuration
	}
	return unverifiedAlertDuration
}

// causesAlert reports whether the blocks cause an alert. The alert stays open while an irregular
// client pauses, so that it does not open and close again and again.
func (x *blockRecord) causesAlert(now time.Time) bool {
	return now.Sub(x.lastBlock) < x.alertDuration() && (x.Identity == verify.Verified || x.lastBlock.Sub(x.firstBlock) >= minUnverifiedTime)
}

// newAlert returns the alert about the blocks.
func (x *blockRecord) newAlert() Alert {
	name, claimedName := x.Crawler, x.Crawler
	if x.Crawler == judge.OtherName {
		name, claimedName = "A search engine", "a search engine"
	}
	severity, identity := Critical, "It is verified."
	if x.Identity != verify.Verified {
		severity, name = Warning, "A client that claims to be "+claimedName
		identity = fmt.Sprintf("The guard could not verify that it is the search engine (identity %s).", x.Identity)
	}
	return Alert{
		ID: newID(SearchBlocked, x.Site, x.Crawler, string(severity), x.Rule, x.Group), Kind: SearchBlocked, Severity: severity,
		Site: x.Site, Crawler: x.Crawler, Since: x.firstBlock, Title: name + " is blocked at " + x.Site,
		Detail: fmt.Sprintf("%s Line %d, %q in the group User-agent: %s, disallows %s. No group of the robots.txt names this crawler.",
			identity, x.Line, text.Printable(x.Rule), text.Printable(x.Group), text.Printable(x.Path)),
		Remedy: searchRemedy, RemedySnippet: onlyLogOption(x.Crawler, x.Identity == verify.Verified),
	}
}

// searchRemedy is the remedy for a search engine that is blocked by a rule for other crawlers.
// The dashboard and the Prometheus rules contain the same text.
const searchRemedy = "Correct the rule, or write this into robots_guard of the site and reload."

// onlyLogOption returns the Caddyfile line that lets a crawler pass. A crawler without a name of
// its own gets the class search.
func onlyLogOption(crawler string, verified bool) string {
	if crawler == judge.OtherName {
		crawler = "search"
	}
	if strings.Contains(crawler, " ") {
		crawler = `"` + crawler + `"`
	}
	if verified {
		return "only_log verified " + crawler
	}
	return "only_log " + crawler
}
