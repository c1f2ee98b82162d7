package ledger

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// BenchmarkTraffic notes requests and answers of forty crawlers with a thousand
// User-Agents, of which each tenth asks for a forbidden page.
func BenchmarkTraffic(b *testing.B) {
	for _, sites := range []int{1, 1000} {
		b.Run(fmt.Sprint("sites=", sites), func(b *testing.B) {
			requests := traffic(sites)
			l := New(time.Now)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				now := time.Now()
				for i := rand.IntN(len(requests)); pb.Next(); i++ {
					if i%64 == 0 {
						now = time.Now()
					}
					q := &requests[i%len(requests)]
					l.Record(at(q, now))
					if q.Action == judge.NoAction {
						l.RecordResponse(&Response{At: now, Site: q.Site, Token: q.Token, NamedByRobots: q.NamedByRobots, Class: q.Class, Identity: q.Identity, Status: responseaudit.StatusSuccess, Bytes: 1024})
					}
				}
			})
		})
	}
}

// BenchmarkWaiting notes requests as handlers do that have other work, too, and tells how
// long they wait for each other. Try it with -cpu 16,32.
func BenchmarkWaiting(b *testing.B) {
	requests := traffic(1)
	l := New(time.Now)
	waits := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(waits)
	before := waits[0].Value.Float64()
	b.RunParallel(func(pb *testing.PB) {
		page := make([]byte, 1<<10)
		for i := rand.IntN(len(requests)); pb.Next(); i++ {
			for range 25 { // microseconds
				sha256.Sum256(page)
			}
			q := at(&requests[i%len(requests)], time.Now())
			l.Record(q)
			if q.Action == judge.NoAction {
				l.RecordResponse(&Response{At: q.At, Site: q.Site, Token: q.Token, Class: q.Class, Status: responseaudit.StatusSuccess, Bytes: 1024})
			}
		}
	})
	metrics.Read(waits)
	b.ReportMetric((waits[0].Value.Float64()-before)*1e9/float64(b.N), "waited-ns/op")
}

func at(q *Request, now time.Time) *Request {
	c := *q
	c.At = now
	return &c
}

// traffic returns requests as crawlers send them to so many sites.
func traffic(sites int) (all []Request) {
	random := rand.New(rand.NewPCG(1, 2))
	crawlers := uaident.Default().Crawlers()[:40]
	for i := range 1000 {
		crawler := crawlers[random.IntN(len(crawlers))]
		q := *gptbot(noon, fmt.Sprint("/products/", i, "?page=2"))
		q.Site = fmt.Sprintf("site%d.example.com", random.IntN(sites))
		q.Token, q.Class, q.NamedByRobots = crawler.Token, max(crawler.Class, uaident.Other), i%4 == 0
		q.UserAgent = fmt.Sprintf("Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) (compatible; %s/2.%d; +https://crawl.example/about)", crawler.Token, i)
		q.MayRetainUserAgent = true // as the guard remembers it
		q.Rule = Rule{Version: q.Rule.Version, Line: 7, Group: "*"}
		if q.Verdict, q.Action, q.WouldBlock = judge.Allowed, judge.NoAction, false; i%10 == 0 {
			q.Verdict, q.Action = judge.Disallowed, judge.Blocked
			q.Rule.Text = "Disallow: /products/"
		}
		all = append(all, q)
	}
	return all
}
