package copies

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// MaxDocument is the maximum stored size of the files of one host, in bytes.
const MaxDocument = 4 << 20

// SaveInterval is the time between two writes of the files of a host. Until the next write, other
// instances assume that the guard's copy is unchanged.
const SaveInterval = time.Hour

// maxStoredHold is the maximum remaining time of a stored hold. Restore ignores longer holds.
const maxStoredHold = 31 * 24 * time.Hour

// StoredHost is the stored form of the files of a host.
type StoredHost struct {
	Host    Host         `json:"host"`
	Unnamed bool         `json:"unnamed,omitempty"` // Unnamed is true if the configuration does not name the host.
	Files   []storedFile `json:"files"`
	missingRulesTimes
}

type storedFile struct {
	fileUses
	Hash ledger.Version `json:"sha256"`
	Text []byte         `json:"gzip"` // Text is the compressed file. See [policy.Robots.CompressedText].
}

// maxStoredUnknownHosts is the maximum number of unconfigured hosts whose files are stored.
const maxStoredUnknownHosts = 256

// HostsToStore returns the hosts whose files should be stored: all configured hosts and up to 256
// other hosts. Hosts with several files come first, then the most recently used hosts. Hosts that
// clients invent have a single file each, so they never displace a host with several files.
func (h *History) HostsToStore() (hosts []Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, record := range h.hostSets[0].hosts.Values() {
		hosts = append(hosts, record.host)
	}
	unnamed := h.hostSets[1].hosts.Values()
	slices.Reverse(unnamed) // Values starts with the oldest host.
	slices.SortStableFunc(unnamed, func(x, y *hostRecord) int { return min(len(y.files), 2) - min(len(x.files), 2) })
	for _, record := range unnamed[:min(len(unnamed), maxStoredUnknownHosts)] {
		hosts = append(hosts, record.host)
	}
	return hosts
}

// Revision returns a number that increases with each change of a host's files that is worth
// storing.
func (h *History) Revision(host Host) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if record := h.findRecord(host); record != nil {
		return record.revision
	}
	return 0
}

// EncodeHost returns the files of a host for storage and for [DecodeStoredHost]. empty is true if
// there is nothing to store.
func (h *History) EncodeHost(host Host, now time.Time) (d ledger.StoredDocument, empty bool, err error) {
	stored, files := h.snapshotHost(host)
	for i, robots := range files {
		stored.Files[i].Text = robots.CompressedText()
	}
	if len(stored.Files) == 0 && stored.LostAt.IsZero() && len(stored.LostAtByToken) == 0 {
		return d, true, nil
	}
	d, err = ledger.EncodeDocument(stored, now, MaxDocument)
	return d, false, err
}

// snapshotHost returns the stored form of a host's files without their Text, and the parsed
// contents of each file.
func (h *History) snapshotHost(host Host) (stored StoredHost, contents []*policy.Robots) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.findRecord(host)
	if record == nil {
		return stored, nil
	}
	stored = StoredHost{Host: host, Unnamed: !record.configured, missingRulesTimes: record.missingRulesTimes}
	stored.LostAtByToken = maps.Clone(record.LostAtByToken)
	for _, f := range record.files {
		robots := f.robots.Value()
		if robots == nil {
			continue
		}
		entry := storedFile{fileUses: f.fileUses, Hash: f.hash}
		entry.Served = maps.Clone(f.Served)
		if f.digest == record.currentDigest && !f.LastCopied.IsZero() {
			entry.LastCopied = laterTime(f.LastCopied, record.lastRecorded.Add(SaveInterval))
		}
		stored.Files, contents = append(stored.Files, entry), append(contents, robots)
	}
	return stored, contents
}

// DecodeStoredHost decodes the output of [History.EncodeHost]. DecodeStoredHost returns an error if
// the data are damaged or have another format.
func DecodeStoredHost(data []byte) (s StoredHost, d ledger.StoredDocument, err error) {
	if d, err = ledger.DecodeDocument(data, &s, MaxDocument); err != nil {
		return s, d, err
	}
	if (s.Host.Source == "") == (s.Host.Name == "") {
		return s, d, errors.New("the document must name either a host or a source")
	}
	if len(s.Files) > maxCopiedFiles+maxServedFiles+1 || len(s.LostAtByToken) > maxTokens+1 {
		return s, d, errors.New("the stored copies of the host have too many files or product tokens")
	}
	for _, f := range s.Files {
		if len(f.Served) > maxTokens+1 || f.ProxyTime < 0 {
			return s, d, errors.New("a file in the document has too many product tokens, or the time extra is negative")
		}
	}
	return s, d, nil
}

// Restore merges stored files of a host into the History. own is true if this instance stored them
// before a restart. Otherwise clockLead is the time by which the clock of the other instance is
// ahead. Restore removes only what exceeds the bounds. Restore returns an error and changes nothing
// if a file cannot be decompressed or if the files are too large.
func (h *History) Restore(s StoredHost, own bool, clockLead time.Duration, now time.Time) error {
	versions, err := h.parseStoredFiles(s)
	if err != nil {
		return err
	}
	latest := now // A restarted instance has had no copy since then.
	if !own {
		latest = now.Add(SaveInterval + maxClockSkew)
	}
	clamp := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		if t = t.Add(-clockLead); t.After(latest) {
			t = now
		}
		return t
	}
	merge := func(into *map[string]time.Time, from map[string]time.Time) {
		if *into == nil && len(from) > 0 {
			*into = make(map[string]time.Time)
		}
		for token, last := range from {
			(*into)[token] = laterTime((*into)[token], clamp(last))
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	configured := !s.Unnamed
	if known := h.findRecord(s.Host); known != nil {
		configured = known.configured
	}
	record := h.getOrAddRecord(s.Host, configured, now)
	for i, stored := range s.Files {
		f := h.restoreFile(record, versions[i], now)
		f.LastCopied, f.ProxyTime = laterTime(f.LastCopied, clamp(stored.LastCopied)), max(f.ProxyTime, stored.ProxyTime)
		if !stored.HeldUntil.IsZero() && stored.HeldUntil.Before(now.Add(maxStoredHold)) {
			f.HeldUntil = laterTime(f.HeldUntil, stored.HeldUntil.Add(-clockLead))
		}
		merge(&f.Served, stored.Served)
	}
	merge(&record.LostAtByToken, s.LostAtByToken)
	record.LostAt, record.GraceEndedAt = laterTime(record.LostAt, clamp(s.LostAt)), laterTime(record.GraceEndedAt, clamp(s.GraceEndedAt))
	if record.RulelessSince.IsZero() && record.lastRecorded.IsZero() {
		record.RulelessSince, record.RulelessUntil = clamp(s.RulelessSince), clamp(s.RulelessUntil)
	}
	h.enforceBounds(record, now)
	return nil
}

// parseStoredFiles returns the contents of stored files. It parses only files that h does not have,
// and does not lock h.mu while it parses.
func (h *History) parseStoredFiles(s StoredHost) ([]*policy.Version, error) {
	versions := h.findKnownVersions(s)
	size := 0
	for i, v := range versions {
		if v == nil {
			robots, err := policy.ParseCompressed(s.Files[i].Text)
			if err != nil {
				return nil, err
			}
			// The stored hash is not used, because hosts share a version by its hash. Without the
			// hash of the body, a file larger than policy.MaxSize has the hash of its parsed part.
			v = &policy.Version{Robots: robots, Hash: sha256.Sum256([]byte(robots.Text())), Derived: h.deriveFromRobots(robots), Lifetime: policy.NoLifetime}
			versions[i] = v
		}
		if size += len(v.Robots.Text()); size > maxTextBytes+policy.MaxSize {
			return nil, fmt.Errorf("the robots.txt files of the host have more than %d bytes", maxTextBytes+policy.MaxSize)
		}
	}
	return versions, nil
}

// findKnownVersions returns the contents of each stored file that h has already, and nil for each
// other file.
func (h *History) findKnownVersions(s StoredHost) []*policy.Version {
	h.mu.Lock()
	defer h.mu.Unlock()
	versions := make([]*policy.Version, len(s.Files))
	record := h.findRecord(s.Host)
	if record == nil {
		return versions
	}
	for i, stored := range s.Files {
		for _, f := range record.files {
			if f.hash == stored.Hash {
				versions[i] = h.getVersion(f)
			}
		}
	}
	return versions
}

// restoreFile returns the record's file with the rules of a stored file, and adds the file if
// necessary. h.mu must be locked.
func (h *History) restoreFile(record *hostRecord, v *policy.Version, now time.Time) *recordedFile {
	digest := record.rulesDigest(v)
	if f := record.findFile(digest); f != nil {
		return f
	}
	if len(record.files) > 0 {
		return h.addVersion(record, v, now)
	}
	f := &recordedFile{digest: digest} // The method addVersion would not keep the contents of the first file.
	h.setVersion(record, f, v)
	record.files = []*recordedFile{f}
	return f
}
