package metrics

import (
	"fmt"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

func TestCrawlerLabelsAreBounded(t *testing.T) {
	l := new(crawlerLabels)
	got := make(map[string]bool)
	for i := range 1000 {
		got[l.getOrCreateLabel(fmt.Sprintf("bot%d", i), true)] = true
	}
	if len(got) != maxCrawlerLabels+1 || !got[judge.OtherName] {
		t.Errorf("%d values, want %d and %s", len(got), maxCrawlerLabels, judge.OtherName)
	}
}

func TestCrawlerLabelsKeepRoomForTheOwnersNames(t *testing.T) {
	l := new(crawlerLabels)
	for i := range 1000 {
		l.getOrCreateLabel(fmt.Sprintf("bot%d", i), false)
	}
	for i := range reservedLabels {
		name := fmt.Sprintf("named%d", i)
		if got := l.getOrCreateLabel(name, true); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
	if got := l.getOrCreateLabel("late", true); got != judge.OtherName {
		t.Errorf("a name beyond the bound became %s", got)
	}
}

func TestCrawlerLabelsAreNeverReassigned(t *testing.T) {
	l := new(crawlerLabels)
	first := make(map[string]string)
	for range 3 {
		for i := range 100 {
			name := fmt.Sprintf("bot%d", i)
			label := l.getOrCreateLabel(name, i%2 == 0)
			if before, ok := first[name]; ok && before != label {
				t.Fatalf("%s was %s and is %s", name, before, label)
			}
			first[name] = label
		}
	}
}

func TestCrawlerLabelsForSeveralGoroutines(t *testing.T) {
	m := New(nothing{}, kinds, results)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				m.HostMetrics(fmt.Sprintf("host%d", j%5)).crawlerLabels.getOrCreateLabel(fmt.Sprintf("bot%d", (i+j)%60), j%2 == 0)
			}
		})
	}
	wg.Wait()
	for i := range 5 {
		if n := m.HostMetrics(fmt.Sprintf("host%d", i)).crawlerLabels.names.Len(); n > maxCrawlerLabels {
			t.Errorf("host%d has %d names", i, n)
		}
	}
}

// Crawlers without a label would wait for one another if it were otherwise.
func TestCrawlerLabelsThatAreAllGivenTakeNoLock(t *testing.T) {
	c := new(crawlerLabels)
	for i := range 1000 {
		c.getOrCreateLabel(fmt.Sprintf("bot%d", i), false)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	got := make(chan string, 2) // which has room even if nobody waits any more
	go func() {
		got <- c.getOrCreateLabel("bot0", false)
		got <- c.getOrCreateLabel("bot999", false)
	}()
	for _, want := range []string{"bot0", judge.OtherName} {
		select {
		case label := <-got:
			if label != want {
				t.Errorf("the label is %s, want %s", label, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no label while the lock is held, want %s", want)
		}
	}
}

// TestCrawlerLabelsKeepNoFile asks with names that are parts of a robots.txt: what is kept
// is not, lest it keep the file.
func TestCrawlerLabelsKeepNoFile(t *testing.T) {
	file := "User-agent: SomeBot\n"
	name := file[12:19]
	m := New(nothing{}, kinds, results)
	h := m.HostMetrics("example.com")
	for range 2 {
		if label := h.CountRequest(JudgedRequest{Crawler: name, NamedByRobots: true}); label != name || unsafe.StringData(label) == unsafe.StringData(name) {
			t.Errorf("the label %s is a part of the file", label)
		}
	}
	for labels := range h.counters.series.All() {
		if unsafe.StringData(labels.crawler) == unsafe.StringData(name) {
			t.Error("a series keeps the file")
		}
	}
}

// TestLabelsAreText collects what a crawler did of which a robots.txt spells the name in no
// text: else nobody would get any metrics.
func TestLabelsAreText(t *testing.T) {
	m := New(nothing{}, kinds, results)
	for range 2 {
		label := m.HostMetrics("example.com").CountRequest(JudgedRequest{Crawler: "SomeBot \xff", NamedByRobots: true})
		if label != "SomeBot ?" {
			t.Errorf("the label is %q", label)
		}
		m.RecordRobotsFetch("example.com", label, time.Now())
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.registry)
	if _, err := registry.Gather(); err != nil {
		t.Error(err)
	}
}
