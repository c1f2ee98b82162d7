package guard

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestRedirectedWhileLookedFor has a site redirect its robots.txt to another host while it
// is looked for who does: that is known afterwards.
func TestRedirectedWhileLookedFor(t *testing.T) {
	bounds := policy.Bounds{Entries: 1000, Bytes: 1 << 20, Reads: 10}
	all := policy.NewCache(bounds, bounds, time.Now, nil)
	var entries []*policy.Entry
	for i := range 200 {
		host := fmt.Sprint(i, ".test")
		entries = append(entries, all.Add(policy.Key{Site: host, Host: host}, policy.Named))
	}
	var a abroad
	now := time.Now()
	for i := range 2000 {
		to := fmt.Sprintf("https://elsewhere.test/%d.txt", i)
		var looking sync.WaitGroup
		looking.Go(func() { a.of(all, now) })
		e := entries[i%len(entries)]
		e.MakeDue()
		<-e.Refresh(policy.Freshness{Default: time.Hour, Max: time.Hour}, func() policy.Answer {
			return policy.Answer{Status: http.StatusOK, Via: []string{to}}
		}, nil)
		a.forget()
		looking.Wait()
		if !a.of(all, now)[to] {
			t.Fatalf("after %d times it is not known that %s is redirected to", i, to)
		}
		a.forget()
	}
}
