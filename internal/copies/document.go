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

// KeepInterval is the time between two writes of the files of a host. Until the next write, other
// instances assume that our copy is unchanged.
const KeepInterval = time.Hour

// maxHold is the longest time for which the change guard enforces an older file.
const maxHold = 31 * 24 * time.Hour

// clockSkew is the maximum difference between the clocks of two machines.
const clockSkew = 5 * time.Minute

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

// Document is the stored form of the files of a host.
type Document struct {
	Data  []byte
	Sum   [sha256.Size]byte // hash of the content without the time
	Saved time.Time
}

// storedUnnamed is the maximum number of unconfigured hosts whose files are stored.
const storedUnnamed = 256

// Hosts returns the hosts whose files should be stored: all configured hosts and up to 256 others.
// Among the others, hosts with several files come first, then the most recently used. So invented
// hosts, which have one file each, evict no host with a history.
func (b *Book) Hosts() (hosts []Host) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.parts[0].hosts.Values() {
		hosts = append(hosts, h.host)
	}
	unnamed := b.parts[1].hosts.Values()
	slices.Reverse(unnamed) // starts with the oldest
	slices.SortStableFunc(unnamed, func(x, y *files) int { return min(len(y.all), 2) - min(len(x.all), 2) })
	for _, h := range unnamed[:min(len(unnamed), storedUnnamed)] {
		hosts = append(hosts, h.host)
	}
	return hosts
}

// Revision returns a number that increases with each change worth storing.
func (b *Book) Revision(host Host) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.get(host); h != nil {
		return h.changes
	}
	return 0
}

// Encode returns the files of a host for [Book.Restore]. empty is true if there is nothing to
// store.
func (b *Book) Encode(host Host, now time.Time) (d Document, empty bool, err error) {
	b.mu.Lock()
	h := b.get(host)
	if h == nil {
		b.mu.Unlock()
		return d, true, nil
	}
	content := contentJSON{
		Away: h.rulelessSince.UTC(), AwayUntil: h.rulelessUntil.UTC(), Lost: h.lost.UTC(), LostFor: storedTokens(h.lostFor), Ended: h.ended.UTC(),
	}
	unnamed := !h.named
	for _, f := range h.all {
		robots := f.robots.Value()
		if robots == nil {
			continue
		}
		one := fileJSON{Copied: f.copied.UTC(), Served: storedTokens(f.served), Extra: f.extra, Held: f.inForceUntil.UTC(), Text: []byte(robots.Text())}
		if f.digest == h.current && !f.copied.IsZero() {
			one.Copied = later(f.copied, h.noted.Add(KeepInterval)).UTC()
		}
		content.Files = append(content.Files, one)
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
	return Document{Data: data, Sum: sha256.Sum256(same), Saved: now}, false, nil
}

// storedTokens returns the tokens that can be encoded.
func storedTokens(all map[string]time.Time) map[string]time.Time {
	stored := make(map[string]time.Time, len(all))
	for token, at := range all {
		if utf8.ValidString(token) {
			stored[token] = at.UTC()
		} else {
			stored[everyToken] = later(stored[everyToken], at.UTC())
		}
	}
	return stored
}

// Stored is a decoded Document.
type Stored struct {
	Host    Host
	Saved   time.Time
	unnamed bool
	content contentJSON
}

// Decode decodes the output of [Book.Encode]. It returns an error if the data are damaged or have a
// newer format.
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
		return s, sum, errors.New("it names neither a host nor a source")
	}
	if len(host.Files) > maxCopied+maxServed+1 || len(host.LostFor) > maxTokens+1 {
		return s, sum, errors.New("it has more files or tokens than a host can have")
	}
	for _, f := range host.Files {
		if len(f.Served) > maxTokens+1 || len(f.Text) > policy.MaxSize || f.Extra < 0 {
			return s, sum, errors.New("a file has more tokens or bytes than it can have")
		}
	}
	same, err := json.Marshal(host.contentJSON)
	return Stored{host.Host, host.Saved, host.Unnamed, host.contentJSON}, sha256.Sum256(same), err
}

// Restore merges stored files of a host into the Book. own is true if this instance stored them
// before a restart. Otherwise ahead is how far the clock of the other instance is ahead. Restore
// removes no records.
func (b *Book) Restore(s Stored, own bool, ahead time.Duration, now time.Time) {
	latest := now // a restarted instance has had no copy since then
	if !own {
		latest = now.Add(KeepInterval + clockSkew)
	}
	at := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		if t = t.Add(-ahead); t.After(latest) {
			t = now
		}
		return t
	}
	merge := func(into *map[string]time.Time, from map[string]time.Time) {
		if *into == nil && len(from) > 0 {
			*into = make(map[string]time.Time)
		}
		for token, last := range from {
			(*into)[token] = later((*into)[token], at(last))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	named := !s.unnamed
	if known := b.get(s.Host); known != nil {
		named = known.named
	}
	h := b.open(s.Host, named, now)
	for _, stored := range s.content.Files {
		robots := policy.Parse(stored.Text)
		v := &policy.Version{Robots: robots, Hash: sha256.Sum256(stored.Text), Derived: b.derive(robots), Lifetime: policy.NoLifetime}
		if len(h.all) == 0 { // otherwise the first file would have only a digest
			f := &file{digest: robots.RulesDigest()}
			b.keep(h, f, v)
			h.all = []*file{f}
		}
		f := h.find(robots.RulesDigest())
		if f == nil {
			f = b.add(h, v, now)
		}
		f.copied, f.extra = later(f.copied, at(stored.Copied)), max(f.extra, stored.Extra)
		if !stored.Held.IsZero() && stored.Held.Before(now.Add(maxHold)) {
			f.inForceUntil = later(f.inForceUntil, stored.Held.Add(-ahead))
		}
		merge(&f.served, stored.Served)
	}
	merge(&h.lostFor, s.content.LostFor)
	h.lost, h.ended = later(h.lost, at(s.content.Lost)), later(h.ended, at(s.content.Ended))
	if h.rulelessSince.IsZero() && h.noted.IsZero() {
		h.rulelessSince, h.rulelessUntil = at(s.content.Away), at(s.content.AwayUntil)
	}
	b.bound(h, now)
}
