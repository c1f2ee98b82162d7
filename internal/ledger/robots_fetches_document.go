package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// fetchLifetime is the time for which a robots fetch is stored.
	fetchLifetime = 31 * 24 * time.Hour

	// clockSkew is the maximum difference between the clocks of two machines.
	clockSkew = 5 * time.Minute

	maxStoredFetches = 4096
	maxName          = 128  // bytes of a crawler's name
	maxHost          = 1024 // bytes of a host
)

const fetchesKind = "readers"

// CrawlerFetch is a robots fetch with its crawler.
type CrawlerFetch struct {
	RobotsFetcher
	RobotsFetch
}

// PartRevision returns a counter of the fetches of a part. If the counter is unchanged, there is
// nothing new to store.
func (r *RobotsFetches) PartRevision(part int) uint64 {
	p := &r.parts[part]
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revision
}

// EncodePart encodes a part's fetches seen by this instance. Hosts named only by clients are
// omitted, as are the oldest fetches beyond MaxDocument bytes. If empty is true, there is nothing
// to store.
func (r *RobotsFetches) EncodePart(part int, now time.Time) (d Document, empty bool, err error) {
	all := r.own(part, now)
	for {
		d, err = encodeDocument(fetchesKind, all, now)
		if !errors.Is(err, errTooLarge) || len(all) == 0 {
			return d, len(all) == 0, err
		}
		all = all[:len(all)/2]
	}
}

// own returns a part's fetches seen by this instance, newest first.
func (r *RobotsFetches) own(part int, now time.Time) []CrawlerFetch {
	all := []CrawlerFetch{}
	p := &r.parts[part]
	p.mu.Lock()
	for _, fetcher := range p.last.Keys() {
		if fetch, _ := p.last.Peek(fetcher); !fetch.elsewhere && now.Sub(Time(fetch.At)) < fetchLifetime {
			all = append(all, CrawlerFetch{fetcher, fetch.RobotsFetch})
		}
	}
	p.mu.Unlock()
	all = slices.DeleteFunc(all, func(x CrawlerFetch) bool {
		return !utf8.ValidString(x.Crawler) || len(x.Crawler) > maxName || checkSite(x.Site) != nil
	})
	slices.SortFunc(all, func(a, b CrawlerFetch) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Site.String(), b.Site.String()), cmp.Compare(a.Crawler, b.Crawler), a.Network.Compare(b.Network))
	})
	return all[:min(len(all), maxStoredFetches)]
}

// DecodeRobotsFetches decodes the result of [RobotsFetches.EncodePart]. Damaged data and other
// formats are an error.
func DecodeRobotsFetches(data []byte) ([]CrawlerFetch, Document, error) {
	var all []CrawlerFetch
	d, err := decodeDocument(fetchesKind, data, &all)
	if err != nil {
		return nil, d, err
	}
	if len(all) > maxStoredFetches {
		return nil, d, fmt.Errorf("more than %d robots fetches", maxStoredFetches)
	}
	for _, x := range all {
		if err := checkSite(x.Site); err != nil {
			return nil, d, err
		}
		if len(x.Crawler) > maxName || x.Status < 100 || x.Status > 999 || !isPlausibleTime(Time(x.At)) || x.Network != x.Network.Masked() {
			return nil, d, errors.New("a robots fetch has an invalid name, status, time or network")
		}
	}
	return all, d, nil
}

// Merge adds stored fetches, or fetches of other instances (fromPeer is true). Merge evicts no
// entry, and skips fetches older than the known fetch, expired or in the future. Fetches of other
// instances are not encoded again.
func (r *RobotsFetches) Merge(all []CrawlerFetch, fromPeer bool, now time.Time) {
	for _, x := range slices.Backward(all) { // newest last
		if at := Time(x.At); at.After(now.Add(clockSkew)) || now.Sub(at) >= fetchLifetime {
			continue
		}
		r.merge(x, fromPeer)
	}
}

func (r *RobotsFetches) merge(x CrawlerFetch, fromPeer bool) {
	p := r.part(x.RobotsFetcher)
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.last.Peek(x.RobotsFetcher)
	if ok && known.At >= x.At || !ok && p.last.Len() >= p.most {
		return
	}
	p.last.Add(x.RobotsFetcher, storedFetch{x.RobotsFetch, fromPeer})
}

// checkSite returns an error if a site cannot be stored.
func checkSite(k policy.Key) error {
	if (k.Source == "") == (k.Host == "") || k.Source != "" && k != (policy.Key{Source: k.Source}) {
		return errors.New("missing or ambiguous site")
	}
	for _, name := range []string{k.Source, k.Server, k.Site, k.Host, k.ForwardedHost} {
		if !utf8.ValidString(name) || len(name) > 8*maxHost {
			return errors.New("the name of a site is too long or not UTF-8")
		}
	}
	return nil
}
