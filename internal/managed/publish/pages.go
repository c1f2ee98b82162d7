package publish

import (
	"cmp"
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

// baseRequestKey is the context key that marks the guard's own request for a base.
type baseRequestKey struct{}

// IsBaseRequest reports whether a request was sent to fetch a base, so that the next handler must
// answer it.
func IsBaseRequest(ctx context.Context) bool { return ctx.Value(baseRequestKey{}) != nil }

// IsStagingRequest reports whether the host of a request is a staging host.
func (p *Publisher) IsStagingRequest(r *http.Request) bool {
	e := p.servedRules.Load()
	if e == nil && p.Schedule.HasStaging() {
		e = p.awaitServedRules(r.Context())
	}
	if e == nil || !e.published.schedule.HasStaging() && (e.canaryHosts == nil || !e.trial.schedule.HasStaging()) {
		return false
	}
	host := siteHost(p.siteKey(r))
	return e.scheduleForHost(host).schedule.IsStagingHost(host)
}

// siteHost returns the host of a site, without its port.
func siteHost(key policy.Key) string {
	name, _ := addr.SplitPort(key.Host)
	return name
}

// hostPeriod has everything that determines the robots.txt of a host at a time, except the base.
type hostPeriod struct {
	segment       policy.Segment
	host          string
	period        managed.Period
	scheduleStart time.Time // This is the time at which the schedule was published, or at which its trial began.
	staging       bool
}

// Page returns the robots.txt for the host of a request. until is the time of the next scheduled
// change, or the zero time. page is nil if no file can be composed from any version of the base.
// The next handler must then answer.
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

// baseKey returns the key under which the base of a site is cached.
func (p *Publisher) baseKey(site policy.Key) policy.Key {
	if p.SourceKey != "" {
		return policy.Key{Source: p.SourceKey}
	}
	return site
}

// latestGoodPage returns the robots.txt composed from the current version of the base. If composing
// fails, the result is last, which is the last page served for the site. If last is nil, the result
// is composed from the latest previous version for which composing succeeds, or nil.
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

// pageForBase returns the page composed from a version of the base. If composing fails or the gate
// refuses the page, the result is last. If last is nil, the result is the page of the previous
// period, or nil.
func (p *Publisher) pageForBase(base *policy.Version, at hostPeriod, last *Page) *Page {
	if page := cmp.Or(p.getOrComposePage(base, at), last); page != nil {
		return page
	}
	before, ok := at.period.Previous()
	if !ok {
		return nil
	}
	at.period = before
	return p.getOrComposePage(base, at)
}

// siteKey returns the key of the site that a request is for.
func (p *Publisher) siteKey(r *http.Request) policy.Key {
	return p.RequestSites.HostsOfServer(serverFromRequest(r)).KeyForRequest(r)
}

// getOrComposePage returns the robots.txt composed from a base. It uses the cache if possible, and
// counts the request.
func (p *Publisher) getOrComposePage(base *policy.Version, at hostPeriod) *Page {
	page, isCached, _ := p.pageCaches[at.segment].getOrCompose(base, at)
	p.Observer.OnPageRequested(isCached)
	return page
}

// composePage composes a page from a base, which may be nil. It returns an error if composing fails
// or the gate refuses the page.
func (p *Publisher) composePage(base *policy.Version, at hostPeriod) (*Page, error) {
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
		return nil, err
	}
	return newPage(string(composed), laterTime(modified, start)), nil
}

// laterTime returns the later of two times.
func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Page is a robots.txt with the header fields of its response. A Page is immutable.
type Page struct {
	text     string
	etag     string
	modified time.Time // modified is truncated to seconds, as in HTTP.
}

// newPage returns the page with a text. modified is its Last-Modified time.
func newPage(text string, modified time.Time) *Page {
	hash := sha256.Sum256([]byte(text))
	return &Page{text: text, etag: `"` + hex.EncodeToString(hash[:16]) + `"`, modified: modified.Truncate(time.Second)}
}

// version returns the version in the comment of a composed file. Without such a comment it returns
// the first digits of the ETag.
func (p *Page) version() string {
	const length = 12
	if _, after, ok := strings.Cut(p.text, "\n# Added by robots_txt, version "); ok && len(after) >= length {
		return after[:length]
	}
	return p.etag[1 : 1+length]
}

// Serve answers a GET or HEAD request, also with a condition or a range. maxAge is the value for
// Cache-Control. Only conditions with an ETag have an effect, because two different files can have
// the same date.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, maxAge time.Duration) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "max-age="+strconv.Itoa(int(maxAge/time.Second)))
	header.Set("ETag", p.etag)
	header.Set("Last-Modified", p.modified.UTC().Format(http.TimeFormat))
	// The zero time disables conditions with a date.
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(p.text))
}

// pageCache caches composed pages. A publisher has one cache for configured sites and one for hosts
// that only clients name, so that the latter evict no page of the former.
type pageCache struct {
	mu        sync.Mutex
	pages     *simplelru.LRU[pageKey, *cachedPage]
	bytes     int // bytes is the size of all pages.
	maxBytes  int
	compose   func(*policy.Version, hostPeriod) (*Page, error)
	lastPages *simplelru.LRU[policy.Key, *Page] // The value is the last page served for a requested site, or nil.
}

// pageKey identifies a page by everything that it depends on.
type pageKey struct {
	base   [sha256.Size]byte
	period managed.Period
	host   string // The host is "" if the page is the same for all hosts.
}

// cachedPage is a page in a [pageCache]. The first call of result composes it.
type cachedPage struct {
	result func() (*Page, error)
	size   int // size is the number of bytes that the cache counts for the page.
}

// newPageCache returns a cache for at most this number of pages and of bytes. compose composes a
// page that the cache lacks.
func newPageCache(pages, bytes int, compose func(base *policy.Version, at hostPeriod) (*Page, error)) *pageCache {
	c := &pageCache{maxBytes: bytes, compose: compose}
	// This fails only for a size below 1.
	c.pages, _ = simplelru.NewLRU(pages, func(_ pageKey, p *cachedPage) { c.bytes -= p.size })
	c.lastPages, _ = simplelru.NewLRU[policy.Key, *Page](pages, nil)
	return c
}

// getOrCompose returns the page made from a base, from the cache or newly composed. Concurrent
// calls compose a page once, and do not wait for other pages.
func (c *pageCache) getOrCompose(base *policy.Version, at hostPeriod) (page *Page, isCached bool, err error) {
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
		p = &cachedPage{result: sync.OnceValues(func() (*Page, error) { return c.compose(base, at) })}
		c.pages.Add(key, p)
	}
	c.mu.Unlock()
	page, err = p.result()
	if isCached || err != nil {
		return page, isCached, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if present, _ := c.pages.Peek(key); present == p {
		p.size = len(page.text)
		c.bytes += p.size
		for c.bytes > c.maxBytes && c.pages.Len() > 1 {
			c.pages.RemoveOldest()
		}
	}
	return page, false, nil
}

// purge removes all pages, but keeps the last page of each site.
func (c *pageCache) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages.Purge()
}

// lastPage returns the last page served for a site, or nil. known reports whether the site was
// requested before.
func (c *pageCache) lastPage(key policy.Key) (last *Page, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastPages.Get(key)
}

// setLastPage records the last page served for a site. page may be nil.
func (c *pageCache) setLastPage(key policy.Key, page *Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastPages.Add(key, page)
}

// requestedSites returns the sites whose robots.txt was requested.
func (c *pageCache) requestedSites() []policy.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastPages.Keys()
}

// servedRules are the published rules and the rules on trial. A servedRules is immutable.
type servedRules struct {
	published   servedSchedule
	onTrial     *Change        // onTrial is nil without a trial.
	trial       servedSchedule // trial is the schedule of the change on trial.
	canaryHosts *site.Hosts    // These hosts serve the change on trial. It is nil if there are none.
}

// servedSchedule is the schedule of a published change, or of a change on trial.
type servedSchedule struct {
	id       string // id is the ID of the spec, or "" without a history.
	schedule *managed.Schedule
	since    time.Time // since is the time at which the change was published, or at which its trial began.
}

// matchesHistory reports whether the served rules are those that a history publishes and puts on
// trial. It is false for nil.
func (e *servedRules) matchesHistory(h *History) bool {
	if e == nil || e.published.id != h.PublishedID() || (e.onTrial != nil) != h.Pending.IsOnTrial() {
		return false
	}
	return e.onTrial == nil || e.trial.id == h.Pending.ID && e.onTrial.Number == h.Pending.Number
}

// postponeStarts sets the start of the published schedule and of the schedule on trial to now, if
// the start is before the start of the rules served previously. Otherwise Last-Modified could go
// back although a file changes, and a crawler that asks with If-Modified-Since would keep the
// earlier file.
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
	return e.canaryHosts != nil && e.canaryHosts.MatchesHost(host)
}

// scheduleForHost returns the schedule that a host serves.
func (e *servedRules) scheduleForHost(host string) *servedSchedule {
	if e.isCanaryHost(host) {
		return &e.trial
	}
	return &e.published
}

// nextChange returns the first time after now at which a served file changes by its schedule, or
// the zero time.
func (e *servedRules) nextChange(now time.Time) time.Time {
	turn := e.published.schedule.NextChange(now)
	if e.canaryHosts != nil {
		if other := e.trial.schedule.NextChange(now); turn.IsZero() || !other.IsZero() && other.Before(turn) {
			return other
		}
	}
	return turn
}

// findHostPeriod returns the period of a site at now, by the schedule that its host serves.
func (e *servedRules) findHostPeriod(site policy.Key, now time.Time) hostPeriod {
	host := siteHost(site)
	served := e.scheduleForHost(host)
	return hostPeriod{site.Segment(), host, served.schedule.FindPeriod(host, now), served.since, served.schedule.IsStagingHost(host)}
}

// firstWait is the maximum wait of a request for the published schedule after the start.
const firstWait = 2 * time.Second

// awaitServedRules returns the rules for a request. Before the first rules are known, it waits
// until firstWait after the start.
func (p *Publisher) awaitServedRules(ctx context.Context) *servedRules {
	if e := p.servedRules.Load(); e != nil {
		return e
	}
	timer := time.NewTimer(firstWait - p.Now().Sub(p.minFileDate))
	defer timer.Stop()
	select {
	case <-p.rulesReady:
	case <-timer.C:
		if p.servedRules.CompareAndSwap(nil, p.newServedRules(p.rulesWithoutHistory())) {
			close(p.rulesReady)
		}
	case <-ctx.Done():
		return p.newServedRules(p.rulesWithoutHistory()) // The client has closed the connection.
	}
	return p.servedRules.Load()
}

// newServedRules returns served rules for a schedule that belongs to no change of the history.
func (p *Publisher) newServedRules(s *managed.Schedule) *servedRules {
	return &servedRules{published: servedSchedule{schedule: s, since: p.minFileDate}}
}

// setServedRules replaces the served rules and removes the cached pages.
func (p *Publisher) setServedRules(e *servedRules) {
	isFirst := p.servedRules.Swap(e) == nil
	for _, cache := range p.pageCaches {
		cache.purge()
	}
	if isFirst {
		// After this call, requests may compose pages again. Pages composed earlier would be purged.
		close(p.rulesReady)
	}
}

// ServedSchedule returns the published schedule that is served, or nil before the first one.
func (p *Publisher) ServedSchedule() *managed.Schedule {
	if e := p.servedRules.Load(); e != nil {
		return e.published.schedule
	}
	return nil
}
