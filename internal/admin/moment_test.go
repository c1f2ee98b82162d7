package admin

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// changing is a server whose robots.txt files change during a report.
type changing struct {
	known
	change func()
}

func (c changing) Enforces(key policy.Key) bool {
	c.change()
	return c.known.Enforces(key)
}

// TestReportIsOfOneMoment reports one consistent state of a robots.txt that is changing.
func TestReportIsOfOneMoment(t *testing.T) {
	key := policy.Key{IsHTTPS: true, Host: "shop.test", Site: "shop.test"}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		k := changing{known: learn(key)}
		k.answer = func() policy.FetchResult { return policy.FetchResult{Status: 200, Body: []byte("User-agent: *\n")} }
		e := k.cache.Get(key)
		k.change = func() {
			e.MakeDue()
			<-e.Refresh(policy.FreshnessPolicy{Default: time.Minute, Max: policy.MaxAge}, func() policy.FetchResult {
				return policy.FetchResult{Status: 200, Body: []byte("User-agent: *\nDisallow: /a\nDisallow: /b\n")}
			}, nil)
		}
		path := PoliciesPath + "/shop.test"
		if method == http.MethodPost {
			path += "/refresh"
		}
		answer, err := New(func() RunningConfig { return k }).servePolicy(nil, httptest.NewRequest(method, path, nil))
		if err != nil {
			t.Fatal(err)
		}
		got := answer.(PolicyReport)
		if current := got.VersionList[0]; current.Version != got.Version || current.RuleCount != got.RuleCount || len(got.VersionList) != got.VersionCount {
			t.Errorf("%s: version %.8s with %d rules of %d, and beside it %+v", method, got.Version, got.RuleCount, got.VersionCount, got.VersionList)
		}
	}
}
