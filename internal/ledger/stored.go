package ledger

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// StoredSite is the data about a site as kept in the storage.
type StoredSite struct {
	Since time.Time `json:"since"` // Since is the time at which counting started.
	Saved time.Time `json:"saved"`
	Site  *Site     `json:"site"`
}

// MaxStoredSiteBytes is the maximum size of an encoded site in bytes.
const MaxStoredSiteBytes = 8 << 20

// These are bounds on decoded data. The largest possible site is smaller.
const (
	maxDecodedBytes   = 24 << 20
	maxDecodedObjects = 25_000
	maxDecodedArrays  = 150_000
)

// maxStoredRows is the maximum number of rows of a decoded site. A site of a ledger has fewer rows:
// maxRows, and one for each class and identity.
const maxStoredRows = 256

// storedHeader begins an encoded site; a SHA-256 of the rest follows.
const storedHeader = "robots_guard ledger 1\n"

// gzipWriters reuses gzip writers, which have 1.2 MB each.
var gzipWriters = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // gzip.BestSpeed is a valid level.
	return z
}}

// Encode returns the site as bytes: a header with the version of the format, a SHA-256 of all bytes
// after it, and JSON compressed with gzip.
func (s StoredSite) Encode() ([]byte, error) {
	var compressed bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	defer z.Reset(io.Discard) // This lets the garbage collector free the buffer.
	z.Reset(&compressed)
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(compressed.Bytes())
	data := slices.Concat([]byte(storedHeader), sum[:], compressed.Bytes())
	if len(data) > MaxStoredSiteBytes {
		return nil, fmt.Errorf("the encoded site has %d bytes, more than the maximum of %d", len(data), MaxStoredSiteBytes)
	}
	return data, nil
}

// DecodeStoredSite decodes the result of Encode. The site in the result respects the bounds of a
// ledger, whatever the input. Damaged data and unknown formats are an error.
func DecodeStoredSite(data []byte) (StoredSite, error) {
	if len(data) > MaxStoredSiteBytes {
		return StoredSite{}, fmt.Errorf("the encoded site has %d bytes, more than the maximum of %d", len(data), MaxStoredSiteBytes)
	}
	rest, ok := bytes.CutPrefix(data, []byte(storedHeader))
	if !ok || len(rest) < sha256.Size {
		return StoredSite{}, errors.New("unknown format")
	}
	sum, compressed := rest[:sha256.Size], rest[sha256.Size:]
	if got := sha256.Sum256(compressed); !bytes.Equal(got[:], sum) {
		return StoredSite{}, errors.New("damaged: checksum mismatch")
	}
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return StoredSite{}, fmt.Errorf("damaged: %w", err)
	}
	decoded, err := io.ReadAll(io.LimitReader(z, maxDecodedBytes+1))
	if err != nil {
		return StoredSite{}, fmt.Errorf("damaged: %w", err)
	}
	if objects, arrays := jsontext.CountContainers(decoded); len(decoded) > maxDecodedBytes || objects > maxDecodedObjects || arrays > maxDecodedArrays {
		return StoredSite{}, errors.New("the decoded site is too large")
	}
	var s StoredSite
	if err := json.Unmarshal(decoded, &s); err != nil {
		return StoredSite{}, fmt.Errorf("damaged: %w", err)
	}
	if s.Site == nil || s.Site.Name == "" || len(s.Site.Name) > maxSiteNameBytes {
		return StoredSite{}, errors.New("the site has no name, or one that is too long")
	}
	stored := s.Site
	stored.sanitize()
	s.Site = &Site{Name: stored.Name, Mode: stored.Mode}
	s.Site.merge(stored) // This bounds the series, visits and lines.
	return s, nil
}

// sanitize removes invalid values from a decoded site, and shortens strings and lists that are too
// long.
func (s *Site) sanitize() {
	if !isMode(s.Mode) {
		s.Mode = ""
	}
	s.Changes = slices.DeleteFunc(s.Changes, func(m SiteChange) bool { return !m.isValid() })
	s.VersionHits = s.VersionHits[:min(len(s.VersionHits), maxVersions)]
	for _, hosts := range []*spacesaving.Sketch[string]{&s.Hosts, &s.HostViolations, &s.HostBlocks} {
		hosts.Clean(maxHosts, func(host *string) { truncateInPlace(host, maxSiteNameBytes) })
	}
	s.Rows = slices.DeleteFunc(s.Rows, func(w *Row) bool {
		return w == nil || w.Token == "" || len(w.Token) > maxTokenBytes || !isClass(w.Class)
	})
	s.Rows = s.Rows[:min(len(s.Rows), maxStoredRows)]
	for _, w := range s.Rows {
		w.sanitize()
	}
}

// isClass reports whether the name is that of a class that a row can have: any class but Browser.
func isClass(name string) bool {
	class, ok := uaident.ParseClass(name)
	return ok && class != uaident.Browser
}

func (w *Row) sanitize() {
	shortenName := func(name *string) { truncateInPlace(name, maxTokenBytes) }
	w.Names.Clean(maxNames, shortenName)
	w.NamesOfViolators.Clean(maxNames, shortenName)
	w.Rules.Clean(maxRules, func(k *RuleKey) { k.truncateStrings() })
	w.Paths.Clean(maxPaths, func(k *PathKey) {
		truncateInPlace(&k.Host, maxSiteNameBytes)
		truncateInPlace(&k.Name, maxTokenBytes)
		truncateInPlace(&k.Path, maxTargetBytes)
		k.truncateStrings()
	})
	w.UserAgents.Clean(maxUserAgents, func(agent *string) { truncateInPlace(agent, maxUserAgentBytes) })
	w.Networks.Clean(maxNetworks, nil)
	w.Samples = w.Samples[max(0, len(w.Samples)-maxSamples):]
	for i := range w.Samples {
		s := &w.Samples[i]
		truncateInPlace(&s.Host, maxSiteNameBytes)
		truncateInPlace(&s.Name, maxTokenBytes)
		truncateInPlace(&s.Method, maxMethodBytes)
		truncateInPlace(&s.Path, maxTargetBytes)
		truncateInPlace(&s.UserAgent, maxUserAgentBytes)
		s.Rule.truncateStrings()
		truncateInPlace((*string)(&s.FetchedVersion), maxMethodBytes)
	}
}

func (r *Rule) truncateStrings() {
	truncateInPlace(&r.Text, maxRuleBytes)
	truncateInPlace(&r.Group, maxTokenBytes)
}

// truncateInPlace shortens a string to at most maxBytes bytes. The result does not share the memory
// of the longer string.
func truncateInPlace(s *string, maxBytes int) {
	if len(*s) > maxBytes {
		*s = cloneTruncated(*s, maxBytes)
	}
}
