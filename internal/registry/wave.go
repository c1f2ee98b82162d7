package registry

import (
	"hash/maphash"
	"math"
	"math/bits"
	"net/netip"
	"time"
)

// networkSketch estimates how many different networks were added, by linear counting. A hash maps
// each network to one of 1,024 bits, and the number of set bits gives the estimate. No address is
// stored. The error at 1,000 networks is about 5 %. The maximum estimate is about 7,000.
type networkSketch [1024 / 64]uint64

var networkSeed = maphash.MakeSeed()

// addNetwork adds a network.
func (n *networkSketch) addNetwork(network netip.Prefix) {
	hash := maphash.Comparable(networkSeed, network)
	n[hash>>6%uint64(len(n))] |= 1 << (hash & 63)
}

// union returns a sketch of the networks in n or in other.
func (n networkSketch) union(other *networkSketch) networkSketch {
	for i, word := range other {
		n[i] |= word
	}
	return n
}

// estimate returns the estimated number of different networks.
func (n *networkSketch) estimate() int {
	const size = 64 * len(networkSketch{})
	unsetBits := size
	for _, word := range n {
		unsetBits -= bits.OnesCount64(word)
	}
	return int(math.Round(-float64(size) * math.Log(float64(max(unsetBits, 1))/float64(size))))
}

// A name comes in a wave if it comes from at least waveNetworks networks within ten minutes, and
// from at least waveFactor times as many as in any ten minutes that ended more than an hour ago.
const (
	waveNetworks = 50
	waveFactor   = 5
	waveWindow   = 5 * time.Minute // Two windows are ten minutes.
	waveHistory  = 12              // The last hour has this many windows. They do not count for the usual level of requests.
)

// waveDetector detects when requests with one name suddenly come from many networks (a wave). The
// zero value has recorded no request.
type waveDetector struct {
	windowStart       time.Time // windowStart is the start of the current window.
	current, previous networkSketch
	// These are the maximum numbers of networks in ten minutes, at the end of each recent window.
	recentMaxima [waveHistory]int
	usualMax     int // usualMax is the maximum of the windows before the recent ones.

	waveStart time.Time // waveStart is the start of the last wave, or zero if there was none.
	waveMax   int       // waveMax is the maximum number of networks in ten minutes of the wave.
}

// recordRequest records a request from a network.
func (s *waveDetector) recordRequest(network netip.Prefix, at time.Time) {
	window := at.Truncate(waveWindow)
	for n := 0; s.windowStart.Before(window) && !s.windowStart.IsZero() && n <= waveHistory+1; n++ {
		s.closeWindow()
	}
	if s.windowStart.Before(window) {
		s.windowStart = window // After a long time without requests, the loop ends before this window.
	}
	s.current.addNetwork(network)
	tenMinutes := s.current.union(&s.previous)
	n := tenMinutes.estimate()
	if n < waveNetworks || n < waveFactor*s.usualMax {
		return
	}
	if s.waveStart.IsZero() || at.Sub(s.waveStart) >= waveDuration {
		s.waveStart, s.waveMax = at, 0
	}
	s.waveMax = max(s.waveMax, n)
}

// waveDuration is the time for which a wave is reported. The next wave may begin after that.
const waveDuration = 24 * time.Hour

// closeWindow ends the current window of five minutes and starts the next.
func (s *waveDetector) closeWindow() {
	tenMinutes := s.current.union(&s.previous)
	s.usualMax = max(s.usualMax, s.recentMaxima[0])
	copy(s.recentMaxima[:], s.recentMaxima[1:])
	s.recentMaxima[waveHistory-1] = tenMinutes.estimate()
	s.previous, s.current = s.current, networkSketch{}
	s.windowStart = s.windowStart.Add(waveWindow)
}
