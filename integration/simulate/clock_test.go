package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"time"
)

// All instances of a world live by one clock. That of an instance is ahead of the
// others by its skew in that its times go into the storage so much later than it
// has them, and those of others come to it so much earlier: which is all that one
// instance knows of another. A clock that is set right, or wrong, has another skew from
// then on: what was noted before stays as it was.

// maxSkew is how far two clocks may be apart, and how far one is set at most.
const maxSkew = time.Hour

// setting is what an instance's clock was set to.
type setting struct {
	at   time.Time
	skew time.Duration
}

// skewAt is by how much the clock was ahead at a time.
func (l *link) skewAt(at time.Time) time.Duration {
	for _, s := range slices.Backward(l.clock) {
		if !at.Before(s.at) {
			return s.skew
		}
	}
	return l.clock[0].skew
}

// skew is by how much the clock is ahead now.
func (l *link) skew() time.Duration { return l.clock[len(l.clock)-1].skew }

// sets sets the clock of an instance.
func (w *world) sets(dice *rand.Rand, i *instance) {
	if i.storage == nil || !w.setsClocks {
		return
	}
	by := time.Duration(dice.Int64N(int64(maxSkew/time.Second))) * time.Second
	w.tell("the clock of %s is ahead by %s from now on, before by %s", i.id, by, i.storage.skew())
	i.storage.clock = append(i.storage.clock, setting{time.Now(), by})
	w.set = time.Now()
	if dice.IntN(2) == 0 { // as a machine that begins with a clock that is wrong
		i.crash()
		w.tell("%s starts again", i.id)
	}
}

// shifted returns a value of the storage with all its times so much later. What has a
// checksum, the last member of its envelope, gets another one. The counts of the ledger,
// which is no JSON, stay as they are.
func shifted(value []byte, by func(time.Time) time.Duration) []byte {
	if len(value) == 0 || value[0] != '{' {
		return value
	}
	value = shiftedTimes(value, by)
	const sumName = `"sha256":"`
	for _, name := range []string{`","policy":`, `","content":`} {
		head, content, ok := bytes.Cut(value, []byte(name))
		at := bytes.LastIndex(head, []byte(sumName)) + len(sumName)
		if ok && len(head)-at == 2*sha256.Size && bytes.HasPrefix(head, []byte(`{"format":`)) {
			sum := sha256.Sum256(content[:len(content)-1])
			hex.Encode(head[at:], sum[:])
		}
	}
	return value
}

// shiftedTimes returns JSON with all its times, which are in UTC, so much later.
func shiftedTimes(text []byte, by func(time.Time) time.Duration) (shifted []byte) {
	const date, least = len(`"2006-01-02T`), len(`"2006-01-02T15:04:05Z"`)
	shifted = make([]byte, 0, len(text)+64)
	for {
		begin := bytes.IndexByte(text, '"')
		if begin < 0 {
			return append(shifted, text...)
		}
		length := bytes.IndexByte(text[begin+1:], '"') + 2
		if length < 2 {
			return append(shifted, text...)
		}
		quoted := text[begin : begin+length]
		shifted, text = append(shifted, text[:begin]...), text[begin+length:]
		if length >= least && quoted[date-1] == 'T' && quoted[date-4] == '-' && quoted[length-2] == 'Z' {
			if at, err := time.Parse(time.RFC3339Nano, string(quoted[1:length-1])); err == nil && at.Year() != 1 { // the zero time
				shifted = append(shifted, '"')
				shifted = at.Add(by(at)).UTC().AppendFormat(shifted, time.RFC3339Nano)
				shifted = append(shifted, '"')
				continue
			}
		}
		shifted = append(shifted, quoted...)
	}
}
