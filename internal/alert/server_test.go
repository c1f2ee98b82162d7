package alert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestStorage waits a little: a storage may be busy.
func TestStorage(t *testing.T) {
	w := newWorld(t)
	w.since, w.trouble = w.time, errors.New("no space left on device")
	w.pass(4 * time.Minute)
	w.want("at first", "")
	w.pass(time.Minute)
	if a := w.only(); a.Kind != StorageFailing || !a.Since.Equal(start) || !strings.Contains(a.Detail, "No space left on device. ") {
		t.Errorf("%+v", a)
	}
	w.trouble = nil
	w.pass(time.Minute)
	w.want("mended", "over warning storage_failing")
}

// TestLists tells of lists of addresses that are old or were never read.
func TestLists(t *testing.T) {
	w := newWorld(t)
	w.lists = []verify.ListStatus{
		{Source: "https://good.test/", Crawlers: []string{"A"}, Prefixes: 3, CheckedAt: start, NextFetch: start},
		{Source: "https://old.test/", Crawlers: []string{"B", "C", "D", "E"}, Prefixes: 3, CheckedAt: start.Add(-71 * time.Hour), NextFetch: start},
		{Source: "/never.txt", Crawlers: []string{"F"}, Err: errors.New("no such file")},
	}
	w.want("at once", "")
	w.pass(59 * time.Minute)
	w.want("at first", "")
	w.pass(time.Minute)
	list := w.List()
	if len(list.Alerts) != 2 || list.Alerts[1].Title != "The address list of B, C, D and 1 more is out of date" || !strings.HasPrefix(list.Alerts[1].RemedySnippet, "curl ") {
		t.Fatalf("%+v", list.Alerts)
	}
	if a := list.Alerts[0]; a.Crawler != "F" || a.RemedySnippet != "" || !strings.HasSuffix(a.Detail, "could never be read. No such file.") {
		t.Errorf("%+v", a)
	}
}

// TestRegistry opens an alert if a registry cannot be used for an hour.
func TestRegistry(t *testing.T) {
	w := newWorld(t)
	w.registry = &report.RegistryStatus{Name: "https://names.test/", Failure: "no route to host", FailingSince: w.time}
	w.pass(59 * time.Minute)
	w.want("failing for less than an hour", "")
	w.pass(time.Minute)
	w.want("failing for an hour", "open warning registry_failing")
	w.registry = &report.RegistryStatus{Name: "https://names.test/"}
	w.pass(time.Minute)
	w.want("usable", "over warning registry_failing")
}

// TestUnknownCrawlers tells of robots that no registry knows, if they come often.
func TestUnknownCrawlers(t *testing.T) {
	w := newWorld(t)
	w.proposals = []report.RegistryProposal{
		{Name: "ThinkHarvestBot", Class: "crawler", Requests: 4120, Networks: 3, UserAgent: "ThinkHarvestBot/1.0", Option: "crawler ThinkHarvestBot {\n}", FirstSeen: start},
		{Name: "GuessBot", Class: "crawler", Requests: 4000, Error: 3500},
		{Name: "Quuxle", Class: "other", Requests: 5000},
	}
	if a := w.only(); a.Kind != UnknownCrawler || a.Crawler != "ThinkHarvestBot" || !strings.Contains(a.Detail, "So far: 4120 requests, from 3 networks, never fetched robots.txt. User-Agent: ThinkHarvestBot/1.0") || a.RemedySnippet != "crawler ThinkHarvestBot {\n}" {
		t.Errorf("%+v", a)
	}
	w.proposals = nil
	w.pass(time.Minute)
	w.want("known", "over info unknown_crawler")
}

// TestCrawlerWave tells of a robot that comes from many networks at once, for a day, and of
// nothing else about it meanwhile.
func TestCrawlerWave(t *testing.T) {
	w := newWorld(t)
	wave := report.RegistryProposal{Name: "ThinkHarvestBot", Class: "crawler", Requests: 4120, Networks: 300, UserAgent: "ThinkHarvestBot/1.0", FirstSeen: start, LastWave: start, WaveNetworks: 180}
	w.proposals = []report.RegistryProposal{wave}
	if a := w.only(); a.Kind != CrawlerWave || a.Severity != Warning || a.Crawler != "ThinkHarvestBot" || a.Title != "ThinkHarvestBot comes from 180 networks at once" ||
		a.RemedySnippet != "User-agent: ThinkHarvestBot\nDisallow: /" || !strings.Contains(a.Detail, "So far: from 300 networks, never fetched robots.txt. User-Agent: ThinkHarvestBot/1.0") {
		t.Errorf("%+v", a)
	}
	w.proposals[0].WaveNetworks = 400 // it is the same wave
	w.pass(time.Minute)
	if a := w.only(); a.Title != "ThinkHarvestBot comes from 400 networks at once" {
		t.Errorf("%+v", a)
	}
	w.leap(24 * time.Hour)
	w.want("a day later", "open info unknown_crawler, over warning crawler_wave")
}

// TestManyWaves opens alerts of 20 waves. An open alert stays when a larger wave begins.
func TestManyWaves(t *testing.T) {
	w := newWorld(t)
	begin := func(n int) {
		p := report.RegistryProposal{Name: fmt.Sprintf("Robot%dBot", n), Class: "crawler", Requests: uint64(n) * 1000, LastWave: w.time, WaveNetworks: 120}
		w.proposals = slices.Insert(w.proposals, 0, p) // the most requests first
		w.pass(time.Minute)
	}
	crawlers := func() (names []string) {
		for _, a := range w.List().Alerts {
			if a.State == Open && a.Kind == CrawlerWave {
				names = append(names, a.Crawler)
			}
		}
		slices.Sort(names)
		return names
	}
	var want []string
	for n := range maxWaves {
		begin(n)
		want = append(want, fmt.Sprintf("Robot%dBot", n))
	}
	slices.Sort(want)
	begin(maxWaves)
	if got := crawlers(); !slices.Equal(got, want) {
		t.Errorf("after %d waves: %v", maxWaves+1, got)
	}
	w.leap(24*time.Hour - (maxWaves+1)*time.Minute) // the first wave ends
	if got := crawlers(); len(got) != maxWaves || slices.Contains(got, "Robot0Bot") || !slices.Contains(got, fmt.Sprintf("Robot%dBot", maxWaves)) {
		t.Errorf("after the end of the first: %v", got)
	}
}
