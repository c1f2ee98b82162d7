package strangers

import (
	"hash/maphash"
	"math"
	"math/bits"
	"net/netip"
	"time"
)

// networks counts different networks by linear counting: a bit of 1,024 for each, chosen by a
// hash, of which only the number of those that are set says something. So no network is kept.
// The estimate of a thousand is within 5 percent, and no more than 7,000 are told apart.
type networks [1024 / 64]uint64

var networkSeed = maphash.MakeSeed()

func (n *networks) add(network netip.Prefix) {
	hash := maphash.Comparable(networkSeed, network)
	n[hash>>6%uint64(len(n))] |= 1 << (hash & 63)
}

// with returns those of both.
func (n networks) with(other *networks) networks {
	for i, word := range other {
		n[i] |= word
	}
	return n
}

// count estimates how many there are.
func (n *networks) count() int {
	const all = 64 * len(networks{})
	free := all
	for _, word := range n {
		free -= bits.OnesCount64(word)
	}
	return int(math.Round(-float64(all) * math.Log(float64(max(free, 1))/float64(all))))
}

// A name comes in a wave if within ten minutes it comes from so many networks, and from so many
// times as many as in any ten minutes that ended an hour before.
const (
	waveNetworks = 50
	waveTimes    = 5
	waveWindow   = 5 * time.Minute // two of them are ten minutes
	waveHistory  = 12              // windows that are too young to be what is usual
)

// surge tells when a name comes in a wave. The zero surge has seen nothing.
type surge struct {
	window            time.Time // when the current window began
	current, previous networks
	recent            [waveHistory]int // networks in the ten minutes that ended with each of the last windows
	usual             int              // the most of those before

	at   time.Time // when the last wave began, zero for none
	from int       // the most networks within ten minutes of it
}

// note counts a request.
func (s *surge) note(network netip.Prefix, at time.Time) {
	window := at.Truncate(waveWindow)
	for n := 0; s.window.Before(window) && !s.window.IsZero() && n <= waveHistory+1; n++ {
		s.close()
	}
	if s.window.Before(window) {
		s.window = window // after a long silence, too
	}
	s.current.add(network)
	both := s.current.with(&s.previous)
	n := both.count()
	if n < waveNetworks || n < waveTimes*s.usual {
		return
	}
	if s.at.IsZero() || at.Sub(s.at) >= waveLasts {
		s.at, s.from = at, 0
	}
	s.from = max(s.from, n)
}

// waveLasts is how long a wave is told of. Another one may begin after that.
const waveLasts = 24 * time.Hour

// close ends the current window.
func (s *surge) close() {
	both := s.current.with(&s.previous)
	s.usual = max(s.usual, s.recent[0])
	copy(s.recent[:], s.recent[1:])
	s.recent[waveHistory-1] = both.count()
	s.previous, s.current = s.current, networks{}
	s.window = s.window.Add(waveWindow)
}
