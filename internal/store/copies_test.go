package store

import (
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// The files of two instances.
const (
	ours   = "User-agent: *\nDisallow: /\n"
	theirs = "User-agent: *\nDisallow: /b\n"
)

var copiesOfA = copies.RequestHost{Host: copies.Host{Name: "a.test"}, Configured: true}

// learns fetches the robots.txt of a site and records the file.
func (i *instance) learns(text string) {
	i.learn(siteA, policy.ConfiguredHosts, text)
	i.copied.RecordCurrentCopy(copiesOfA, i.cache.Get(siteA).State(), i.time)
}

// others returns the other files that a crawler may be using, and whether a file is lost.
func (i *instance) others(text, token string) (texts []string, lost bool) {
	version := policy.NewVersion(policy.FetchResult{Status: 200, Body: []byte(text)}, i.time)
	all, lost := i.copied.PossiblyUsedVersions(copiesOfA.Host, token, version, i.time, policy.MaxAge)
	for _, v := range all {
		texts = append(texts, v.Robots.Text())
	}
	return texts, lost
}

// TestCopiesOfPeers changes a file at one instance. Other instances know for a day that crawlers may
// be using either file.
func TestCopiesOfPeers(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	here, there := newInstance(m, "here", noon), newInstance(m, "there", noon)
	for _, i := range []*instance{here, there} {
		i.learns(ours)
		i.Read(ctx)
	}
	there.time = noon.Add(2 * time.Minute)
	there.learns(theirs)
	there.copied.RecordServedFile(copiesOfA, "FooBot", policy.NewVersion(policy.FetchResult{Status: 200, Body: []byte(theirs + "Disallow: /c\n")}, there.time), there.time)
	there.later(t, 0)
	here.time = there.time.Add(time.Minute)
	here.Sync(ctx)
	cold := newInstance(m, "cold", here.time)
	cold.Read(ctx)
	for _, i := range []*instance{here, cold} {
		if got, lost := i.others(ours, ""); !slices.Equal(got, []string{theirs}) || lost {
			t.Errorf("others are %q, lost %t", got, lost)
		}
		if got, _ := i.others(ours, "foobot"); len(got) != 2 {
			t.Errorf("others of a token that was served one are %q", got)
		}
		i.time = i.time.Add(policy.MaxAge + copies.SaveInterval)
		if got, lost := i.others(ours, "foobot"); len(got) > 0 || lost {
			t.Errorf("after a day others are %q, lost %t", got, lost)
		}
	}
}

// TestCopiesAfterARestart restores the files that crawlers may be using.
func TestCopiesAfterARestart(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first := newInstance(m, "first", noon)
	first.Read(ctx)
	first.learns(theirs)
	first.time = noon.Add(time.Minute)
	first.learns(ours)
	first.later(t, 0)
	again := newInstance(m, "first", noon.Add(23*time.Hour))
	again.Read(ctx)
	if got, _ := again.others(ours, ""); !slices.Equal(got, []string{theirs}) {
		t.Errorf("others are %q", got)
	}
}

func TestDamagedCopies(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first := newInstance(m, "first", noon)
	first.Read(ctx)
	first.learns(theirs)
	first.learns(ours)
	first.later(t, 0)
	where := key{"first", kindCopies, copyValueName(copiesOfA.Host)}
	data := m.Values[where.String()]
	if len(data) == 0 {
		t.Fatal("nothing is stored")
	}
	m.Values[where.String()] = data[:len(data)-10]
	again := newInstance(m, "first", noon)
	again.Read(ctx)
	if m.Values[where.String()] != nil || m.Values[where.quarantineKey().String()] == nil {
		t.Error("the damaged value is not set aside")
	}
}
