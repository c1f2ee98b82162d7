package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// keepReadings is the time for which a robots fetch is stored.
	keepReadings = 31 * 24 * time.Hour

	// clockSkew is the maximum difference between the clocks of two machines.
	clockSkew = 5 * time.Minute

	maxStoredReadings = 4096
	maxName           = 128  // bytes of a crawler's name
	maxHost           = 1024 // bytes of a host
)

type (
	readersJSON struct {
		Sites []readersOfSiteJSON `json:"sites"`
	}
	readersOfSiteJSON struct {
		policy.Key
		Readings []readingJSON `json:"readings"`
	}
	readingJSON struct {
		Crawler string       `json:"crawler"`
		Network netip.Prefix `json:"network,omitzero"`
		At      time.Time    `json:"at"`
		Status  int          `json:"status"`
		SHA256  hashJSON     `json:"sha256,omitempty"`
	}
)

const readersKind = "readers"

// ReadBy is a robots fetch with its crawler.
type ReadBy struct {
	RobotsFetcher
	RobotsFetch
}

// PartRevision returns a counter of the fetches of a part. An unchanged counter means that there is
// nothing new to store.
func (r *RobotsFetches) PartRevision(part int) (noted uint64) {
	for i := range r.parts[part].shards {
		s := &r.parts[part].shards[i]
		s.mu.Lock()
		noted += s.noted
		s.mu.Unlock()
	}
	return noted
}

// EncodePart encodes the fetches of a part that this instance saw. It omits hosts that only
// clients name, and the oldest fetches beyond MaxDocument bytes. empty reports that there is
// nothing to store.
func (r *RobotsFetches) EncodePart(part int, now time.Time) (d Document, empty bool, err error) {
	all := r.own(part, now)
	for {
		d, err = encodeDocument(readersKind, readersOf(all), now)
		if !errors.Is(err, errTooLarge) || len(all) == 0 {
			return d, len(all) == 0, err
		}
		all = all[:len(all)/2]
	}
}

// own returns the fetches of a part that this instance saw, newest first.
func (r *RobotsFetches) own(part int, now time.Time) (all []ReadBy) {
	for i := range r.parts[part].shards {
		s := &r.parts[part].shards[i]
		s.mu.Lock()
		for _, who := range s.last.Keys() {
			what, _ := s.last.Peek(who)
			if !what.elsewhere && now.Sub(what.At) < keepReadings {
				all = append(all, ReadBy{who, what.RobotsFetch})
			}
		}
		s.mu.Unlock()
	}
	all = slices.DeleteFunc(all, func(x ReadBy) bool {
		return !utf8.ValidString(x.Crawler) || len(x.Crawler) > maxName || checkSite(x.Site) != nil
	})
	slices.SortFunc(all, func(a, b ReadBy) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Site.String(), b.Site.String()), cmp.Compare(a.Crawler, b.Crawler), a.Network.Compare(b.Network))
	})
	return all[:min(len(all), maxStoredReadings)]
}

func readersOf(all []ReadBy) (content readersJSON) {
	places := make(map[policy.Key]int)
	for _, x := range all {
		place, ok := places[x.Site]
		if !ok {
			place = len(content.Sites)
			places[x.Site] = place
			content.Sites = append(content.Sites, readersOfSiteJSON{Key: x.Site})
		}
		site := &content.Sites[place]
		site.Readings = append(site.Readings, readingJSON{x.Crawler, x.Network, x.At.UTC(), x.Status, encodeHash(x.Hash)})
	}
	return content
}

// DecodeRobotsFetches decodes the result of [RobotsFetches.EncodePart]. It returns an error for damaged
// data and other formats.
func DecodeRobotsFetches(data []byte) ([]ReadBy, Document, error) {
	var content readersJSON
	d, err := decodeDocument(readersKind, data, &content)
	if err != nil {
		return nil, d, err
	}
	var all []ReadBy
	for _, site := range content.Sites {
		if err := checkSite(site.Key); err != nil {
			return nil, d, err
		}
		for _, x := range site.Readings {
			hash, err := x.SHA256.decode()
			switch {
			case err != nil:
				return nil, d, err
			case len(all) == maxStoredReadings:
				return nil, d, fmt.Errorf("more than %d robots fetches", maxStoredReadings)
			case len(x.Crawler) > maxName, x.Status < 100, x.Status > 999, !isPlausibleTime(x.At), x.Network != x.Network.Masked():
				return nil, d, errors.New("a robots fetch has an invalid name, status, time or network")
			}
			all = append(all, ReadBy{RobotsFetcher{Site: site.Key, Crawler: x.Crawler, Network: x.Network}, RobotsFetch{x.At, x.Status, hash}})
		}
	}
	return all, d, nil
}

// Merge adds stored fetches, or fetches of other instances (fromPeer is true). It evicts no
// entry. Fetches of other instances are not encoded again. It skips fetches that are older
// than the known fetch, expired or in the future.
func (r *RobotsFetches) Merge(all []ReadBy, elsewhere bool, now time.Time) {
	for _, x := range slices.Backward(all) { // newest last
		if x.At.After(now.Add(clockSkew)) || now.Sub(x.At) >= keepReadings {
			continue
		}
		r.merge(x, elsewhere)
	}
}

func (r *RobotsFetches) merge(x ReadBy, elsewhere bool) {
	s := r.shard(x.RobotsFetcher)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.last.Peek(x.RobotsFetcher)
	if ok && !known.At.Before(x.At) || !ok && s.last.Len() >= s.most {
		return
	}
	s.last.Add(x.RobotsFetcher, storedFetch{x.RobotsFetch, elsewhere})
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
