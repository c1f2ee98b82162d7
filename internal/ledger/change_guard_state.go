package ledger

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ChangeGuardState is the stored state of the change guard for one robots.txt. The change guard
// delays a new version that disallows pages which crawlers visit.
type ChangeGuardState struct {
	Site policy.Key `json:"site"`
	// ComparedVersion is the version that the change guard compared last, and FetchedAt the time of
	// its fetch.
	ComparedVersion Version        `json:"sha256"`
	FetchedAt       time.Time      `json:"read"`
	Visits          []CrawlerVisit `json:"visits,omitempty"`
	Holds           []HeldVersion  `json:"holds,omitempty"`
}

// HeldVersion is an earlier version of a robots.txt that the change guard keeps in force, because
// the next version newly disallows visited pages.
type HeldVersion struct {
	Version   Version   `json:"sha256"`
	HeldSince time.Time `json:"since"`
	HeldUntil time.Time `json:"until"`
	// Visits are the reason: visited pages that the next version newly disallows.
	Visits []CrawlerVisit `json:"visits"`
}

// These are bounds of a stored ChangeGuardState.
const (
	maxStoredHolds      = 8
	maxGroupNames       = 16
	maxCrawlerNameBytes = 128 // maxCrawlerNameBytes is the maximum length of a name in bytes.
	// maxHostBytes is the maximum length of the host of a visit in bytes. Each string of the Site
	// can have eight times as many.
	maxHostBytes = 1024
)

// Encode encodes c for [DecodeChangeGuardState]. Encode omits visits that are too long to store, and
// holds without any other visit. If the result is too large, Encode omits c.Visits, but not the
// visits of held versions. An invalid Site is an error.
func (c ChangeGuardState) Encode(now time.Time) (StoredDocument, error) {
	if err := validateSite(c.Site); err != nil {
		return StoredDocument{}, err
	}
	c.Visits = storableVisits(c.Visits)
	c.Holds = slices.Clone(c.Holds[:min(len(c.Holds), maxStoredHolds)])
	for i := range c.Holds {
		c.Holds[i].Visits = storableVisits(c.Holds[i].Visits)
	}
	c.Holds = slices.DeleteFunc(c.Holds, func(h HeldVersion) bool { return len(h.Visits) == 0 })
	d, err := EncodeDocument(c, now, MaxDocumentBytes)
	if errors.Is(err, errTooLarge) {
		c.Visits = nil
		d, err = EncodeDocument(c, now, MaxDocumentBytes)
	}
	return d, err
}

func storableVisits(visits []CrawlerVisit) []CrawlerVisit {
	visits = slices.DeleteFunc(slices.Clone(visits), func(v CrawlerVisit) bool { return !v.isStorable() })
	return visits[:min(len(visits), maxVisits)]
}

func (v CrawlerVisit) isStorable() bool {
	if len(v.GroupNames) > maxGroupNames || len(v.Target) > maxVisitedTargetBytes || len(v.Host) > maxHostBytes || !utf8.ValidString(v.Host) || !isPlausibleTime(v.At) {
		return false
	}
	for _, name := range append([]string{v.Crawler}, v.GroupNames...) {
		if len(name) > maxCrawlerNameBytes || !utf8.ValidString(name) {
			return false
		}
	}
	return true
}

// DecodeChangeGuardState decodes the result of [ChangeGuardState.Encode]. Damaged data and
// unsupported formats are an error.
func DecodeChangeGuardState(data []byte) (c ChangeGuardState, d StoredDocument, err error) {
	if d, err = DecodeDocument(data, &c, MaxDocumentBytes); err == nil {
		err = c.validate()
	}
	if err != nil {
		return ChangeGuardState{}, d, err
	}
	return c, d, nil
}

// validate returns an error if c has an invalid site, time or visit, or exceeds a bound of a stored
// state.
func (c ChangeGuardState) validate() error {
	if err := validateSite(c.Site); err != nil {
		return err
	}
	if len(c.Holds) > maxStoredHolds {
		return fmt.Errorf("%d held versions exceed the maximum of %d", len(c.Holds), maxStoredHolds)
	}
	if !isPlausibleTime(c.FetchedAt) {
		return errors.New("the fetch time of the last compared version is out of range")
	}
	for _, h := range c.Holds {
		if !isPlausibleTime(h.HeldSince) || h.HeldUntil.Before(h.HeldSince) || !isPlausibleTime(h.HeldUntil) || len(h.Visits) == 0 {
			return errors.New("a held version has an invalid time or no visits")
		}
		if err := validateVisits(h.Visits); err != nil {
			return err
		}
	}
	return validateVisits(c.Visits)
}

func validateVisits(visits []CrawlerVisit) error {
	switch {
	case len(visits) > maxVisits:
		return fmt.Errorf("%d visits exceed the maximum of %d", len(visits), maxVisits)
	case slices.ContainsFunc(visits, func(v CrawlerVisit) bool { return !v.isStorable() }):
		return errors.New("a visit has an invalid name, host, target or time")
	}
	return nil
}

// validateSite returns an error if the key does not identify exactly one robots.txt, or is too long
// to be stored.
func validateSite(k policy.Key) error {
	if (k.Source == "") == (k.Host == "") || k.Source != "" && k != (policy.Key{Source: k.Source}) {
		return errors.New("the site needs either a source or a host")
	}
	for _, name := range []string{k.Source, k.Server, k.Site, k.Host, k.ForwardedHost} {
		if !utf8.ValidString(name) || len(name) > 8*maxHostBytes {
			return errors.New("the name of a site is too long or not UTF-8")
		}
	}
	return nil
}
