package ledger

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Changes is the stored state of the change guard for one robots.txt.
type Changes struct {
	Site policy.Key
	// Hash is the version that was last compared, and Read the time of its fetch.
	Hash   [sha256.Size]byte
	Read   time.Time
	Visits []Visit
	Holds  []Hold
}

// Hold is a version that stays in force although another version replaced it.
type Hold struct {
	Version      [sha256.Size]byte
	Since, Until time.Time
	Visits       []Visit // the reason: visited pages that the next version newly disallows
}

// Bounds of the stored state.
const (
	maxStoredHolds = 8
	maxChain       = 16
)

type (
	changesJSON struct {
		policy.Key
		SHA256 hashJSON    `json:"sha256"`
		Read   time.Time   `json:"read"`
		Visits []visitJSON `json:"visits,omitempty"`
		Holds  []holdJSON  `json:"holds,omitempty"`
	}
	holdJSON struct {
		SHA256 hashJSON    `json:"sha256"`
		Since  time.Time   `json:"since"`
		Until  time.Time   `json:"until"`
		Visits []visitJSON `json:"visits"`
	}
	visitJSON struct {
		Crawler  string    `json:"crawler"`
		Chain    []string  `json:"chain"`
		Wildcard bool      `json:"wildcard,omitempty"`
		Host     string    `json:"host"`
		Target   []byte    `json:"target"` // arbitrary bytes
		At       time.Time `json:"at"`
	}
)

const changesKind = "changes"

// Encode encodes c for [DecodeChanges]. If the result is too large, it omits the visits
// without a hold. It returns an error for an invalid site.
func (c Changes) Encode(now time.Time) (Document, error) {
	content := changesJSON{Key: c.Site, SHA256: encodeHash(c.Hash), Read: c.Read.UTC(), Visits: encodeVisits(c.Visits)}
	if err := checkSite(content.Key); err != nil {
		return Document{}, err
	}
	for _, h := range c.Holds[:min(len(c.Holds), maxStoredHolds)] {
		content.Holds = append(content.Holds, holdJSON{encodeHash(h.Version), h.Since.UTC(), h.Until.UTC(), encodeVisits(h.Visits)})
	}
	d, err := encodeDocument(changesKind, content, now)
	if errors.Is(err, errTooLarge) {
		content.Visits = nil
		d, err = encodeDocument(changesKind, content, now)
	}
	return d, err
}

func encodeVisits(visits []Visit) (all []visitJSON) {
	for _, v := range visits {
		if v.isStorable() && len(all) < maxVisits {
			all = append(all, visitJSON{v.Crawler, v.Chain, v.Wildcard, v.Host, []byte(v.Target), v.At.UTC()})
		}
	}
	return all
}

func (v Visit) isStorable() bool {
	if len(v.Chain) > maxChain || len(v.Target) > maxVisitedTarget || len(v.Host) > maxHost || !utf8.ValidString(v.Host) || !isPlausibleTime(v.At) {
		return false
	}
	for _, name := range append([]string{v.Crawler}, v.Chain...) {
		if len(name) > maxName || !utf8.ValidString(name) {
			return false
		}
	}
	return true
}

// DecodeChanges decodes the result of Encode. It returns an error for damaged data and other
// formats.
func DecodeChanges(data []byte) (Changes, Document, error) {
	var content changesJSON
	d, err := decodeDocument(changesKind, data, &content)
	if err != nil {
		return Changes{}, d, err
	}
	c := Changes{Site: content.Key, Read: content.Read}
	if err := checkSite(content.Key); err != nil {
		return Changes{}, d, err
	}
	if c.Hash, err = content.SHA256.decode(); err != nil {
		return Changes{}, d, err
	}
	if c.Visits, err = decodeVisits(content.Visits); err != nil {
		return Changes{}, d, err
	}
	if len(content.Holds) > maxStoredHolds {
		return Changes{}, d, fmt.Errorf("%d holds exceed the maximum of %d", len(content.Holds), maxStoredHolds)
	}
	if !isPlausibleTime(c.Read) {
		return Changes{}, d, errors.New("the time of the version is out of range")
	}
	for _, h := range content.Holds {
		hold := Hold{Since: h.Since, Until: h.Until}
		if hold.Version, err = h.SHA256.decode(); err != nil {
			return Changes{}, d, err
		}
		if hold.Visits, err = decodeVisits(h.Visits); err != nil {
			return Changes{}, d, err
		}
		if !isPlausibleTime(h.Since) || h.Until.Before(h.Since) || !isPlausibleTime(h.Until) || len(h.Visits) == 0 {
			return Changes{}, d, errors.New("a hold has an invalid time or no visits")
		}
		c.Holds = append(c.Holds, hold)
	}
	return c, d, nil
}

func decodeVisits(all []visitJSON) (visits []Visit, err error) {
	if len(all) > maxVisits {
		return nil, fmt.Errorf("%d visits exceed the maximum of %d", len(all), maxVisits)
	}
	for _, x := range all {
		v := Visit{Crawler: x.Crawler, Chain: x.Chain, Wildcard: x.Wildcard, Host: x.Host, Target: string(x.Target), At: x.At}
		if !v.isStorable() {
			return nil, errors.New("a visit has an invalid name, host, target or time")
		}
		visits = append(visits, v)
	}
	return visits, nil
}
