package strangers

import (
	"hash/maphash"
	"math"
	"math/bits"
	"net/netip"
	"time"
)

// networks counts different networks by linear counting. A hash maps each network to one of
// 1,024 bits. No network is stored. The error for 1,000 networks is below 5 percent. The
// maximum count is about 7,000.
type networks [1024 / 64]uint64

var networkSeed = maphash.MakeSeed()

func (n *networks) add(network netip.Prefix) {
	hash := maphash.Comparable(networkSeed, network)
	n[hash>>6%uint64(len(n))] |= 1 << (hash & 63)
}

// with returns the union.
func (n networks) with(other *networks) networks {
	for i, word := range other {
		n[i] |= word
	}
	return n
}

// count returns an estimate of the number of networks.
func (n *networks) count() int {
	const all = 64 * len(networks{})
	free := all
	for _, word := range n {
		free -= bits.OnesCount64(word)
	}
	return int(math.Round(-float64(all) * math.Log(float64(max(free, 1))/float64(all))))
}

// A wave of a name has at least waveNetworks networks within ten minutes. It also has
// waveTimes as many as any ten minutes that ended an hour ago or earlier.
const (
	waveNetworks = 50
	waveTimes    = 5
	waveWindow   = 5 * time.Minute // two windows are ten minutes
	waveHistory  = 12              // recent windows that do not count as usual
)

// surge detects waves of a name. The zero value has no data.
type surge struct {
	window            time.Time // start of the current window
	current, previous networks
	recent            [waveHistory]int // networks in the ten minutes before the end of each recent window
	usual             int              // maximum before these

	at   time.Time // start of the last wave; zero for none
	from int       // maximum number of networks in that wave
}

// note counts a request.
func (s *surge) note(network netip.Prefix, at time.Time) {
	window := at.Truncate(waveWindow)
	for n := 0; s.window.Before(window) && !s.window.IsZero() && n <= waveHistory+1; n++ {
		s.close()
	}
	if s.window.Before(window) {
		s.window = window // also after a long pause
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

// waveLasts is the duration of a wave. A new wave can begin after that time.
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
