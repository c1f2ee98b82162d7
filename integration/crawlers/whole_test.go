package crawlers

import (
	"fmt"
	"testing"
)

// The least that a crawl must do. Each site has more than 50 pages.
const (
	fewestRequests = 40 // of a run, for each of its sites
	fewestTargets  = 30 // of a run at one site
	fewestBlocked  = 2  // of a run that ignores robots.txt, for each of its sites
)

// lacking tells which crawls did not come to what they are for: nothing is
// said by one that asked for nothing, never read a robots.txt that it obeys, or
// was never blocked though it ignores all of them. Whatever else is right, nobody
// is kept from /robots.txt or from a first page that is allowed.
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

// TestNothingIsLacking has crawls that never took place: none of them passes.
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

// sites is how many sites a run crawls.
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

// asBrowser tells whether a run sends the User-Agent of a browser, which is not
// held to robots.txt.
func (r run) asBrowser() bool { return r.name == "crawlee" && r.userAgent == "" }
