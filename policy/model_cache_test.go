package policy

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"
)

// modelled is a cache entry with its state in the model.
type modelled struct {
	*Entry
	history history
	suspect bool
	dueFrom time.Time // the time from which the entry is due for this reason
	since   bool      // since the start of the running fetch
	madeDue time.Time // zero if not made due since the last response
	again   bool      // made due during a fetch
	answers chan FetchResult
	done    <-chan struct{} // closed at the end of the running fetch; nil without one
}

// cacheModel applies random operations to a cache.
type cacheModel struct {
	*testing.T
	dice  dice
	cache *Cache
	clock *testClock
	rules FreshnessPolicy
	all   map[*Entry]*modelled // includes evicted entries
	slow  []*modelled          // entries with a running fetch
}

// settle records a response.
func (m *cacheModel) settle(x *modelled, e event) {
	x.history = append(x.history, e)
	x.madeDue = time.Time{}
	if _, failing := x.history.split(); len(failing) == 0 {
		x.suspect = x.since
	}
	if x.since {
		x.dueFrom = e.at.Add(10 * time.Second)
	}
	x.since = false
}

// due reports whether an entry should be fetched.
func (x *modelled) due(now time.Time) bool {
	if len(x.history) == 0 {
		return true
	}
	_, failing := x.history.split()
	seen := len(failing) == 0 || !x.dueFrom.Before(failing[len(failing)-1].at.Add(10*time.Second))
	return !now.Before(x.State().NextFetch) || x.suspect && seen && !now.Before(x.dueFrom)
}

// fetching returns the number of running fetches in a segment.
func (m *cacheModel) fetching(s Segment) (n int) {
	for _, x := range m.slow {
		if x.Segment() == s {
			n++
		}
	}
	return n
}

func (m *cacheModel) act() {
	m.clock.advance(max(0, m.dice.step()))
	now := m.clock.now()
	host := m.dice.IntN(10)
	key := Key{Host: fmt.Sprint(host)}
	entry := m.cache.Get(key)
	if entry == nil {
		entry = m.cache.GetOrCreate(key, Segment(host%2))
	}
	x := m.all[entry]
	if x == nil {
		x = &modelled{Entry: entry}
		m.all[entry] = x
	}
	if got, want := entry.IsDue(now), x.due(now); got != want {
		m.Errorf("%s is due: %t, want %t", key.Host, got, want)
	}
	switch m.dice.IntN(8) {
	case 0:
		entry.MarkPossiblyChanged(now)
		settled, failing := x.history.split()
		if fetches := append(settled, failing...); len(fetches) > 0 {
			last := fetches[len(fetches)-1]
			x.suspect, x.since, x.dueFrom = true, x.done != nil, last.at.Add(10*time.Second)
			if x.dueFrom.Before(now) {
				x.dueFrom = now
			}
		}
	case 1:
		entry.MakeDue()
		if x.done != nil {
			x.again = true
		} else if len(x.history) > 0 {
			x.madeDue = now
		}
	case 2:
		m.begin(x)
	case 3:
		m.end()
	default:
		entry.Touch(now)
		m.refresh(x, now)
	}
	if entry.IsPossiblyChanged() != x.suspect {
		m.Errorf("%s is suspect: %t, want %t", key.Host, entry.IsPossiblyChanged(), x.suspect)
	}
	m.compare(x)
}

// refresh fetches an entry if it is due and the bounds allow a fetch.
func (m *cacheModel) refresh(x *modelled, now time.Time) {
	e := m.dice.event(now)
	want := x.due(now) && x.done == nil && m.fetching(x.Segment()) < 2
	asked := false
	done := x.Refresh(m.rules, func() FetchResult { asked = true; return e.answer }, nil)
	if x.done == nil && done != nil {
		<-done
		m.settle(x, e)
	}
	if asked != want {
		m.Errorf("read: %t, want %t", asked, want)
	}
}

// begin starts a slow fetch.
func (m *cacheModel) begin(x *modelled) {
	if x.done != nil {
		return
	}
	answers := make(chan FetchResult)
	x.answers = answers
	if x.done = x.Refresh(m.rules, func() FetchResult { return <-answers }, nil); x.done != nil {
		m.slow = append(m.slow, x)
	}
}

// end finishes the oldest fetch. The entry may have been evicted.
func (m *cacheModel) end() {
	if len(m.slow) == 0 {
		return
	}
	x := m.slow[0]
	m.slow = m.slow[1:]
	e := m.dice.event(m.clock.now())
	x.answers <- e.answer
	<-x.done
	x.done = nil
	m.settle(x, e)
	if x.again {
		x.again, x.madeDue = false, m.clock.now()
	}
	m.compare(x)
}

// compare compares the state of a site with the model, and the counters with the content of the
// cache.
func (m *cacheModel) compare(x *modelled) {
	if s := x.State(); (s != nil) != (len(x.history) > 0) {
		m.Fatalf("known: %t after %d answers", s != nil, len(x.history))
	} else if s != nil {
		state := *s
		if !x.madeDue.IsZero() {
			if !s.NextFetch.Equal(x.madeDue) {
				m.Errorf("made due at %v and due at %v", x.madeDue.Sub(epoch), s.NextFetch.Sub(epoch))
			}
			state.NextFetch, _ = x.history.due(m.rules)
		}
		if what := x.history.divergence(state, m.dice.question(m.clock.now()), m.rules); what != "" {
			for _, e := range x.history {
				m.Log(e)
			}
			m.Fatal(what)
		}
	}
	for s, seg := range m.cache.segments {
		entries, bytes, users := 0, 0, make(map[[sha256.Size]byte]int)
		for _, e := range m.cache.Entries() {
			if e.Segment() != Segment(s) {
				continue
			}
			entries++
			if state := e.State(); state != nil && state.Current != nil {
				for _, v := range append([]*Version{state.Current}, state.Previous...) {
					users[v.Hash]++
					if shared := seg.versions.byHash[v.Hash]; shared == nil || shared.robots != v.Robots {
						m.Fatal("a version is not shared")
					}
				}
			}
		}
		for hash, shared := range seg.versions.byHash {
			if bytes += shared.robots.Size(); shared.userCount != users[hash] {
				m.Fatalf("a version has %d users, want %d", shared.userCount, users[hash])
			}
		}
		if len(users) != len(seg.versions.byHash) || bytes != seg.versions.bytes {
			m.Fatalf("%d versions of %d bytes, want %d of %d", len(seg.versions.byHash), seg.versions.bytes, len(users), bytes)
		}
		if entries != seg.queues.len() || entries > seg.bounds.Entries || entries > 1 && bytes > seg.bounds.Bytes {
			m.Fatalf("%d entries of %d bytes, %d in the queues", entries, bytes, seg.queues.len())
		}
	}
}

// TestCacheAgainstModel applies random operations to a cache that is too small for its sites, and
// compares each result with the model. Only an eviction resets the state of a site.
func TestCacheAgainstModel(t *testing.T) {
	sequences, most := 60, 300
	if raceEnabled || testing.Short() {
		sequences = 10
	}
	var evicted uint64
	for seed := range uint64(sequences) {
		d := newDice(seed)
		m := &cacheModel{T: t, dice: d, clock: new(testClock), all: make(map[*Entry]*modelled),
			rules: FreshnessPolicy{Default: 10 * time.Minute, Min: time.Minute, Max: MaxAge}}
		b := Bounds{Entries: 4, Bytes: pick(d, 8<<10, 1<<20), ConcurrentFetches: 2}
		m.cache = NewCache(b, b, m.clock.now, nil)
		for range most {
			m.act()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		for len(m.slow) > 0 {
			m.end()
		}
		for i, seg := range m.cache.segments {
			evicted += m.cache.Stats(Segment(i)).Evicted
			for seg.queues.len() > 0 {
				m.cache.evict(seg, seg.queues.removeLeastUsed(seg.bounds.Entries))
			}
			if len(seg.versions.byHash) != 0 || seg.versions.bytes != 0 || seg.runningFetches != 0 {
				t.Errorf("seed %d: an empty cache has %d versions of %d bytes, %d fetches", seed, len(seg.versions.byHash), seg.versions.bytes, seg.runningFetches)
			}
		}
		if left := m.cache.Entries(); len(left) != 0 {
			t.Errorf("seed %d: %d entries remain", seed, len(left))
		}
	}
	t.Logf("%d sequences, %d steps, %d evictions", sequences, sequences*most, evicted)
	if evicted == 0 {
		t.Error("no entry was evicted")
	}
}

// TestCacheEvictionIsInvisible visits the same sites through a large cache and through
// a small cache. The verdicts are equal, however the files change.
func TestCacheEvictionIsInvisible(t *testing.T) {
	d := newDice(1)
	large, clock := newTestCache(roomy)
	small := NewCache(Bounds{Entries: 3, Bytes: 8 << 10, ConcurrentFetches: 1}, roomy, clock.now, nil)
	files := make([]FetchResult, 20)
	for i := range files {
		files[i] = version(d.IntN(d.texts))
	}
	for range 5000 {
		clock.advance(time.Duration(d.Int64N(int64(time.Hour))))
		host := d.IntN(len(files))
		if d.IntN(10) == 0 {
			files[host] = pick(d, version(d.IntN(d.texts)), missing, FetchResult{Status: 200})
		}
		var verdicts [2]string
		for i, c := range []*Cache{large, small} {
			key := Key{Host: fmt.Sprint(host)}
			e := c.Get(key)
			if e == nil {
				e = c.GetOrCreate(key, ConfiguredHosts)
			}
			e.Touch(clock.now())
			e.MakeDue()
			<-e.Refresh(holding(time.Hour), func() FetchResult { return files[host] }, nil)
			robots, disallowAll := e.State().EffectiveRules(clock.now(), LastGood)
			for path := range d.texts {
				verdicts[i] += fmt.Sprintln(robots.Select(true, "FooBot").Judge(fmt.Sprintf("/%d", path)), disallowAll)
			}
		}
		if verdicts[0] != verdicts[1] {
			t.Fatalf("host %d: large cache %q, small cache %q", host, verdicts[0], verdicts[1])
		}
	}
	if n := small.Stats(ConfiguredHosts).Evicted; n < 1000 {
		t.Errorf("only %d evictions", n)
	}
}
