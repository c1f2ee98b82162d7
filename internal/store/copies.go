package store

import (
	"fmt"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxCopyHosts is the maximum number of values of the kind "copies" to read per instance, and to
// write.
const maxCopyHosts = 2048

// newCopyValues returns the values of the kind "copies". There is one for each host, with the
// robots.txt files that crawlers may still obey.
func (s *Store) newCopyValues() *trackedValues {
	return &trackedValues{store: s, changes: s.copyChanges, restore: s.restoreCopies}
}

// copyChanges returns the hosts whose files are stored, with their revisions. Without a new file,
// the revision of a host changes once per [copies.SaveInterval].
func (s *Store) copyChanges(bool) iter.Seq[valueChange] {
	files, now := s.memory.parts.Copies, s.now()
	return func(yield func(valueChange) bool) {
		hosts := files.HostsToStore()
		for _, host := range hosts[:min(len(hosts), maxCopyHosts)] {
			change := valueChange{
				name: copyValueName(host), logField: zap.Stringer("site", host),
				revision: revision{urgent: files.Revision(host), other: uint64(now.Unix()) / uint64(copies.SaveInterval/time.Second)},
				encode:   func() (ledger.StoredDocument, bool, error) { return files.EncodeHost(host, s.now()) },
			}
			if !yield(change) {
				return
			}
		}
	}
}

func (s *Store) restoreCopies(v value, _ *readSummary) (writtenValue, error) {
	stored, d, err := copies.DecodeStoredHost(v.data)
	switch {
	case err != nil:
		return writtenValue{}, err
	case copyValueName(stored.Host) != v.key.name:
		return writtenValue{}, fmt.Errorf("the value belongs to %s, which has another key", stored.Host)
	case s.isExpired(d.Saved):
		return writtenValue{}, errExpired
	}
	now, offset := s.now(), time.Duration(0)
	if !v.isOwn {
		offset = s.peers.updateClock(v.key, d.Saved, now)
	}
	// Other instances may have a different file at the same path.
	if v.isOwn || !(policy.Key{Source: stored.Host.Source}).IsFile() {
		if err := s.memory.parts.Copies.Restore(stored, v.isOwn, offset, now); err != nil {
			return writtenValue{}, err
		}
	}
	return writtenValue{hash: d.Checksum, saved: d.Saved}, nil
}

// copyValueName returns the name under which the files of a host are stored.
func copyValueName(h copies.Host) string {
	return hashName(fmt.Sprintf("%q %t %q %d %q", h.Source, h.Secure, h.Name, h.Port, h.ForwardedHost), suffixJSON)
}
