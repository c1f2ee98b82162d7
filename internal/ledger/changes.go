package ledger

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ChangeGuardState is the stored state of the change guard for one robots.txt.
type ChangeGuardState struct {
	Site policy.Key `json:"site"`
	// Hash is the last compared version, and Read the time of its fetch.
	Hash      Version       `json:"sha256"`
	FetchedAt time.Time     `json:"read"`
	Visits    []Visit       `json:"visits,omitempty"`
	Holds     []HeldVersion `json:"holds,omitempty"`
}

// HeldVersion is a replaced version still in force.
type HeldVersion struct {
	Version   Version   `json:"sha256"`
	HeldSince time.Time `json:"since"`
	HeldUntil time.Time `json:"until"`
	Visits    []Visit   `json:"visits"` // the reason: visited pages that the next version newly disallows
}

// Bounds of the stored state.
const (
	maxStoredHolds = 8
	maxChain       = 16
	maxName        = 128  // bytes of a crawler's name
	maxHost        = 1024 // bytes of a host
)

// Encode encodes c for [DecodeChanges]. If the result is too large, Encode omits the visits without a hold.
// An invalid site is an error.
func (c ChangeGuardState) Encode(now time.Time) (Document, error) {
	if err := checkSite(c.Site); err != nil {
		return Document{}, err
	}
	c.Visits = storableVisits(c.Visits)
	c.Holds = slices.Clone(c.Holds[:min(len(c.Holds), maxStoredHolds)])
	for i := range c.Holds {
		c.Holds[i].Visits = storableVisits(c.Holds[i].Visits)
	}
	d, err := encodeDocument(c, now)
	if errors.Is(err, errTooLarge) {
		c.Visits = nil
		d, err = encodeDocument(c, now)
	}
	return d, err
}

func storableVisits(visits []Visit) []Visit {
	visits = slices.DeleteFunc(slices.Clone(visits), func(v Visit) bool { return !v.isStorable() })
	return visits[:min(len(visits), maxVisits)]
}

func (v Visit) isStorable() bool {
	if len(v.GroupNames) > maxChain || len(v.Target) > maxVisitedTarget || len(v.Host) > maxHost || !utf8.ValidString(v.Host) || !isPlausibleTime(v.At) {
		return false
	}
	for _, name := range append([]string{v.Crawler}, v.GroupNames...) {
		if len(name) > maxName || !utf8.ValidString(name) {
			return false
		}
	}
	return true
}

// DecodeChanges decodes the result of Encode. Damaged data and other formats are an error.
func DecodeChanges(data []byte) (c ChangeGuardState, d Document, err error) {
	if d, err = decodeDocument(data, &c); err == nil {
		err = c.validate()
	}
	if err != nil {
		return ChangeGuardState{}, d, err
	}
	return c, d, nil
}

// validate returns an error if c cannot be a result of Encode.
func (c ChangeGuardState) validate() error {
	if err := checkSite(c.Site); err != nil {
		return err
	}
	if len(c.Holds) > maxStoredHolds {
		return fmt.Errorf("%d holds exceed the maximum of %d", len(c.Holds), maxStoredHolds)
	}
	if !isPlausibleTime(c.FetchedAt) {
		return errors.New("the time of the version is out of range")
	}
	for _, h := range c.Holds {
		if !isPlausibleTime(h.HeldSince) || h.HeldUntil.Before(h.HeldSince) || !isPlausibleTime(h.HeldUntil) || len(h.Visits) == 0 {
			return errors.New("a hold has an invalid time or no visits")
		}
		if err := checkVisits(h.Visits); err != nil {
			return err
		}
	}
	return checkVisits(c.Visits)
}

func checkVisits(visits []Visit) error {
	switch {
	case len(visits) > maxVisits:
		return fmt.Errorf("%d visits exceed the maximum of %d", len(visits), maxVisits)
	case slices.ContainsFunc(visits, func(v Visit) bool { return !v.isStorable() }):
		return errors.New("a visit has an invalid name, host, target or time")
	}
	return nil
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
