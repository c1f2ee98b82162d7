package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// baseRequestKey marks the context of a request for a base.
type baseRequestKey struct{}

// IsBaseRequest reports whether a request fetches a base, and has to be answered by the next handler.
func IsBaseRequest(ctx context.Context) bool { return ctx.Value(baseRequestKey{}) != nil }

// IsStaging reports whether the site of a request is a staging site.
func (p *Publisher) IsStaging(r *http.Request) bool {
	e := p.servedRules.Load()
	if e == nil && p.Schedule.HasStaging() {
		e = p.awaitServedRules(r.Context())
	}
	if e == nil || !e.published.schedule.HasStaging() && (e.canaryHosts == nil || !e.trial.schedule.HasStaging()) {
		return false
	}
	host := siteHost(p.siteKey(r))
	return e.scheduleForHost(host).schedule.IsStaging(host)
}

// siteHost returns the host of a site without its port.
func siteHost(key policy.Key) string {
	name, _ := addr.SplitPort(key.Host)
	return name
}

// findHostPeriod identifies a file by its host and period.
type hostPeriod struct {
	segment       policy.Segment
	host          string
	period        managed.Period
	scheduleStart time.Time // start of the schedule
	staging       bool
}

// Page returns the robots.txt for the site of a request. until is the time of the next scheduled change, or
// the zero time. Without a good base, page is nil, and the next handler has to answer.
func (p *Publisher) Page(r *http.Request) (page *Page, until time.Time) {
	key := p.siteKey(r)
	at := p.awaitServedRules(r.Context()).findHostPeriod(key, p.Now())
	if at.staging {
		return newPage(managed.Staging, at.scheduleStart), time.Time{}
	}
	cache := p.pageCaches[key.Segment()]
	last, known := cache.lastPage(key)
	if p.Source == nil {
		page = p.pageForBase(nil, at, last)
	} else {
		page = p.latestGoodPage(p.fetchBaseIfDue(r, p.baseKey(key)), at, last)
	}
	if page != last || !known {
		cache.setLastPage(key, page)
	}
	return page, at.period.End()
}

// baseKey returns the key of the base of a site.
func (p *Publisher) baseKey(site policy.Key) policy.Key {
	if p.SourceKey != "" {
		return policy.Key{Source: p.SourceKey}
	}
	return site
}

// latestGoodPage returns the page of the latest good base that yields a page, or nil.
func (p *Publisher) latestGoodPage(state *policy.State, at hostPeriod, last *Page) *Page {
	if lastGoodVersion(state) == nil {
		return nil
	}
	if page := p.pageForBase(state.Current, at, last); page != nil {
		return page
	}
	for _, version := range state.Previous {
		if page := p.pageForBase(version, at, nil); page != nil {
			return page
		}
	}
	return nil
}

// pageForBase returns the page of a base. If the gate refuses the page, pageForBase returns the last served
// page or the page of the previous period.
func (p *Publisher) pageForBase(base *policy.Version, at hostPeriod, last *Page) *Page {
	m := p.getOrComposePage(base, at)
	switch {
	case m.page != nil:
		return m.page
	case last != nil:
		return last
	}
	before, ok := at.period.Previous()
	if !ok {
		return nil
	}
	at.period = before
	return p.getOrComposePage(base, at).page
}

// siteKey returns the site of a request.
func (p *Publisher) siteKey(r *http.Request) policy.Key {
	return p.RequestSites.HostsOf(serverFromRequest(r)).Key(r)
}

// getOrComposePage returns the cached page of a base, or composes the page.
func (p *Publisher) getOrComposePage(base *policy.Version, at hostPeriod) pageResult {
	m, isCached := p.pageCaches[at.segment].getOrCompose(base, at)
	p.Observer.OnPageRequested(isCached)
	return m
}

func (p *Publisher) composePage(base *policy.Version, at hostPeriod) pageResult {
	var text []byte
	modified, start := at.scheduleStart, at.period.Start()
	if base != nil {
		text = []byte(base.Robots.Text())
		modified = laterTime(modified, base.FirstFetched)
	}
	began, stage := time.Now(), StageCompose
	plan := at.period.FilePlan()
	composed, err := plan.Compose(text, at.host)
	if err == nil {
		stage, err = StageGate, p.Gate.Check(plan, text, composed, at.host)
	}
	p.Observer.OnComposed(time.Since(began))
	if err != nil {
		p.Observer.OnPageFailed(stage)
		p.Logger.Log(logLevelFor(at.segment, zap.ErrorLevel), "a composed robots.txt must not be published; the previous file is served, or else the response of the site",
			zap.String("host", at.host), zap.Time("from", start), zap.Error(err))
		return pageResult{err: err}
	}
	return pageResult{page: newPage(string(composed), laterTime(modified, start))}
}

func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Page is a served robots.txt. A Page is immutable.
type Page struct {
	text     string
	etag     string
	modified time.Time // truncated to seconds, as in HTTP
}

// newPage returns a page with a modification time.
func newPage(text string, modified time.Time) *Page {
	hash := sha256.Sum256([]byte(text))
	return &Page{text: text, etag: `"` + hex.EncodeToString(hash[:16]) + `"`, modified: modified.Truncate(time.Second)}
}

// version returns the version from the comment of a composed file, or the beginning of the ETag.
func (p *Page) version() string {
	const length = 12
	if _, after, ok := strings.Cut(p.text, "\n# Added by robots_txt, version "); ok && len(after) >= length {
		return after[:length]
	}
	return p.etag[1 : 1+length]
}

// Serve answers a GET or HEAD request, including conditional and range requests. maxAge is for
// Cache-Control. Serve compares only the ETag, because two different files can have the same date.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, maxAge time.Duration) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "max-age="+strconv.Itoa(int(maxAge/time.Second)))
	header.Set("ETag", p.etag)
	header.Set("Last-Modified", p.modified.UTC().Format(http.TimeFormat))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(p.text)) // the zero time disables conditions by date
}

// pageCache caches the pages of named sites, or of hosts named only by clients. Hosts named only by
// clients must not evict pages of named sites.
type pageCache struct {
	mu        sync.Mutex
	pages     *simplelru.LRU[pageKey, *cachedPage]
	bytes     int // of all pages
	maxBytes  int
	compose   func(*policy.Version, hostPeriod) pageResult
	lastPages *simplelru.LRU[policy.Key, *Page] // last page of each requested site, or nil
}

// pageKey identifies a page by its sources.
type pageKey struct {
	base   [sha256.Size]byte
	period managed.Period
	host   string // "" if the page is the same for all hosts
}

// cachedPage is a page composed by the first call of result.
type cachedPage struct {
	result func() pageResult
	size   int // counted bytes
}

// pageResult is a page or an error.
type pageResult struct {
	page *Page
	err  error
}

// newPageCache returns a cache with a maximum number of pages and of bytes.
func newPageCache(pages, bytes int, compose func(base *policy.Version, at hostPeriod) pageResult) *pageCache {
	c := &pageCache{maxBytes: bytes, compose: compose}
	c.pages, _ = simplelru.NewLRU(pages, func(_ pageKey, p *cachedPage) { c.bytes -= p.size }) // fails only for a size below 1
	c.lastPages, _ = simplelru.NewLRU[policy.Key, *Page](pages, nil)
	return c
}

// getOrCompose returns the cached page of a base, or composes the page. Concurrent calls compose a page only once, and
// do not wait for other pages.
func (c *pageCache) getOrCompose(base *policy.Version, at hostPeriod) (m pageResult, isCached bool) {
	key := pageKey{period: at.period}
	if base != nil {
		key.base = base.Hash
	}
	if at.period.DependsOnHost() {
		key.host = at.host
	}
	c.mu.Lock()
	p, isCached := c.pages.Get(key)
	if !isCached {
		p = &cachedPage{result: sync.OnceValue(func() pageResult { return c.compose(base, at) })}
		c.pages.Add(key, p)
	}
	c.mu.Unlock()
	m = p.result()
	if isCached || m.page == nil {
		return m, isCached
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if present, _ := c.pages.Peek(key); present == p {
		p.size = len(m.page.text)
		c.bytes += p.size
		for c.bytes > c.maxBytes && c.pages.Len() > 1 {
			c.pages.RemoveOldest()
		}
	}
	return m, false
}

// purge removes the pages, but not the last page of each site.
func (c *pageCache) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages.Purge()
}

// lastPage returns the last page of a site, or nil. known reports whether the site was requested before.
func (c *pageCache) lastPage(key policy.Key) (last *Page, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastPages.Get(key)
}

// setLastPage records the last page served for a site.
func (c *pageCache) setLastPage(key policy.Key, page *Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastPages.Add(key, page)
}

// requestedSites returns the requested sites.
func (c *pageCache) requestedSites() []policy.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastPages.Keys()
}

// servedRules are the rules in force. A servedRules is immutable.
type servedRules struct {
	published   servedSchedule
	onTrial     *Change        // nil without a trial
	trial       servedSchedule // of the change on trial
	canaryHosts *site.Hosts    // hosts that serve the change on trial, or nil
}

// servedSchedule is the schedule of a change.
type servedSchedule struct {
	id       string // of the spec; "" without a history
	schedule *managed.Schedule
	since    time.Time // when the change was published, or its trial began
}

// matchesHistory reports whether the rules are those of a history. The result is false for nil.
func (e *servedRules) matchesHistory(h *History) bool {
	if e == nil || e.published.id != h.PublishedID() || (e.onTrial != nil) != h.Pending.IsOnTrial() {
		return false
	}
	return e.onTrial == nil || e.trial.id == h.Pending.ID && e.onTrial.Number == h.Pending.Number
}

// postponeStarts sets starts that are before those of the previous rules to now. Last-Modified must not go
// back when a file changes, or a crawler that asks with If-Modified-Since keeps an earlier file.
func (e *servedRules) postponeStarts(previous *servedRules, now time.Time) {
	if previous == nil {
		return
	}
	last := previous.published.since
	if previous.canaryHosts != nil {
		last = laterTime(last, previous.trial.since)
	}
	if e.published.since.Before(last) {
		e.published.since = now
	}
	if e.canaryHosts != nil && e.trial.since.Before(last) {
		e.trial.since = now
	}
}

// isCanaryHost reports whether a host serves the change on trial.
func (e *servedRules) isCanaryHost(host string) bool {
	return e.canaryHosts != nil && e.canaryHosts.Has(host)
}

// scheduleForHost returns the schedule for a host.
func (e *servedRules) scheduleForHost(host string) *servedSchedule {
	if e.isCanaryHost(host) {
		return &e.trial
	}
	return &e.published
}

// nextChange returns the time of the next change of a file after now, or the zero time.
func (e *servedRules) nextChange(now time.Time) time.Time {
	turn := e.published.schedule.NextChange(now)
	if e.canaryHosts != nil {
		if other := e.trial.schedule.NextChange(now); turn.IsZero() || !other.IsZero() && other.Before(turn) {
			return other
		}
	}
	return turn
}

// findHostPeriod returns the host and the period of a site at a time.
func (e *servedRules) findHostPeriod(site policy.Key, now time.Time) hostPeriod {
	return e.scheduleForHost(siteHost(site)).findHostPeriod(site, now)
}

func (v *servedSchedule) findHostPeriod(site policy.Key, now time.Time) hostPeriod {
	s := hostPeriod{segment: site.Segment(), host: siteHost(site), scheduleStart: v.since}
	s.staging = v.schedule.IsStaging(s.host)
	s.period = v.schedule.FindPeriod(s.host, now)
	return s
}

// firstWait is the maximum wait of a request for the published schedule after the start.
const firstWait = 2 * time.Second

// awaitServedRules returns the rules for a request, and waits for the first rules.
func (p *Publisher) awaitServedRules(ctx context.Context) *servedRules {
	if e := p.servedRules.Load(); e != nil {
		return e
	}
	timer := time.NewTimer(firstWait - p.Now().Sub(p.minFileDate))
	defer timer.Stop()
	select {
	case <-p.rulesReady:
	case <-timer.C:
		if p.servedRules.CompareAndSwap(nil, p.servedWithoutChange(p.rulesWithoutHistory())) {
			close(p.rulesReady)
		}
	case <-ctx.Done():
		return p.servedWithoutChange(p.rulesWithoutHistory()) // the client has left
	}
	return p.servedRules.Load()
}

// servedWithoutChange returns rules that are served without a history.
func (p *Publisher) servedWithoutChange(s *managed.Schedule) *servedRules {
	return &servedRules{published: servedSchedule{schedule: s, since: p.minFileDate}}
}

// setServedRules replaces the served rules and drops the cached pages.
func (p *Publisher) setServedRules(e *servedRules) {
	isFirst := p.servedRules.Swap(e) == nil
	for _, cache := range p.pageCaches {
		cache.purge()
	}
	if isFirst {
		close(p.rulesReady) // after the purge, or the first requests compose their page twice
	}
}

// ServedSchedule returns the served schedule, or nil before the first one.
func (p *Publisher) ServedSchedule() *managed.Schedule {
	if e := p.servedRules.Load(); e != nil {
		return e.published.schedule
	}
	return nil
}
