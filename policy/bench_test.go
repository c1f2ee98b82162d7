package policy

import (
	"fmt"
	"strings"
	"testing"
)

// smallFile is like the robots.txt of most sites.
const smallFile = `# Welcome.
User-agent: GPTBot
User-agent: CCBot
Disallow: /

User-agent: Googlebot
Disallow: /search
Disallow: /*?sort=
Allow: /search/about
Disallow: /cart
Disallow: /checkout/
Disallow: /*.pdf$

User-agent: *
Crawl-delay: 10
Disallow: /search
Disallow: /cart
Disallow: /checkout/
Disallow: /wp-admin/
Allow: /wp-admin/admin-ajax.php

Sitemap: https://example.com/sitemap.xml
`

// largeFile has the maximum size and one group.
var largeFile = []byte("User-agent: *\n" + generateRules(20000, 40, 3))[:MaxSize]

func BenchmarkParse(b *testing.B) {
	for _, file := range []struct{ name, text string }{
		{"small", smallFile},
		{"500KiB", string(largeFile)},
	} {
		body := []byte(file.text)
		b.Run(file.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(body)
			}
			b.ReportMetric(float64(Parse(body).RuleCount()), "rules")
		})
		b.Run(file.name+"/compiled", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(body).Select(true, "Googlebot")
			}
		})
	}
}

// BenchmarkVerdict selects a group and judges a target.
func BenchmarkVerdict(b *testing.B) {
	rules := func(n, percent int) string { return "User-agent: *\n" + generateRules(n, percent, 4) }
	long := "/shop/" + fill("deep/er-7/path.x/", 8000-6)
	longQuery := "/shop/item?" + fill("page=2&sort=price&x1=y2&", 8000-11)
	for _, bench := range []struct{ name, robots, token, target string }{
		{"small/plain", smallFile, "Googlebot", "/products/1234/blue-shoes.html?page=2"},
		{"small/escaped", smallFile, "Googlebot", "/products/1234/caf%c3%a9%20au%7elait.html"},
		{"small/escapedslash", smallFile, "Googlebot", "/products%2F1234//shoes?next=/cart"},
		{"small/unmatched", smallFile, "Bingbot", "/products/1234/blue-shoes.html?page=2"},
		{"100rules", rules(100, 40), "Googlebot", "/products/1234/blue-shoes.html?page=2"},
		{"1000rules", rules(1000, 40), "Googlebot", "/products/1234/blue-shoes.html?page=2"},
		{"10000rules", rules(10000, 40), "Googlebot", "/products/1234/blue-shoes.html?page=2"},
		{"10000rules/plain", rules(10000, 0), "Googlebot", "/products/1234/blue-shoes.html?page=2"},
		{"10000rules/8000bytes", rules(10000, 40), "Googlebot", long},
		{"10000rules/8000bytesquery", rules(10000, 40), "Googlebot", longQuery},
		{"10000rules/8000bytesescaped", rules(10000, 40), "Googlebot", "/shop/" + fill("%c3%a9/%2f//", 7994)},
		{"10000rules/8000bytesforms", rules(10000, 40), "Googlebot", "/shop%2fx//y?" + fill("/%3fpage=2%2F&", 7988)},
		{"10000rules/8000byteshits", rules(10000, 40), "Googlebot", "/shop" + strings.Join(generateTargets(400, 6), "")[:7995]},
		{"stars/8000bytes", "User-agent: *\nDisallow: /" + strings.Repeat("*a", 500) + "*b$\n", "x", "/" + strings.Repeat("a", 7999)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			robots := Parse([]byte(bench.robots))
			robots.Select(true, bench.token).Judge(bench.target)
			b.ReportAllocs()
			for b.Loop() {
				robots.Select(true, bench.token).Judge(bench.target)
			}
		})
	}
	b.Run("small/selected", func(b *testing.B) {
		group := Parse([]byte(smallFile)).Select(true, "Googlebot")
		b.ReportAllocs()
		for b.Loop() {
			group.Judge("/products/1234/blue-shoes.html?page=2")
		}
	})
	b.Run("10000rules/mixed", func(b *testing.B) {
		robots := Parse([]byte(rules(10000, 40)))
		targets := generateTargets(1024, 5)
		robots.Select(true, "x").Judge("/")
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			robots.Select(true, "Googlebot").Judge(targets[i&1023])
		}
	})
}

func BenchmarkVerdictParallel(b *testing.B) {
	robots := Parse([]byte(smallFile))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			robots.Select(true, "Googlebot").Judge("/products/1234/blue-shoes.html?page=2")
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "User-agent: bot%d\nDisallow: /%d\n", i, i)
	}
	many.WriteString("User-agent: *\nDisallow: /\n")
	robots := Parse([]byte(many.String()))
	for _, bench := range []struct {
		name   string
		tokens []string
	}{
		{"named", []string{"Bot500"}},
		{"fallback", []string{"Bot-Image", "Bot500"}},
		{"unmatched", []string{"Googlebot-Image", "Googlebot"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				robots.Select(true, bench.tokens...)
			}
		})
	}
}
