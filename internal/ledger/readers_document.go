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
	// keepReadings is how long a reading is worth storing. It decides about a
	// request for the grace after a change only, and tells about it for longer.
	keepReadings = 31 * 24 * time.Hour

	// clockSkew is how far the clocks of two machines may differ.
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

// ReadBy is a reading and whose it is.
type ReadBy struct {
	Reader
	Reading
}

// Noted counts what was read in a part. As long as it stays the same there is
// nothing new to store.
func (r *Readers) Noted(part int) (noted uint64) {
	for i := range r.parts[part].shards {
		s := &r.parts[part].shards[i]
		s.mu.Lock()
		noted += s.noted
		s.mu.Unlock()
	}
	return noted
}

// EncodePart returns what was read here in a part, as far as it is worth keeping
// when the process ends: not at hosts that only clients name, and no more than
// MaxDocument bytes of the latest. empty says that there is nothing.
func (r *Readers) EncodePart(part int, now time.Time) (d Document, empty bool, err error) {
	all := r.own(part, now)
	for {
		d, err = encodeDocument(readersKind, readersOf(all), now)
		if !errors.Is(err, errTooLarge) || len(all) == 0 {
			return d, len(all) == 0, err
		}
		all = all[:len(all)/2]
	}
}

// own returns what was read here in a part, the latest first.
func (r *Readers) own(part int, now time.Time) (all []ReadBy) {
	for i := range r.parts[part].shards {
		s := &r.parts[part].shards[i]
		s.mu.Lock()
		for _, who := range s.last.Keys() {
			what, _ := s.last.Peek(who)
			if !what.elsewhere && now.Sub(what.At) < keepReadings {
				all = append(all, ReadBy{who, what.Reading})
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

// DecodeReaders returns what [Readers.EncodePart] has encoded. Bytes that were
// damaged, cut or written by another version of this package are an error.
func DecodeReaders(data []byte) ([]ReadBy, Document, error) {
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
				return nil, d, fmt.Errorf("more than %d readings", maxStoredReadings)
			case len(x.Crawler) > maxName, x.Status < 100, x.Status > 999, !sane(x.At), x.Network != x.Network.Masked():
				return nil, d, errors.New("a reading has a name that is too long, or a status, a time or a network that none can have")
			}
			all = append(all, ReadBy{Reader{Site: site.Key, Crawler: x.Crawler, Network: x.Network}, Reading{x.At, x.Status, hash}})
		}
	}
	return all, d, nil
}

// Merge takes in what was known before, or elsewhere: what other instances have
// seen pushes nothing out, and is not encoded again. Nothing is older than what
// is known, or from the future.
func (r *Readers) Merge(all []ReadBy, elsewhere bool, now time.Time) {
	for _, x := range slices.Backward(all) { // the latest last
		if x.At.After(now.Add(clockSkew)) || now.Sub(x.At) >= keepReadings {
			continue
		}
		r.merge(x, elsewhere)
	}
}

func (r *Readers) merge(x ReadBy, elsewhere bool) {
	s := r.shard(x.Reader)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.last.Peek(x.Reader)
	if ok && !known.At.Before(x.At) || !ok && s.last.Len() >= s.most {
		return
	}
	s.last.Add(x.Reader, keptReading{x.Reading, elsewhere})
}

// checkSite tells why a site cannot be one.
func checkSite(k policy.Key) error {
	if (k.Source == "") == (k.Host == "") || k.Source != "" && k != (policy.Key{Source: k.Source}) {
		return errors.New("it names neither a site nor a source")
	}
	for _, name := range []string{k.Source, k.Server, k.Site, k.Host, k.ForwardedHost} {
		if !utf8.ValidString(name) || len(name) > 8*maxHost {
			return errors.New("the name of a site cannot be stored")
		}
	}
	return nil
}
