package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// unnamed is a request of a client that calls itself so and has no token.
func unnamed(at time.Time, token, name, target string) *Request {
	q := gptbot(at, target)
	q.Token, q.Name, q.NamedByRobots, q.Class = token, name, false, uaident.GenericCrawler
	return q
}

// TestNames counts clients without a token by what they call themselves, whatever
// others invent, and takes no room from those that have one.
func TestNames(t *testing.T) {
	c := newClock()
	l := New(c.now)
	n := 50_000
	if raceEnabled {
		n = 5_000
	}
	for i := range n {
		l.Record(unnamed(c.now(), Other, fmt.Sprint("invented", i), fmt.Sprint("/", i)))
		if i%10 == 0 {
			q := unnamed(c.now(), Other, "ExampleMonitor", "/health")
			if i%20 == 0 {
				q.Verdict, q.Action = judge.Allowed, judge.NoAction
			}
			l.Record(q)
		}
	}
	for range 64 {
		q := unnamed(c.now(), judge.SpoofedName, "Googlebot", "/private")
		q.Identity = verify.Spoofed
		l.Record(q)
	}
	l.Record(gptbot(c.now(), "/"))
	l.Record(unnamed(c.now(), Other, strings.Repeat("x", 10_000), "/"))
	l.flush()

	s := l.Snapshot()
	others := s.row(t, "example.com", Other)
	i := others.Names.PositionOf("ExampleMonitor")
	if i < 0 {
		t.Fatalf("the monitor is not among %d names", len(others.Names.Items))
	}
	if item := others.Names.Items[i]; item.Count < uint64(n/10) || item.Count-item.Error > uint64(n/10) {
		t.Errorf("the monitor came %d to %d times, want %d", item.Count-item.Error, item.Count, n/10)
	}
	if i := others.NamesOfViolators.PositionOf("ExampleMonitor"); i < 0 || others.NamesOfViolators.Items[i].Count < uint64(n/20) {
		t.Errorf("the monitor broke nothing, want %d", n/20)
	}
	if len(others.Names.Items) > maxNames || len(others.NamesOfViolators.Items) > maxNames {
		t.Errorf("%d and %d names", len(others.Names.Items), len(others.NamesOfViolators.Items))
	}
	for _, item := range others.Names.Items {
		if len(item.Key) > maxTokenBytes {
			t.Errorf("a name of %d bytes", len(item.Key))
		}
	}
	spoofed := s.row(t, "example.com", judge.SpoofedName)
	if i := spoofed.Names.PositionOf("Googlebot"); i < 0 || spoofed.Names.Items[i].Count != 64 {
		t.Errorf("false names are %v", spoofed.Names.Items)
	}
	if gptbot := s.row(t, "example.com", "GPTBot"); len(gptbot.Names.Items) != 0 || gptbot.Paths.Items[0].Key.Name != "" {
		t.Errorf("a crawler with a token has names: %v", gptbot.Names.Items)
	}

	data, err := StoredSite{Saved: c.now(), Site: s.Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeStoredSite(data)
	if err != nil {
		t.Fatal(err)
	}
	l = New(c.now)
	l.RestoreSite(stored.Site, stored.Since)
	restored := l.Snapshot()
	if got := restored.row(t, "example.com", judge.SpoofedName).Names.Items; len(got) != 1 || got[0].Count != 64 {
		t.Errorf("after a restart false names are %v", got)
	}
}

// TestNamesOfFolded keeps the name of a crawler that lost its row.
func TestNamesOfFolded(t *testing.T) {
	c := newClock()
	l := New(c.now)
	for i := range maxRows {
		q := gptbot(c.now(), "/")
		q.Token = fmt.Sprint("bot", i)
		record(l, q)
		record(l, q)
		c.advance(time.Second)
	}
	q := gptbot(c.now(), "/")
	q.Token = "crowded"
	record(l, q) // no room
	c.advance(25 * time.Hour)
	q = gptbot(c.now(), "/")
	q.Token = "late"
	record(l, q) // bot0 makes room
	names := l.Snapshot().row(t, "example.com", Other).Names
	for name, want := range map[string]uint64{"bot0": 2, "crowded": 1} {
		if i := names.PositionOf(name); i < 0 || names.Items[i].Count != want {
			t.Errorf("%s is not counted %d times: %v", name, want, names.Items)
		}
	}
}

// TestHosts tells equal paths of the hosts of one site apart, however many there
// are.
func TestHosts(t *testing.T) {
	c := newClock()
	l := New(c.now)
	ask := func(host string) {
		q := gptbot(c.now(), "/same")
		q.Site, q.Host = "*.example.net", host
		l.Record(q)
		l.flush()
		c.advance(2 * sampleInterval)
	}
	for range 20 {
		ask("a.example.net")
		ask("b.example.net")
	}
	for i := range 10 * maxHosts {
		ask(fmt.Sprint("invented", i, ".example.net", strings.Repeat("x", 2*maxSiteNameBytes)))
		ask("a.example.net")
	}
	site := l.Snapshot().Sites[0]
	if i := site.Hosts.PositionOf("a.example.net"); i < 0 || site.Hosts.Items[i].Count < 20+10*maxHosts || len(site.Hosts.Items) > maxHosts {
		t.Errorf("%d hosts, without the one used most", len(site.Hosts.Items))
	}
	row := site.Rows[0]
	if key := (PathKey{Host: "a.example.net", Path: "/same", RuleKey: row.Rules.Items[0].Key}); row.Paths.PositionOf(key) < 0 {
		t.Errorf("the path of a host is not among %d", len(row.Paths.Items))
	}
	for _, item := range row.Paths.Items {
		if item.Key.Host == "" || len(item.Key.Host) > maxSiteNameBytes {
			t.Errorf("a path of %q", item.Key.Host)
		}
	}
	if last := row.Samples[len(row.Samples)-1]; last.Host != "a.example.net" {
		t.Errorf("the last sample is of %q", last.Host)
	}
}
