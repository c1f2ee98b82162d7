package crawlers

import (
	"fmt"
	"testing"
)

// The minimum activity of a crawl. Each site has more than 50 pages.
const (
	fewestRequests = 40 // per run and site
	fewestTargets  = 30 // per run at one site
	fewestBlocked  = 2  // per site of a run that ignores robots.txt
)

// lacking returns complaints about crawls that prove nothing: crawls without requests,
// in obeying mode without a fetch of robots.txt, or in ignoring mode without a block.
// It also complains about a block of /robots.txt or of an allowed first page.
func lacking(requests []request) (complaints []string) {
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	type at struct{ run, host string }
	made, blocked := make(map[string]int), make(map[string]int)
	targets, readRobots := make(map[at]map[string]bool), make(map[at]bool)
	for _, r := range requests {
		name := r.run.String()
		site := at{name, r.Request.Host}
		if targets[site] == nil {
			targets[site] = make(map[string]bool)
		}
		made[name]++
		targets[site][r.Request.URI] = true
		if r.Request.URI == "/robots.txt" {
			readRobots[site] = true
		}
		if !r.blocked() {
			continue
		}
		blocked[name]++
		if r.Request.URI == "/robots.txt" || r.Request.URI == "/" && r.allowed {
			complain("%s, %q behind %s: %s is blocked: %+v", r.run, r.variant.name, r.origin, r.Request.URI, r.Verdict)
		}
	}
	for _, run := range allRuns() {
		name, sites := run.String(), 0
		for site, asked := range targets {
			if site.run != name {
				continue
			}
			sites++
			if len(asked) < fewestTargets {
				complain("%s asked for %d targets of %s; a whole crawl has %d and more", run, len(asked), site.host, fewestTargets)
			}
			if run.obey && !readRobots[site] {
				complain("%s never read the robots.txt of %s", run, site.host)
			}
		}
		if want := run.sites(); sites != want {
			complain("%s crawled %d sites, want %d", run, sites, want)
		}
		if made[name] < fewestRequests*run.sites() {
			complain("%s made %d requests; a whole crawl has %d and more", run, made[name], fewestRequests*run.sites())
		}
		if !run.obey && blocked[name] < fewestBlocked*run.sites() && !run.asBrowser() {
			complain("%s was blocked %d times; who ignores robots.txt is %d times and more", run, blocked[name], fewestBlocked*run.sites())
		}
	}
	return complaints
}

// TestNothingIsLacking checks that lacking complains about crawls without requests.
func TestNothingIsLacking(t *testing.T) {
	if n := len(lacking(nil)); n < 2*len(allRuns()) {
		t.Errorf("%d complaints about %d crawls", n, len(allRuns()))
	}
	run := allRuns()[0]
	kept := request{run: run, allowed: true}
	kept.Request.URI, kept.Verdict.Action = "/", "blocked"
	if before, after := len(lacking([]request{{run: run}})), len(lacking([]request{{run: run}, kept})); after != before+1 {
		t.Errorf("%d complaints, %d when an allowed first page is blocked", before, after)
	}
}

// sites returns the number of sites that a run crawls.
func (r run) sites() (n int) {
	for v := range variants {
		for o := range origins {
			if r.crawls(v, o) {
				n++
			}
		}
	}
	return n
}

// asBrowser reports whether a run sends the User-Agent of a browser, to which
// robots.txt does not apply.
func (r run) asBrowser() bool { return r.name == "crawlee" && r.userAgent == "" }
