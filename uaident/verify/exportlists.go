package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const exportVersion = 1

// exportedLists is the JSON format of [Verifier.ExportLists].
type exportedLists struct {
	Version int            `json:"version"`
	Lists   []exportedList `json:"lists"`
}

type exportedList struct {
	URL          string         `json:"url"`
	ETag         string         `json:"etag,omitempty"`
	LastModified string         `json:"last_modified,omitempty"`
	Changed      time.Time      `json:"changed"`
	Checked      time.Time      `json:"checked"`
	ShrunkSince  time.Time      `json:"shrunk_since,omitzero"`
	Prefixes     []netip.Prefix `json:"prefixes"`
}

// ExportLists returns the fetched lists as versioned JSON, for [Verifier.ImportLists] after a
// restart. ExportLists omits lists from files.
func (v *Verifier) ExportLists() ([]byte, error) {
	exported := exportedLists{Version: exportVersion, Lists: []exportedList{}}
	for _, l := range v.activeConfig.Load().lists {
		active := l.active.Load()
		if l.isFile || active == nil {
			continue
		}
		l.mu.Lock()
		exported.Lists = append(exported.Lists, exportedList{
			URL: l.source, ETag: l.state.etag, LastModified: l.state.lastModified,
			Changed: l.state.lastChanged, Checked: l.state.lastChecked, ShrunkSince: l.state.shrunkSince, Prefixes: active.prefixes,
		})
		l.mu.Unlock()
	}
	slices.SortFunc(exported.Lists, func(a, b exportedList) int { return strings.Compare(a.URL, b.URL) })
	return json.Marshal(exported)
}

// ImportLists restores the lists that [Verifier.ExportLists] returned. Call it after
// [Verifier.Configure]. It restores only configured lists that were checked later than the lists in
// use. A restored list must pass the same checks as a fetched list. ImportLists skips a list that
// does not, and returns an error for each.
func (v *Verifier) ImportLists(data []byte) error {
	var exported exportedLists
	if err := json.Unmarshal(data, &exported); err != nil {
		return fmt.Errorf("stored address lists: %w", err)
	}
	if exported.Version != exportVersion {
		return fmt.Errorf("stored address lists: unknown version %d", exported.Version)
	}
	lists := v.activeConfig.Load().lists
	var errs []error
	for _, k := range exported.Lists {
		l := lists[listKey{source: k.URL}]
		if l == nil {
			continue
		}
		invalid := slices.IndexFunc(k.Prefixes, func(p netip.Prefix) bool { return !p.IsValid() || p.Addr().Is4In6() })
		if invalid >= 0 {
			errs = append(errs, fmt.Errorf("stored address list %s: entry %d is not a prefix", k.URL, invalid))
			continue
		}
		t, err := newPrefixTable(k.Prefixes)
		if err != nil {
			errs = append(errs, fmt.Errorf("stored address list %s: %w", k.URL, err))
			continue
		}
		v.restoreList(l, t, k)
	}
	return errors.Join(errs...)
}

func (v *Verifier) restoreList(l *addressList, t *prefixTable, k exportedList) {
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	now := v.options.Now()
	if k.Checked.After(now) {
		k.Checked = now // The clock was changed.
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.state.lastChecked.Before(k.Checked) {
		return
	}
	deniesUntil := v.toMonotime(k.Checked) + monotime(maxDenyAge)
	if k.ShrunkSince.After(now) {
		k.ShrunkSince = now
	}
	if !k.ShrunkSince.IsZero() {
		// A list that lost most of its prefixes denies no client. deferShrunkList does the same.
		deniesUntil = v.toMonotime(now)
	}
	l.active.Store(&activePrefixes{t, deniesUntil})
	l.state.etag, l.state.lastModified = k.ETag, k.LastModified
	l.state.lastChanged, l.state.lastChecked = k.Changed, k.Checked
	l.state.nextLoad = k.Checked.Add(addJitter(refreshInterval))
	l.state.err, l.state.failures, l.state.shrunkSince = nil, 0, k.ShrunkSince
}
