package registry

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// networkOf returns one of many networks.
func networkOf(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(n >> 8), byte(n), 0}), 24)
}

// come counts a request.
func come(b *UnregisteredNames, userAgent string, network int, at time.Time) {
	id := uaident.Identify(userAgent)
	b.Record(UnregisteredRequest{Name: id.Name(), Class: id.Class, UserAgent: userAgent, Network: networkOf(network), Time: at})
}

// waveOf returns when a name came in a wave, and from how many networks.
func waveOf(b *UnregisteredNames, name string) (at time.Time, networks int) {
	for _, p := range b.Proposals(uaident.Default()) {
		if p.Name == name {
			return p.LastWave, p.WaveNetworks
		}
	}
	return time.Time{}, 0
}

func TestNetworkEstimate(t *testing.T) {
	for _, want := range []int{0, 1, 10, 50, 200, 1000, 3000} {
		var n networkSketch
		for i := range want {
			n.addNetwork(networkOf(i))
			n.addNetwork(networkOf(i))
		}
		if got := n.estimate(); got < want*85/100 || got > want*115/100 {
			t.Errorf("%d networks are estimated at %d", want, got)
		}
	}
	var full networkSketch
	for i := range full {
		full[i] = ^uint64(0)
	}
	if got := full.estimate(); got < 7000 || got > 7200 {
		t.Errorf("a full sketch stands for %d", got)
	}
}

const waveBot = "Mozilla/5.0 (compatible; ThinkHarvestBot/1.0; +https://think.test/bot)"

// A new name from many networks is found within ten minutes.
func TestWave(t *testing.T) {
	b := new(UnregisteredNames)
	for i := range 200 { // one each three seconds
		come(b, waveBot, i, start.Add(time.Duration(i)*3*time.Second))
	}
	at, n := waveOf(b, "ThinkHarvestBot")
	if at.Before(start) || at.After(start.Add(10*time.Minute)) || n < 150 || n > 250 {
		t.Errorf("a wave at %v from %d networks", at, n)
	}
}

// A name that was there before comes in a wave if it comes from far more networks than it used to.
func TestWaveOfAKnownName(t *testing.T) {
	for _, tc := range []struct {
		usual, then int
		wave        bool
	}{{0, 60, true}, {4, 60, true}, {4, 30, false}, {30, 100, false}, {30, 400, true}, {60, 60, false}} {
		b := new(UnregisteredNames)
		at := start
		for range 24 * 6 { // ten minutes each
			for i := range tc.usual {
				come(b, waveBot, i, at.Add(time.Duration(i)*time.Second))
			}
			at = at.Add(10 * time.Minute)
		}
		before, _ := waveOf(b, "ThinkHarvestBot")
		for i := range tc.then {
			come(b, waveBot, 1000+i, at.Add(time.Duration(i)*time.Second))
		}
		after, _ := waveOf(b, "ThinkHarvestBot")
		if got := after.After(before) && after.After(at.Add(-time.Second)); got != tc.wave {
			t.Errorf("from %d networks to %d: a wave at %v", tc.usual, tc.then, after)
		}
	}
}

// Programs that are not evidently robots, such as applications of people, come from many networks
// at any time.
func TestApplicationsAreNoWave(t *testing.T) {
	b := new(UnregisteredNames)
	for i := range 2000 {
		come(b, "PocketReader/4.1 CFNetwork/1490 Darwin/23", i, start.Add(time.Duration(i)*100*time.Millisecond))
		come(b, "GPTBot/1.3", i, start.Add(time.Duration(i)*100*time.Millisecond))
	}
	for _, p := range b.Proposals(uaident.Default()) {
		if p.WaveNetworks > 0 {
			t.Errorf("%+v", p)
		}
	}
}

// TestOrdinaryWeek has a week of ordinary robots that no registry knows: some from a few networks,
// one of a self-hosted program from many all day, one whose instances all look at a new link, and
// one that grows. There is at most one alert, and that is of the links. A wave on the last day is
// found among them.
func TestOrdinaryWeek(t *testing.T) {
	b := new(UnregisteredNames)
	dice := rand.New(rand.NewPCG(45, 4))
	const week = 7 * 24 * time.Hour
	var waves []string
	seen := make(map[string]time.Time)
	look := func() {
		for _, p := range b.Proposals(uaident.Default()) {
			if p.WaveNetworks > 0 && !p.LastWave.Equal(seen[p.Name]) {
				seen[p.Name] = p.LastWave
				waves = append(waves, p.Name)
			}
		}
	}
	attack := start.Add(week - 3*time.Hour)
	for at := start; at.Before(start.Add(week)); at = at.Add(time.Minute) {
		day := float64(at.Sub(start)) / float64(24*time.Hour)
		for i := range 20 { // from up to five networks, now and then
			if dice.IntN(8) == 0 {
				come(b, fmt.Sprintf("Small%cBot/1.0", 'A'+i), 100*i+dice.IntN(1+i/4), at)
			}
		}
		for range 2 { // a self-hosted collector with 300 installations
			come(b, "Mozilla/5.0 (compatible; HomeFeedBot/2.1; +https://homefeed.test/)", 3000+dice.IntN(300), at)
		}
		if dice.Float64() < day/7 { // a robot that grows from one network to forty
			come(b, "GrowingSpider/1.0", 5000+dice.IntN(1+int(day*6)), at)
		}
		if at.Minute() == 0 && at.Hour()%8 == 0 { // a link in a social network: each instance fetches it at once
			for i := range 120 {
				come(b, "Mozilla/5.0 (compatible; SocialServerBot/4.0; +https://social.test/)", 6000+i, at)
			}
		}
		if !at.Before(attack) && at.Before(attack.Add(time.Hour)) {
			for range 30 {
				come(b, waveBot, 10_000+dice.IntN(5000), at)
			}
			if seen["ThinkHarvestBot"].IsZero() && at.Sub(attack) >= 10*time.Minute {
				t.Fatal("no alert within ten minutes")
			}
		}
		look()
	}
	others := slices.DeleteFunc(slices.Clone(waves), func(name string) bool { return name == "ThinkHarvestBot" })
	if len(others) > 1 || len(waves) != len(others)+1 {
		t.Errorf("alerts: %v", waves)
	}
}
