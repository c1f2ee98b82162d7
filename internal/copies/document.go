package copies

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// MaxDocument is the maximum stored size of the files of one host, in bytes.
const MaxDocument = 4 << 20

const documentFormat = 1

// SaveInterval is the time between two writes of the files of a host. Until the next write, other
// instances assume that our copy is unchanged.
const SaveInterval = time.Hour

// maxStoredHold is the maximum remaining time of a stored hold. Restore ignores longer holds.
const maxStoredHold = 31 * 24 * time.Hour

type (
	envelopeJSON struct {
		Format  int             `json:"format"`
		SHA256  string          `json:"sha256"`
		Content json.RawMessage `json:"content"`
	}
	hostJSON struct {
		Host
		Unnamed bool      `json:"unnamed,omitempty"` // the host is not configured
		Saved   time.Time `json:"saved"`
		contentJSON
	}
	contentJSON struct {
		Files     []fileJSON           `json:"files"`
		Away      time.Time            `json:"away,omitzero"`
		AwayUntil time.Time            `json:"away_until,omitzero"`
		Lost      time.Time            `json:"lost,omitzero"`
		LostFor   map[string]time.Time `json:"lost_for,omitempty"`
		Ended     time.Time            `json:"ended,omitzero"`
	}
	fileJSON struct {
		Copied time.Time            `json:"copied,omitzero"`
		Served map[string]time.Time `json:"served,omitempty"`
		Extra  time.Duration        `json:"extra,omitempty"`
		Held   time.Time            `json:"held,omitzero"`
		Text   []byte               `json:"text,omitempty"`
	}
)

// Encoded is the stored form of the files of a host.
type Encoded struct {
	Data  []byte
	Sum   [sha256.Size]byte // hash of the content without the time
	Saved time.Time
}

// storedUnnamed is the maximum number of unconfigured hosts whose files are stored.
const storedUnnamed = 256

// Hosts returns the hosts whose files should be stored: all configured hosts and up to 256 other
// hosts. Hosts with several files come first, then the most recently used hosts. Unknown hosts have
// a single file each, so they never evict a host with several files.
func (b *History) Hosts() (hosts []Host) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, record := range b.hostSets[0].hosts.Values() {
		hosts = append(hosts, record.host)
	}
	unnamed := b.hostSets[1].hosts.Values()
	slices.Reverse(unnamed) // starts with the oldest
	slices.SortStableFunc(unnamed, func(x, y *hostRecord) int { return min(len(y.files), 2) - min(len(x.files), 2) })
	for _, record := range unnamed[:min(len(unnamed), storedUnnamed)] {
		hosts = append(hosts, record.host)
	}
	return hosts
}

// Revision returns a number that increases with each change worth storing.
func (b *History) Revision(host Host) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if record := b.record(host); record != nil {
		return record.revision
	}
	return 0
}

// Encode returns the files of a host for [History.Restore]. empty is true for a host without files.
func (b *History) Encode(host Host, now time.Time) (d Encoded, empty bool, err error) {
	b.mu.Lock()
	record := b.record(host)
	if record == nil {
		b.mu.Unlock()
		return d, true, nil
	}
	content := contentJSON{
		Away: record.rulelessSince.UTC(), AwayUntil: record.rulelessUntil.UTC(), Lost: record.lostAt.UTC(), LostFor: storedTokens(record.lostAtByToken), Ended: record.graceEndedAt.UTC(),
	}
	unnamed := !record.configured
	for _, f := range record.files {
		robots := f.robots.Value()
		if robots == nil {
			continue
		}
		entry := fileJSON{Copied: f.lastCopied.UTC(), Served: storedTokens(f.served), Extra: f.proxyTime, Held: f.heldUntil.UTC(), Text: []byte(robots.Text())}
		if f.digest == record.currentDigest && !f.lastCopied.IsZero() {
			entry.Copied = laterOf(f.lastCopied, record.lastRecorded.Add(SaveInterval)).UTC()
		}
		content.Files = append(content.Files, entry)
	}
	b.mu.Unlock()
	if len(content.Files) == 0 && content.Lost.IsZero() && len(content.LostFor) == 0 {
		return d, true, nil
	}
	inner, err := json.Marshal(hostJSON{host, unnamed, now.UTC(), content})
	if err != nil {
		return d, false, err
	}
	same, err := json.Marshal(content)
	if err != nil {
		return d, false, err
	}
	data := slices.Concat(fmt.Appendf(nil, `{"format":%d,"sha256":"%x","content":`, documentFormat, sha256.Sum256(inner)), inner, []byte("}"))
	return Encoded{Data: data, Sum: sha256.Sum256(same), Saved: now}, false, nil
}

// storedTokens returns the tokens that can be encoded.
func storedTokens(all map[string]time.Time) map[string]time.Time {
	stored := make(map[string]time.Time, len(all))
	for token, at := range all {
		if utf8.ValidString(token) {
			stored[token] = at.UTC()
		} else {
			stored[everyToken] = laterOf(stored[everyToken], at.UTC())
		}
	}
	return stored
}

// Stored is a decoded [Encoded].
type Stored struct {
	Host    Host
	Saved   time.Time
	unnamed bool
	content contentJSON
}

// Decode decodes the output of [History.Encode]. Decode returns an error if the data are damaged or
// have a newer format.
func Decode(data []byte) (s Stored, sum [sha256.Size]byte, err error) {
	var envelope envelopeJSON
	var host hostJSON
	if err := json.Unmarshal(data, &envelope); err != nil {
		return s, sum, fmt.Errorf("no files: %w", err)
	}
	switch inner := sha256.Sum256(envelope.Content); {
	case envelope.Format != documentFormat:
		return s, sum, fmt.Errorf("format %d is not known; this version reads %d", envelope.Format, documentFormat)
	case hex.EncodeToString(inner[:]) != envelope.SHA256:
		return s, sum, errors.New("the checksum does not match")
	}
	if err := json.Unmarshal(envelope.Content, &host); err != nil {
		return s, sum, fmt.Errorf("no files: %w", err)
	}
	if (host.Source == "") == (host.Name == "") {
		return s, sum, errors.New("the document must name either a host or a source")
	}
	if len(host.Files) > maxCopiedFiles+maxServedFiles+1 || len(host.LostFor) > maxTokens+1 {
		return s, sum, errors.New("the document has too many files or tokens")
	}
	for _, f := range host.Files {
		if len(f.Served) > maxTokens+1 || len(f.Text) > policy.MaxSize || f.Extra < 0 {
			return s, sum, errors.New("a file has too many tokens or bytes")
		}
	}
	same, err := json.Marshal(host.contentJSON)
	return Stored{host.Host, host.Saved, host.Unnamed, host.contentJSON}, sha256.Sum256(same), err
}

// Restore merges stored files of a host into the History. own is true if this instance stored them
// before a restart. Otherwise clockLead is how far the clock of the other instance is ahead. Restore
// removes no records.
func (b *History) Restore(s Stored, own bool, clockLead time.Duration, now time.Time) {
	latest := now // a restarted instance has had no copy since then
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
			(*into)[token] = laterOf((*into)[token], clamp(last))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	named := !s.unnamed
	if known := b.record(s.Host); known != nil {
		named = known.configured
	}
	record := b.openRecord(s.Host, named, now)
	for _, stored := range s.content.Files {
		robots := policy.Parse(stored.Text)
		v := &policy.Version{Robots: robots, Hash: sha256.Sum256(stored.Text), Derived: b.derive(robots), Lifetime: policy.NoLifetime}
		if len(record.files) == 0 { // otherwise the first file would have only a digest
			f := &file{digest: robots.RulesDigest()}
			b.setVersion(record, f, v)
			record.files = []*file{f}
		}
		f := record.find(robots.RulesDigest())
		if f == nil {
			f = b.add(record, v, now)
		}
		f.lastCopied, f.proxyTime = laterOf(f.lastCopied, clamp(stored.Copied)), max(f.proxyTime, stored.Extra)
		if !stored.Held.IsZero() && stored.Held.Before(now.Add(maxStoredHold)) {
			f.heldUntil = laterOf(f.heldUntil, stored.Held.Add(-clockLead))
		}
		merge(&f.served, stored.Served)
	}
	merge(&record.lostAtByToken, s.content.LostFor)
	record.lostAt, record.graceEndedAt = laterOf(record.lostAt, clamp(s.content.Lost)), laterOf(record.graceEndedAt, clamp(s.content.Ended))
	if record.rulelessSince.IsZero() && record.lastRecorded.IsZero() {
		record.rulelessSince, record.rulelessUntil = clamp(s.content.Away), clamp(s.content.AwayUntil)
	}
	b.enforceBounds(record, now)
}
