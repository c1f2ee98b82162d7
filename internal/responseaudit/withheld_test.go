package responseaudit

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestSubstitute tells what is no robots.txt from what may be one.
func TestSubstitute(t *testing.T) {
	for _, tc := range []struct {
		name    string
		r       RobotsResponse
		instead RobotsSubstitute
		isFile  bool
	}{
		{"the file", RobotsResponse{Status: 200}, NoSubstitute, true},
		{"unchanged", RobotsResponse{Status: 304}, NoSubstitute, true},
		{"no file", RobotsResponse{Status: 404}, NoSubstitute, true},
		{"no file, with a page that says so", RobotsResponse{Status: 404, IsHTML: true}, NoSubstitute, true},
		{"gone, with a page", RobotsResponse{Status: 410, IsHTML: true}, NoSubstitute, true},
		{"a page", RobotsResponse{Status: 200, IsHTML: true}, WebPage, false},
		{"a challenge with 202", RobotsResponse{Status: 202, IsHTML: true}, WebPage, false},
		{"a challenge with 403", RobotsResponse{Status: 403, IsHTML: true}, WebPage, false},
		{"a challenge with 405", RobotsResponse{Status: 405, IsHTML: true}, WebPage, false},
		{"a challenge with 429", RobotsResponse{Status: 429, IsHTML: true}, WebPage, false},
		{"a challenge with 503", RobotsResponse{Status: 503, IsHTML: true}, WebPage, false},
		{"a login form with 401", RobotsResponse{Status: 401, IsHTML: true}, WebPage, false},
		{"an error of the server, with a page", RobotsResponse{Status: 502, IsHTML: true}, NoSubstitute, false},
		{"refused in plain text", RobotsResponse{Status: 403}, NoSubstitute, false},
		{"unavailable in plain text", RobotsResponse{Status: 503}, NoSubstitute, false},
		{"no response", RobotsResponse{}, NoResponse, false},
		{"a login at another host", RobotsResponse{Status: 302, Location: "https://login.test/?rd=https%3A%2F%2Fa.test%2Frobots.txt"}, RedirectElsewhere, false},
		{"a login at this host", RobotsResponse{Status: 303, Location: "/oauth2/start?rd=/robots.txt"}, RedirectElsewhere, false},
		{"the start page", RobotsResponse{Status: 301, Location: "/"}, RedirectElsewhere, false},
		{"a cookie challenge", RobotsResponse{Status: 302, Location: "/robots.txt?__cf_chl=1", IsLoop: true}, RedirectElsewhere, false},
		{"https", RobotsResponse{Status: 308, Location: "https://a.test/robots.txt"}, NoSubstitute, false},
		{"another host's file", RobotsResponse{Status: 301, Location: "https://www.a.test/robots.txt"}, NoSubstitute, false},
		{"a file by another name", RobotsResponse{Status: 302, Location: "/files/production.TXT?v=2"}, NoSubstitute, false},
		{"a script that makes it", RobotsResponse{Status: 302, Location: "/api/robots"}, NoSubstitute, false},
		{"a redirect to nowhere", RobotsResponse{Status: 302}, NoSubstitute, false},
	} {
		if instead, isFile := tc.r.Substitute(); instead != tc.instead || isFile != tc.isFile {
			t.Errorf("%s: %d, %t; want %d, %t", tc.name, instead, isFile, tc.instead, tc.isFile)
		}
	}
}

// TestWithheld follows a crawler through responses. A step is who got what: v and u are the
// verified and an unverified crawler, with the number of its network; own is the guard and test the self-test.
func TestWithheld(t *testing.T) {
	page, file, login := RobotsResponse{Status: 200, IsHTML: true}, RobotsResponse{Status: 200}, RobotsResponse{Status: 302, Location: "/login"}
	responses := map[string]RobotsResponse{"page": page, "file": file, "login": login, "abort": {}, "502": {Status: 502}, "moved": {Status: 301, Location: "/robots.txt"}}
	for _, tc := range []struct {
		name  string
		steps string
		want  string // what is found at the end
	}{
		{"nothing", "", ""},
		{"the file", "v file, u1 file", ""},
		{"a verified crawler", "v page", "verified page"},
		{"one that gets the file again", "v page, v file", ""},
		{"one that got the file before", "v file, v abort", "verified abort"},
		{"one of which a false friend gets the file", "v page, u1 file, u2 file, u3 file, u4 file", "verified page"},
		{"an error of the server ends nothing", "v page, v 502", "verified page"},
		{"a redirect to a file ends nothing", "v abort, v moved", "verified abort"},
		{"another substitute", "v page, v login", "verified login"},
		{"one unverified client", "u1 page, u1 page, u1 page", ""},
		{"two networks", "u1 page, u2 page, u2 page", ""},
		{"three networks", "u1 page, u2 page, u3 page", "unverified page"},
		{"three networks, of which one gets the file", "u1 page, u2 page, u3 page, u1 file", ""},
		{"three others get the file", "u1 page, u2 page, u3 page, u4 file, u5 file, u6 file", ""},
		{"two others get the file", "u1 page, u2 page, u3 page, u4 file, u5 file", "unverified page"},
		{"the guard itself, before", "own page, u1 page", "unverified page"},
		{"the guard itself, after", "u1 page, own page", "unverified page"},
		{"the guard gets something else", "u1 page, own login", ""},
		{"the guard gets the file", "u1 page, own file", ""},
		{"the guard gets the file again", "own page, u1 page, own file", ""},
		{"the guard alone", "own page", ""},
		{"the self-test", "test page", "unverified page"},
		{"the self-test gets the file", "test file", ""},
		{"the next self-test gets the file", "test page, test file", ""},
		{"the next self-test gets the file, other clients do not", "test page, u1 page, test file", ""},
		{"a verified crawler gets the file after the self-test", "test page, v file", ""},
		{"one client gets the file after the self-test", "test page, u1 file", "unverified page"},
		{"three clients get the file after the self-test", "test page, u1 file, u2 file, u3 file", ""},
		{"verified after unverified", "u1 page, v page", "verified page"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var x WithheldTracker
			now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
			for step := range strings.SplitSeq(tc.steps, ", ") {
				who, got, ok := strings.Cut(step, " ")
				if !ok {
					continue
				}
				r, known := responses[got]
				if !known {
					t.Fatal(got)
				}
				if who == "own" {
					x.RecordGuardFetch("a.test", r)
					continue
				}
				f := RobotsFetcher{Site: "a.test", Token: "GPTBot", IsVerified: who == "v"}
				if n := byte(0); !f.IsVerified {
					_, _ = fmt.Sscanf(who, "u%d", &n)
					f.Network = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, n, 0}), 24)
				}
				if who == "test" {
					x.RecordSelfTest(f, r, now)
				} else {
					x.RecordResponse(f, r, now)
				}
			}
			got := ""
			for _, w := range x.Find("", now) {
				got = map[bool]string{true: "verified ", false: "unverified "}[w.IsVerified] + map[RobotsSubstitute]string{RedirectElsewhere: "login", NoResponse: "abort", WebPage: "page"}[w.Substitute]
			}
			if got != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
			if late := x.Find("", now.Add(responseLifetime)); len(late) != 0 {
				t.Errorf("%d findings last for ever", len(late))
			}
		})
	}
}

// TestWithheldOnlyInTest has the self-test alone get something else: that is a finding about no
// answer.
func TestWithheldOnlyInTest(t *testing.T) {
	var x WithheldTracker
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	x.RecordSelfTest(RobotsFetcher{Site: "a.test", Token: "GPTBot"}, RobotsResponse{Status: 403, IsHTML: true}, now)
	found := x.Find("", now)
	const want = "a client named GPTBot gets a web page (status 403) instead of robots.txt since 12:00 UTC; exclude /robots.txt from the challenge"
	if len(found) != 1 || found[0].Responses != 0 || found[0].Description(now) != want {
		t.Errorf("found %+v", found)
	}
	x.RecordResponse(RobotsFetcher{Site: "a.test", Token: "GPTBot", Network: netip.MustParsePrefix("198.51.100.0/24")}, RobotsResponse{Status: 403, IsHTML: true}, now)
	if found := x.Find("", now); len(found) != 1 || found[0].Responses != 1 {
		t.Errorf("after one answer: found %+v", found)
	}
}

// TestSelfTestAfterClients remembers the self-test if clients of enough networks got the same before.
func TestSelfTestAfterClients(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	page := RobotsResponse{Status: 403, IsHTML: true}
	for clients := range minNetworks + 2 {
		var x WithheldTracker
		for n := range clients {
			f := RobotsFetcher{Site: "a.test", Token: "GPTBot", Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, byte(n), 0}), 24)}
			x.RecordResponse(f, page, now)
		}
		for range 2 {
			x.RecordSelfTest(RobotsFetcher{Site: "a.test", Token: "GPTBot"}, page, now)
		}
		if found := x.Find("", now); len(found) != 1 || !found[0].SelfTestGetsSame {
			t.Errorf("after %d clients: found %+v", clients, found)
		}
		if n := len(x.sites["a.test"].crawlers[0].withheldNetworks); n > minNetworks+1 {
			t.Errorf("after %d clients: %d networks", clients, n)
		}
	}
}

// TestWithheldPerCrawler keeps crawlers and sites apart.
func TestWithheldPerCrawler(t *testing.T) {
	var x WithheldTracker
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	x.RecordResponse(RobotsFetcher{Site: "a.test", Token: "GPTBot", IsVerified: true}, RobotsResponse{}, now)
	x.RecordResponse(RobotsFetcher{Site: "a.test", Token: "bingbot", IsVerified: true}, RobotsResponse{Status: 200}, now)
	x.RecordResponse(RobotsFetcher{Site: "b.test", Token: "GPTBot", IsVerified: true}, RobotsResponse{Status: 200}, now)
	if found := x.Find("", now); len(found) != 1 || found[0].Site != "a.test" || found[0].Token != "GPTBot" {
		t.Errorf("found %+v", found)
	}
	if found := x.Find("b.test", now); len(found) != 0 {
		t.Errorf("found %+v at b.test", found)
	}
}

// TestRobotsResponsesAreBounded has clients send all names, at all hosts. A verified crawler is not
// forgotten for them.
func TestRobotsResponsesAreBounded(t *testing.T) {
	var x WithheldTracker
	now := time.Now()
	x.RecordResponse(RobotsFetcher{Site: "a.test", Token: "GPTBot", IsVerified: true}, RobotsResponse{}, now)
	for i := range 3 * maxTrackedSites {
		now = now.Add(time.Millisecond)
		x.RecordResponse(RobotsFetcher{Site: "a.test", Token: fmt.Sprint("Bot", i)}, RobotsResponse{}, now)
		x.RecordResponse(RobotsFetcher{Site: fmt.Sprint(i, ".test"), Token: "GPTBot"}, RobotsResponse{Location: strings.Repeat("x", 1000)}, now)
	}
	if len(x.sites) > maxTrackedSites || len(x.sites["a.test"].crawlers) > maxCrawlersPerSite {
		t.Errorf("%d sites, %d crawlers", len(x.sites), len(x.sites["a.test"].crawlers))
	}
	if found := x.Find("a.test", now); len(found) != 1 || found[0].Token != "GPTBot" {
		t.Errorf("found %+v", found)
	}
}

// TestWithheldSays names the crawler, what it gets, since when, and the remedy.
func TestWithheldSays(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	gptbot := RobotsFetcher{Token: "GPTBot", IsVerified: true}
	for want, w := range map[string]WithheldFinding{
		"GPTBot gets a web page (status 202) instead of robots.txt since 12:00 UTC; exclude /robots.txt from the challenge":                                                 {RobotsFetcher: gptbot, Substitute: WebPage, Status: 202, Since: at},
		"GPTBot gets a web page (status 200) instead of robots.txt since 12:00 UTC; serve a text file or 404 at /robots.txt, and exclude the path from any challenge":       {RobotsFetcher: gptbot, Substitute: WebPage, Status: 200, GuardGetsSame: true, Since: at},
		"GPTBot is redirected to https://login.test/ instead of robots.txt since 12:00 UTC; exclude /robots.txt from the login or challenge":                                {RobotsFetcher: gptbot, Substitute: RedirectElsewhere, Location: "https://login.test/", Since: at},
		"GPTBot gets no response for robots.txt since 12:00 UTC; exclude /robots.txt from the handler that closes the connection, such as abort":                            {RobotsFetcher: gptbot, Substitute: NoResponse, Since: at},
		"an unverified client named GPTBot gets no response for robots.txt since 12:00 UTC; exclude /robots.txt from the handler that closes the connection, such as abort": {RobotsFetcher: RobotsFetcher{Token: "GPTBot"}, Substitute: NoResponse, Since: at},
	} {
		if got := w.Description(at.Add(time.Hour)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
