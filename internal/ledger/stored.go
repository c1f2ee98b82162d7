package ledger

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// StoredSite is a site in storage.
type StoredSite struct {
	Since time.Time `json:"since"` // start of counting
	Saved time.Time `json:"saved"`
	Site  *Site     `json:"site"`
}

// MaxStored bounds an encoded site, in bytes.
const MaxStored = 8 << 20

// Bounds on decoded data. The largest possible site is smaller.
const (
	maxDecoded        = 24 << 20
	maxDecodedObjects = 25_000
	maxDecodedArrays  = 150_000
)

// storedHeader begins an encoded site; a SHA-256 of the rest follows.
const storedHeader = "robots_guard ledger 1\n"

// packers reuses gzip writers, which have 1.2 MB each.
var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	return z
}}

// Encode returns the site as bytes: a header with the version of the format, a
// SHA-256 of what follows, and JSON compressed with gzip.
func (s StoredSite) Encode() ([]byte, error) {
	var packed bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	defer z.Reset(io.Discard) // releases the buffer
	z.Reset(&packed)
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(packed.Bytes())
	data := slices.Concat([]byte(storedHeader), sum[:], packed.Bytes())
	if len(data) > MaxStored {
		return nil, fmt.Errorf("%d bytes exceed the maximum size of a site", len(data))
	}
	return data, nil
}

// DecodeStoredSite decodes the result of Encode. The result respects the bounds of a ledger,
// whatever the input.
func DecodeStoredSite(data []byte) (StoredSite, error) {
	if len(data) > MaxStored {
		return StoredSite{}, fmt.Errorf("%d bytes exceed the maximum size of a site", len(data))
	}
	rest, ok := bytes.CutPrefix(data, []byte(storedHeader))
	if !ok || len(rest) < sha256.Size {
		return StoredSite{}, errors.New("unknown format")
	}
	sum, packed := rest[:sha256.Size], rest[sha256.Size:]
	if got := sha256.Sum256(packed); !bytes.Equal(got[:], sum) {
		return StoredSite{}, errors.New("damaged: checksum mismatch")
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return StoredSite{}, fmt.Errorf("damaged: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxDecoded+1))
	if err != nil {
		return StoredSite{}, fmt.Errorf("damaged: %w", err)
	}
	if objects, arrays := jsontext.CountContainers(text); len(text) > maxDecoded || objects > maxDecodedObjects || arrays > maxDecodedArrays {
		return StoredSite{}, errors.New("the decoded site is too large")
	}
	var s StoredSite
	if err := json.Unmarshal(text, &s); err != nil {
		return StoredSite{}, fmt.Errorf("damaged: %w", err)
	}
	if s.Site == nil || s.Site.Name == "" || len(s.Site.Name) > maxSiteName {
		return StoredSite{}, errors.New("missing name of the site")
	}
	s.Site = s.Site.sanitized()
	return s, nil
}

// sanitized returns a copy of a site within the bounds of a ledger.
func (s *Site) sanitized() *Site {
	clean := &Site{Name: s.Name, Hosts: s.Hosts, HostViolations: s.HostViolations, HostBlocks: s.HostBlocks}
	for _, hosts := range []*spacesaving.Sketch[string]{&clean.Hosts, &clean.HostViolations, &clean.HostBlocks} {
		hosts.Clean(maxHosts, func(host *string) { *host = text.Truncate(*host, maxSiteName) })
	}
	for _, w := range s.Rows {
		if w == nil || w.Token == "" || len(w.Token) > maxToken {
			continue
		}
		if class, ok := uaident.ParseClass(w.Class); !ok || class == uaident.Browser {
			continue
		}
		w.sanitize()
		if known := clean.find(w.key()); known != nil {
			known.merge(w)
		} else {
			clean.add(w)
		}
	}
	clean.limit()
	clean.mergeVisits(s)
	clean.sanitizeMarks(s)
	for _, f := range s.Files {
		if len(clean.Files) == maxFiles {
			break
		}
		lines := make(map[uint32]uint64, min(len(f.Lines), maxLines))
		for _, line := range slices.Sorted(maps.Keys(f.Lines)) {
			if len(lines) < maxLines {
				lines[line] = f.Lines[line]
			}
		}
		f.Lines = lines
		clean.Files = append(clean.Files, f)
	}
	return clean
}

// sanitize bounds the data of a row.
func (w *Row) sanitize() {
	for r := range numResolutions {
		var series Series
		for _, cell := range w.Series[r] {
			series.add(r, cell)
		}
		w.Series[r] = series
	}
	for i := range w.Answers {
		var series AnswerSeries
		series.merge(answerResolution(i), w.Answers[i])
		w.Answers[i] = series
	}
	if !isShared(w.Token) {
		w.Names, w.Breakers = spacesaving.Sketch[string]{}, spacesaving.Sketch[string]{}
	}
	w.Names.Clean(maxNames, truncateName)
	w.Breakers.Clean(maxNames, truncateName)
	w.Rules.Clean(maxRules, func(k *RuleKey) { k.truncate() })
	w.Paths.Clean(maxPaths, func(k *PathKey) {
		k.Host, k.Name, k.Path = text.Truncate(k.Host, maxSiteName), text.Truncate(k.Name, maxToken), text.Truncate(k.Path, maxTarget)
		k.truncate()
	})
	w.Agents.Clean(maxAgents, func(k *string) { *k = text.Truncate(*k, maxAgent) })
	w.Networks.Clean(maxNetworks, nil)
	w.Samples = w.Samples[max(0, len(w.Samples)-maxSamples):]
	for i := range w.Samples {
		s := &w.Samples[i]
		s.Host, s.Name = text.Truncate(s.Host, maxSiteName), text.Truncate(s.Name, maxToken)
		s.Method, s.Path, s.Agent = text.Truncate(s.Method, maxMethod), text.Truncate(s.Path, maxTarget), text.Truncate(s.Agent, maxAgent)
		s.Rule.truncate()
	}
}

func truncateName(name *string) { *name = text.Truncate(*name, maxToken) }

func (r *Rule) truncate() {
	r.Text, r.Group = text.Truncate(r.Text, maxRule), text.Truncate(r.Group, maxToken)
}
