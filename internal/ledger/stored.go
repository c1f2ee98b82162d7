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

// Stored is one site of a ledger as it is kept outside of memory.
type Stored struct {
	Since time.Time `json:"since"` // when the ledger began to count
	Saved time.Time `json:"saved"`
	// Counts are the words of the counts in each cell, in their order; those of
	// the first version of the format if there are none. Encode sets them.
	Counts []string `json:"counts,omitempty"`
	Site   *Site    `json:"site"`
}

// MaxStored bounds an encoded site, in bytes.
const MaxStored = 8 << 20

// Bounds of what is decoded: bytes, objects and arrays. The largest site has
// less of each.
const (
	maxDecoded        = 24 << 20
	maxDecodedObjects = 25_000
	maxDecodedArrays  = 150_000
)

// storedHeader begins an encoded site; a SHA-256 of the rest follows.
const storedHeader = "robots_guard ledger 1\n"

// packers are kept from one site to the next: each has 1.2 MB.
var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // which is a level that there is
	return z
}}

// Encode returns the site as bytes: a header with the version of the format, a
// SHA-256 of what follows, and JSON compressed with gzip.
func (s Stored) Encode() ([]byte, error) {
	var packed bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	defer z.Reset(io.Discard) // it keeps no site alive
	z.Reset(&packed)
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	s.Counts = countWords[:]
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(packed.Bytes())
	data := slices.Concat([]byte(storedHeader), sum[:], packed.Bytes())
	if len(data) > MaxStored {
		return nil, fmt.Errorf("%d bytes are more than a site can have", len(data))
	}
	return data, nil
}

// DecodeStored is the inverse of Encode. Whatever the bytes are, what it
// returns is within the bounds of a ledger.
func DecodeStored(data []byte) (Stored, error) {
	if len(data) > MaxStored {
		return Stored{}, fmt.Errorf("%d bytes are more than a site can have", len(data))
	}
	rest, ok := bytes.CutPrefix(data, []byte(storedHeader))
	if !ok || len(rest) < sha256.Size {
		return Stored{}, errors.New("it is no ledger of this version")
	}
	sum, packed := rest[:sha256.Size], rest[sha256.Size:]
	if got := sha256.Sum256(packed); !bytes.Equal(got[:], sum) {
		return Stored{}, errors.New("it is damaged: the checksum is another")
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return Stored{}, fmt.Errorf("it is damaged: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxDecoded+1))
	if err != nil {
		return Stored{}, fmt.Errorf("it is damaged: %w", err)
	}
	if objects, arrays := jsontext.Nesting(text); len(text) > maxDecoded || objects > maxDecodedObjects || arrays > maxDecodedArrays {
		return Stored{}, errors.New("it is larger than a site can be")
	}
	var s Stored
	if err := json.Unmarshal(text, &s); err != nil {
		return Stored{}, fmt.Errorf("it is damaged: %w", err)
	}
	if s.Site == nil || s.Site.Name == "" || len(s.Site.Name) > maxSiteName {
		return Stored{}, errors.New("it names no site")
	}
	if err := s.Site.reorder(s.Counts); err != nil {
		return Stored{}, err
	}
	s.Counts = nil
	s.Site = s.Site.cleaned()
	return s, nil
}

// firstCounts are the counts of the first version of the format, which did not
// name them.
var firstCounts = []string{"allowed", "disallowed", "stale", "exempt", "unknown", "blocked", "would_block"}

// reorder brings the cells of a site, whose counts have these words, into the
// order of [Count].
func (s *Site) reorder(words []string) error {
	if words == nil {
		words = firstCounts
	}
	if slices.Equal(words, countWords[:]) {
		return nil
	}
	if len(words) > int(NumCounts) {
		return errors.New("it has counts of a later version")
	}
	var to []Count
	for _, word := range words {
		i := slices.Index(countWords[:], word)
		if i < 0 || slices.Contains(to, Count(i)) {
			return fmt.Errorf("it has counts of a later version, such as %.40q", word)
		}
		to = append(to, Count(i))
	}
	for _, row := range s.Rows {
		if row == nil {
			continue
		}
		for _, series := range row.Series {
			for i, cell := range series {
				ordered := Cell{0: cell[0]}
				for from, count := range to {
					ordered[1+count] = cell[1+from]
				}
				series[i] = ordered
			}
		}
	}
	return nil
}

// cleaned returns a site as it can be in a ledger.
func (s *Site) cleaned() *Site {
	clean := &Site{Name: s.Name, Hosts: s.Hosts, HostViolations: s.HostViolations, HostBlocks: s.HostBlocks}
	for _, hosts := range []*spacesaving.Sketch[string]{&clean.Hosts, &clean.HostViolations, &clean.HostBlocks} {
		hosts.Clean(maxHosts, func(host *string) { *host = text.Cut(*host, maxSiteName) })
	}
	for _, w := range s.Rows {
		if w == nil || w.Token == "" || len(w.Token) > maxToken {
			continue
		}
		if class, ok := uaident.ParseClass(w.Class); !ok || class == uaident.Browser {
			continue
		}
		w.clean()
		if known := clean.find(w.key()); known != nil {
			known.merge(w)
		} else {
			clean.add(w)
		}
	}
	clean.limit()
	clean.mergeVisits(s)
	clean.cleanMarks(s)
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
		f.Lines, f.Cut = lines, f.Cut || len(lines) < len(f.Lines)
		clean.Files = append(clean.Files, f)
	}
	return clean
}

// clean brings a row into the form that it has in a ledger.
func (w *Row) clean() {
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
	w.Names.Clean(maxNames, boundName)
	w.Breakers.Clean(maxNames, boundName)
	w.Rules.Clean(maxRules, func(k *RuleKey) { k.bound() })
	w.Paths.Clean(maxPaths, func(k *PathKey) {
		k.Host, k.Name, k.Path = text.Cut(k.Host, maxSiteName), text.Cut(k.Name, maxToken), text.Cut(k.Path, maxTarget)
		k.bound()
	})
	w.Agents.Clean(maxAgents, func(k *string) { *k = text.Cut(*k, maxAgent) })
	w.Networks.Clean(maxNetworks, nil)
	w.Samples = w.Samples[max(0, len(w.Samples)-maxSamples):]
	for i := range w.Samples {
		s := &w.Samples[i]
		s.Host, s.Name = text.Cut(s.Host, maxSiteName), text.Cut(s.Name, maxToken)
		s.Method, s.Path, s.Agent = text.Cut(s.Method, maxMethod), text.Cut(s.Path, maxTarget), text.Cut(s.Agent, maxAgent)
		s.Rule.bound()
	}
}

func boundName(name *string) { *name = text.Cut(*name, maxToken) }

func (r *Rule) bound() { r.Text, r.Group = text.Cut(r.Text, maxRule), text.Cut(r.Group, maxToken) }
