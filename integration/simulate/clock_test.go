package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"time"
)

// All instances of a world share one clock. The skew of an instance is how far its own
// clock is ahead. The link to the storage adds the skew to all times that the instance
// stores, and subtracts it from all times that the instance loads. Setting a clock
// changes the skew from then on. Times from before keep the old skew.

// maxSkew is the maximum difference between two clocks, and the maximum change of a
// clock.
const maxSkew = time.Hour

// setting is the skew of a clock since a time.
type setting struct {
	at   time.Time
	skew time.Duration
}

// skewAt returns the skew of the clock at a time.
func (l *link) skewAt(at time.Time) time.Duration {
	for _, s := range slices.Backward(l.clock) {
		if !at.Before(s.at) {
			return s.skew
		}
	}
	return l.clock[0].skew
}

// skew returns the current skew of the clock.
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
	if dice.IntN(2) == 0 { // as a machine that boots with a wrong clock
		i.crash()
		w.tell("%s starts again", i.id)
	}
}

// shifted returns a stored value with all its times shifted. It recomputes the checksum
// in the envelope, if there is one. The counts of the ledger are not JSON, so shifted
// returns them unchanged.
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

// shiftedTimes returns JSON with all its times, which are in UTC, shifted.
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
