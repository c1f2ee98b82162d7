package registry

import (
	"hash/maphash"
	"math"
	"math/bits"
	"net/netip"
	"time"
)

// networks estimates a number of different networks by linear counting. A hash maps each
// network to one of 1,024 bits, and the number of set bits gives the estimate. No address is
// stored. The error at 1,000 networks is about 5 %. The maximum estimate is about 7,000.
type networks [1024 / 64]uint64

var networkSeed = maphash.MakeSeed()

func (n *networks) add(network netip.Prefix) {
	hash := maphash.Comparable(networkSeed, network)
	n[hash>>6%uint64(len(n))] |= 1 << (hash & 63)
}

// union returns the networks of both.
func (n networks) union(other *networks) networks {
	for i, word := range other {
		n[i] |= word
	}
	return n
}

// count returns the estimated number of networks.
func (n *networks) count() int {
	const all = 64 * len(networks{})
	free := all
	for _, word := range n {
		free -= bits.OnesCount64(word)
	}
	return int(math.Round(-float64(all) * math.Log(float64(max(free, 1))/float64(all))))
}

// A name comes in a wave if it comes from at least waveNetworks networks within ten minutes,
// and from at least waveTimes as many as in any ten minutes that ended more than an hour ago.
const (
	waveNetworks = 50
	waveTimes    = 5
	waveWindow   = 5 * time.Minute // two of them are ten minutes
	waveHistory  = 12              // recent windows, which are not part of the usual level
)

// surge detects a wave of one name. The zero value has no requests.
type surge struct {
	window            time.Time // start of the current window
	current, previous networks
	recent            [waveHistory]int // networks in ten minutes, at the end of each recent window
	usual             int              // maximum of the windows before recent

	at   time.Time // start of the last wave, zero for none
	from int       // maximum networks in ten minutes of the wave
}

// note adds a request.
func (s *surge) note(network netip.Prefix, at time.Time) {
	window := at.Truncate(waveWindow)
	for n := 0; s.window.Before(window) && !s.window.IsZero() && n <= waveHistory+1; n++ {
		s.close()
	}
	if s.window.Before(window) {
		s.window = window // also after a long time without requests
	}
	s.current.add(network)
	both := s.current.union(&s.previous)
	n := both.count()
	if n < waveNetworks || n < waveTimes*s.usual {
		return
	}
	if s.at.IsZero() || at.Sub(s.at) >= waveLasts {
		s.at, s.from = at, 0
	}
	s.from = max(s.from, n)
}

// waveLasts is the time for which a wave is reported. The next wave may begin after that.
const waveLasts = 24 * time.Hour

// close ends the current window and starts the next.
func (s *surge) close() {
	both := s.current.union(&s.previous)
	s.usual = max(s.usual, s.recent[0])
	copy(s.recent[:], s.recent[1:])
	s.recent[waveHistory-1] = both.count()
	s.previous, s.current = s.current, networks{}
	s.window = s.window.Add(waveWindow)
}
