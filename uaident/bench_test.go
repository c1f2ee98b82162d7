package uaident

import (
	"strconv"
	"strings"
	"testing"
)

var benchBrowsers = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Linux; Android 14; SM-S918B Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.7204.63 Mobile Safari/537.36",
	"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}

var benchRobots = []string{
	"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.7204.92 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	"Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)",
	"curl/8.7.1",
	"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
}

func benchIdentify(b *testing.B, uas []string) {
	n := 0
	for _, ua := range uas {
		n += len(ua)
	}
	b.SetBytes(int64(n / len(uas)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		Identify(uas[i])
		if i++; i == len(uas) {
			i = 0
		}
	}
}

func BenchmarkIdentify(b *testing.B) {
	b.Run("browsers", func(b *testing.B) { benchIdentify(b, benchBrowsers) })
	b.Run("robots", func(b *testing.B) { benchIdentify(b, benchRobots) })
	b.Run("mixed", func(b *testing.B) { benchIdentify(b, mixed(false)) })
	b.Run("distinct", func(b *testing.B) { benchIdentify(b, mixed(true)) })
	b.Run("hostile", func(b *testing.B) { // maximum length, one word
		benchIdentify(b, []string{strings.Repeat("A", 2030) + "bot", strings.Repeat("A-", 1020), strings.Repeat("a_", 1000) + "bot", "x" + strings.Repeat("!-", 1000)})
	})
	b.Run("overlay", func(b *testing.B) {
		o := Default().NewOverlay([]string{"FooBot", "BarBot", "Example Crawler"})
		i := 0
		for b.Loop() {
			Default().IdentifyWithOverlay(benchBrowsers[i%len(benchBrowsers)], o)
			i++
		}
	})
	b.Run("floor", func(b *testing.B) { // time to hash the same bytes
		b.SetBytes(110)
		i := 0
		for b.Loop() {
			fnv(benchBrowsers[i])
			if i++; i == len(benchBrowsers) {
				i = 0
			}
		}
	})
}

// mixed returns User-Agents, seven browsers to three robots. If distinct is true, all are
// different.
func mixed(distinct bool) []string {
	uas := make([]string, 1000)
	for i := range uas {
		list := benchBrowsers
		if i%10 >= 7 {
			list = benchRobots
		}
		uas[i] = list[i*7919%len(list)]
		if distinct {
			uas[i] = strings.Replace(uas[i], ".0", "."+strconv.Itoa(i), 2)
		}
	}
	return uas
}

//go:noinline
func fnv(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
