package policy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// The naive model of the caching rules: it keeps every answer with its time and
// derives from them, each time anew, what must hold. It shares nothing with
// Standing but the types.

// event is an answer and what a reader of RFC 9111 takes from its header.
type event struct {
	at      time.Time
	answer  Answer
	meaning Meaning
	life    time.Duration // that it states, less its age; -1 if it states none
	wait    time.Duration // that it asks for
	jitter  float64
}

func (e event) String() string {
	s := fmt.Sprintf("%v: %s", e.at.Sub(epoch), e.meaning)
	if e.meaning == Rules {
		s += fmt.Sprintf(" %q", e.answer.Body)
	}
	if e.life >= 0 {
		s += fmt.Sprintf(" for %v", e.life)
	}
	if e.wait > 0 {
		s += fmt.Sprintf(" retry after %v", e.wait)
	}
	return s
}

type history []event

// run is a time in which one text was current.
type run struct {
	text        string
	status      int
	etag        string
	first, last time.Time
	until       time.Time // zero for the current one
}

// split returns the answers that settled something and those after the last of
// them.
func (h history) split() (settled, failing history) {
	settled = make(history, 0, len(h))
	for _, e := range h {
		switch {
		case e.meaning == Rules, e.meaning == Unavailable, e.meaning == Unchanged && len(settled) > 0:
			settled, failing = append(settled, e), failing[:0]
		default:
			failing = append(failing, e)
		}
	}
	return settled, failing
}

// runs returns what was current, the oldest first.
func (h history) runs() (runs []run) {
	settled, _ := h.split()
	for _, e := range settled {
		text, last := "", len(runs)-1
		switch e.meaning {
		case Rules:
			text = string(e.answer.Body)
		case Unchanged:
			text = runs[last].text
		}
		if last < 0 || runs[last].text != text {
			if last >= 0 {
				runs[last].until = e.at
			}
			runs = append(runs, run{text: text, first: e.at})
			last++
		}
		runs[last].last = e.at
		if e.meaning != Unchanged {
			runs[last].status, runs[last].etag = e.answer.Status, e.answer.Header.Get("ETag")
		}
	}
	return runs
}

// past returns the texts before the current one, as they were last.
func (h history) past() (past []run) {
	runs := h.runs()
	for _, r := range slices.Backward(runs) {
		known := func(other run) bool { return other.text == r.text }
		if r.text != runs[len(runs)-1].text && !slices.ContainsFunc(past, known) && len(past) < 8 {
			past = append(past, r)
		}
	}
	return past
}

// usable returns the text that holds at now, if there is one, and whether the
// site is closed for want of one.
func (h history) usable(now time.Time, choice Fallback) (text string, known, closed bool) {
	const day = 24 * time.Hour
	settled, failing := h.split()
	var age time.Duration
	if len(settled) > 0 {
		runs := h.runs()
		text = runs[len(runs)-1].text
		age = now.Sub(settled[len(settled)-1].at)
		if len(failing) == 0 || age < day {
			return text, true, false
		}
	}
	if len(failing) == 0 {
		return "", false, false // nothing was ever asked
	}
	since := now.Sub(failing[0].at)
	refused := failing[len(failing)-1].meaning == Refused
	lastGood := len(settled) > 0 && age < 30*day
	switch {
	case choice == AllowAll:
		return "", false, false
	case choice == DisallowAll && !refused:
		return "", false, since < 30*day
	case choice == DisallowGoogle && !refused && since < 12*time.Hour:
		return "", false, true
	case lastGood:
		return text, true, false
	}
	return "", false, false
}

// held returns the texts but the current one that a crawler may follow at now
// which has read the file at read, or never.
func (h history) held(now, read time.Time, grace time.Duration) (texts []string) {
	for _, r := range h.past() {
		if now.Before(r.until.Add(grace)) && (read.IsZero() || read.Before(r.until)) {
			texts = append(texts, r.text)
		}
	}
	return texts
}

// due returns between which times the next attempt is due.
func (h history) due(f Freshness) (from, to time.Time) {
	last := h[len(h)-1]
	_, failing := h.split()
	if len(failing) == 0 {
		life := last.life
		if life < 0 {
			life = f.Default
		}
		life = min(max(life, f.Min), f.Max, 24*time.Hour)
		return last.at.Add(life - life/10), last.at.Add(life)
	}
	wait := time.Second
	for range failing[1:] {
		wait = min(2*wait, 5*time.Minute)
	}
	return last.at.Add(min(max(wait, last.wait), 24*time.Hour)), last.at.Add(min(max(wait+wait/10, last.wait), 24*time.Hour))
}

// question is what is asked of a standing at some time.
type question struct {
	now   time.Time
	read  time.Time
	grace time.Duration
}

// fold returns the standing after all answers.
func (h history) fold(f Freshness) (s Standing) {
	for _, e := range h {
		s = s.After(e.answer, e.at, f, e.jitter)
	}
	return s
}

// divergence tells where a standing is not what the history says, "" if nowhere.
func (h history) divergence(s Standing, q question, f Freshness) string {
	if len(h) == 0 {
		return ""
	}
	settled, failing := h.split()
	runs, past := h.runs(), h.past()
	if known := s.Good != nil; known != (len(settled) > 0) {
		return fmt.Sprintf("a copy is known: %t", known)
	}
	if s.Good != nil {
		if m := versionIs(s.Good, runs[len(runs)-1]); m != "" {
			return "current: " + m
		}
	}
	if len(s.Past) != len(past) {
		return fmt.Sprintf("%d versions before, want %d", len(s.Past), len(past))
	}
	for i := range past {
		if m := versionIs(s.Past[i], past[i]); m != "" {
			return fmt.Sprintf("%d versions ago: %s", i+1, m)
		}
	}
	if s.Failures != len(failing) {
		return fmt.Sprintf("%d failures, want %d", s.Failures, len(failing))
	}
	if len(failing) > 0 && !s.FailingSince.Equal(failing[0].at) {
		return fmt.Sprintf("failing since %v", s.FailingSince)
	}
	if from, to := h.due(f); s.Due.Before(from) || s.Due.After(to) {
		return fmt.Sprintf("due at %v, want %v to %v", s.Due.Sub(epoch), from.Sub(epoch), to.Sub(epoch))
	}
	for _, choice := range []Fallback{LastGood, AllowAll, DisallowAll, DisallowGoogle} {
		text, known, closed := h.usable(q.now, choice)
		robots, gotClosed := s.Usable(q.now, choice)
		if (robots != nil) != known || gotClosed != closed {
			return fmt.Sprintf("fallback %d at %v: known %t, closed %t; want %t, %t", choice, q.now.Sub(epoch), robots != nil, gotClosed, known, closed)
		}
		if known && !says(robots, text) {
			return fmt.Sprintf("fallback %d at %v: judged by another text", choice, q.now.Sub(epoch))
		}
	}
	if want := len(settled) > 0 && len(failing) == 0 && q.now.Sub(settled[len(settled)-1].at) >= 24*time.Hour; s.Expired(q.now) != want {
		return fmt.Sprintf("expired at %v: %t", q.now.Sub(epoch), !want)
	}
	var held []string
	for _, v := range s.Held(q.now, q.read, q.grace) {
		held = append(held, string(v.Robots.text))
	}
	if want := h.held(q.now, q.read, q.grace); !slices.Equal(held, want) {
		return fmt.Sprintf("held at %v by who read at %v, grace %v: %q, want %q", q.now.Sub(epoch), q.read.Sub(epoch), q.grace, held, want)
	}
	return ""
}

func versionIs(v *Version, want run) string {
	switch {
	case v.Hash != sha256.Sum256([]byte(want.text)) || !says(v.Robots, want.text):
		return fmt.Sprintf("another text than %q", want.text)
	case v.Status != want.status || v.ETag != want.etag:
		return fmt.Sprintf("status %d, ETag %q; want %d, %q", v.Status, v.ETag, want.status, want.etag)
	case !v.FirstRead.Equal(want.first) || !v.LastRead.Equal(want.last) || !v.Until.Equal(want.until):
		return fmt.Sprintf("read from %v to %v, replaced at %v", v.FirstRead.Sub(epoch), v.LastRead.Sub(epoch), v.Until.Sub(epoch))
	}
	return ""
}

// says reports whether robots judges as one of the texts of the model does.
func says(robots *Robots, text string) bool {
	_, path, forbids := strings.Cut(strings.TrimSpace(text), "Disallow: ")
	if !forbids {
		path = "/"
	}
	group := robots.Select(true, "FooBot")
	return group.Judge(path).Allowed != forbids && group.Judge("/none").Allowed
}

// smaller leaves out of a history what is not needed for a divergence.
func (h history) smaller(q question, f Freshness) history {
	for i := 0; i < len(h); {
		without := slices.Delete(slices.Clone(h), i, i+1)
		if without.divergence(without.fold(f), q, f) != "" {
			h, i = without, 0
		} else {
			i++
		}
	}
	return h
}

// dice makes random answers and times.
type dice struct {
	*rand.Rand
	texts int
}

func newDice(seed uint64) dice {
	return dice{Rand: rand.New(rand.NewPCG(seed, 9309)), texts: 12}
}

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// step returns how long nothing happens: anything from nothing to weeks, and
// often just what some limit is, a little more or a little less.
func (d dice) step() time.Duration {
	const day = 24 * time.Hour
	switch d.IntN(4) {
	case 0:
		limit := pick(d, doubtInterval, firstRetry, lastRetry, 10*time.Minute, time.Hour, googleClosed, MaxAge, MaxUnreachable)
		return limit + pick(d, -1, 0, 1, time.Duration(d.Int64N(int64(time.Second))))
	default:
		unit := pick(d, time.Millisecond, time.Second, time.Second, time.Minute, time.Minute, time.Hour, time.Hour, day, 7*day)
		return time.Duration(d.Int64N(int64(4 * unit)))
	}
}

// event returns a random answer that comes at now.
func (d dice) event(now time.Time) event {
	e := event{at: now, life: -1, jitter: pick(d, 0, 1, d.Float64()), answer: Answer{Header: http.Header{}}}
	switch d.IntN(12) {
	case 0, 1, 2, 3:
		e.meaning, e.answer.Status = Rules, pick(d, 200, 200, 200, 203)
		e.answer.Body = fmt.Appendf(nil, "User-agent: *\nDisallow: /%d\n", d.IntN(d.texts))
		if d.IntN(8) == 0 {
			e.answer.Body = nil
		}
	case 4:
		e.meaning, e.answer.Status = Unavailable, pick(d, 404, 404, 410, 401, 403, 302)
		e.answer.Body = []byte("User-agent: *\nDisallow: /none\n") // says nothing
	case 5, 6:
		e.meaning, e.answer.Status = Unchanged, 304
	case 7:
		e.meaning, e.answer.Status = Refused, 429
		d.retryAfter(&e)
	case 8, 9:
		e.meaning, e.answer.Status = Unreachable, pick(d, 500, 502, 503, 504)
		d.retryAfter(&e)
	default:
		e.meaning, e.answer.Err = Unreachable, pick(d, errors.New("connection reset"), errors.New("no such host"))
		e.answer.Status = pick(d, 0, 200) // it may have begun well
		e.answer.Body = []byte("User-agent: *\nDisallow: /none\n")
	}
	if e.meaning.Known() {
		d.freshness(&e)
		if d.IntN(2) == 0 {
			e.answer.Header.Set("ETag", fmt.Sprintf("%q", fmt.Sprint(d.IntN(3))))
		}
	}
	return e
}

// retryAfter may make an answer ask to come back later.
func (d dice) retryAfter(e *event) {
	wait := d.step()
	switch d.IntN(4) {
	case 0:
		e.wait = max(0, wait.Truncate(time.Second))
		e.answer.Header.Set("Retry-After", fmt.Sprint(int64(e.wait/time.Second)))
	case 1:
		at := e.at.Add(wait).Truncate(time.Second)
		e.wait = max(0, at.Sub(e.at))
		e.answer.Header.Set("Retry-After", at.Format(http.TimeFormat))
	}
}

// freshness may make an answer say how long it is fresh.
func (d dice) freshness(e *event) {
	h, life := e.answer.Header, max(0, d.step().Truncate(time.Second))
	switch d.IntN(6) {
	case 0:
		h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", life/time.Second))
		e.life = life
	case 1:
		h.Set("Cache-Control", fmt.Sprintf("max-age=5, s-maxage=%d", life/time.Second))
		e.life = life
	case 2:
		h.Set("Cache-Control", pick(d, "no-cache", "no-store", "max-age=60, no-store"))
		e.life = 0
	case 3:
		at := e.at.Add(life).Truncate(time.Second)
		h.Set("Expires", at.Format(http.TimeFormat))
		e.life = max(0, at.Sub(e.at))
	case 4:
		age := max(0, d.step().Truncate(time.Second))
		h.Set("Cache-Control", fmt.Sprintf("max-age=%d", life/time.Second))
		h.Set("Age", fmt.Sprint(int64(age/time.Second)))
		e.life = max(0, life-age)
	}
}

// question asks about some time after now, and about a crawler that has read
// the file at some time before.
func (d dice) question(now time.Time) question {
	q := question{now: now.Add(max(0, d.step())), grace: pick(d, 0, time.Hour, MaxAge, MaxAge, d.step())}
	if d.IntN(3) > 0 {
		q.read = now.Add(-d.step())
	}
	return q
}

// TestStandingKeepsTheRules runs random sequences of answers and times, and
// compares what is known and what is to be done at random times with the model.
func TestStandingKeepsTheRules(t *testing.T) {
	sequences, most := 300, 60
	if raceEnabled || testing.Short() {
		sequences = 50
	}
	f := Freshness{Default: 10 * time.Minute, Min: time.Minute, Max: 36 * time.Hour}
	steps, asked := 0, 0
	for seed := range uint64(sequences) {
		d := newDice(seed)
		d.texts = 1 + d.IntN(12)
		var h history
		var s Standing
		now := epoch
		for range most {
			now = now.Add(max(0, d.step()))
			e := d.event(now)
			h = append(h, e)
			s = s.After(e.answer, e.at, f, e.jitter)
			steps++
			for range 3 {
				q := d.question(now)
				asked++
				if h.divergence(s, q, f) == "" {
					continue
				}
				small := h.smaller(q, f)
				for _, e := range small {
					t.Log(e)
				}
				t.Fatalf("seed %d: %s", seed, small.divergence(small.fold(f), q, f))
			}
		}
	}
	t.Logf("%d sequences, %d steps, %d questions", sequences, steps, asked)
}

// modelled is an entry of a cache and what the model knows of it.
type modelled struct {
	*Entry
	history  history
	doubted  bool
	hastened time.Time // zero if it was not since the last answer
	again    bool      // it was hastened during a reading
	answers  chan Answer
	done     <-chan struct{} // of the reading under way, nil if there is none
}

// cacheModel does random things to a cache.
type cacheModel struct {
	*testing.T
	dice  dice
	cache *Cache
	clock *testClock
	rules Freshness
	all   map[*Entry]*modelled // also those that were evicted
	slow  []*modelled          // those that are being read
}

// settle notes an answer.
func (m *cacheModel) settle(x *modelled, e event) {
	x.history = append(x.history, e)
	x.hastened = time.Time{}
	if _, failing := x.history.split(); len(failing) == 0 {
		x.doubted = false
	}
}

// due tells whether an entry should be read.
func (x *modelled) due(now time.Time) bool {
	if len(x.history) == 0 {
		return true
	}
	_, failing := x.history.split()
	return !now.Before(x.Standing().Due) || x.doubted && len(failing) == 0
}

// reading counts the readings under way in a segment.
func (m *cacheModel) reading(s Segment) (n int) {
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
		entry = m.cache.Add(key, Segment(host%2))
	}
	x := m.all[entry]
	if x == nil {
		x = &modelled{Entry: entry}
		m.all[entry] = x
	}
	if got, want := entry.Due(now), x.due(now); got != want {
		m.Errorf("%s is due: %t, want %t", key.Host, got, want)
	}
	switch m.dice.IntN(8) {
	case 0:
		entry.Doubt(now)
		settled, _ := x.history.split()
		if len(settled) > 0 && now.Sub(settled[len(settled)-1].at) >= 10*time.Second {
			x.doubted = true
		}
	case 1:
		entry.Hasten()
		if x.done != nil {
			x.again = true
		} else if len(x.history) > 0 {
			x.hastened = now
		}
	case 2:
		m.begin(x)
	case 3:
		m.end()
	default:
		entry.Use(now)
		m.refresh(x, now)
	}
	if entry.Doubted() != x.doubted {
		m.Errorf("%s is doubted: %t, want %t", key.Host, entry.Doubted(), x.doubted)
	}
	m.compare(x)
}

// refresh reads an entry if it is due and nothing stands against it.
func (m *cacheModel) refresh(x *modelled, now time.Time) {
	e := m.dice.event(now)
	want := x.due(now) && x.done == nil && m.reading(x.Segment()) < 2
	asked := false
	done := x.Refresh(m.rules, func() Answer { asked = true; return e.answer }, nil)
	if x.done == nil && done != nil {
		<-done
		m.settle(x, e)
	}
	if asked != want {
		m.Errorf("read: %t, want %t", asked, want)
	}
}

// begin begins a reading that takes its time.
func (m *cacheModel) begin(x *modelled) {
	if x.done != nil {
		return
	}
	answers := make(chan Answer)
	x.answers = answers
	if x.done = x.Refresh(m.rules, func() Answer { return <-answers }, nil); x.done != nil {
		m.slow = append(m.slow, x)
	}
}

// end lets the reading end that began first. Its entry may have been evicted.
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
		x.again, x.hastened = false, m.clock.now()
	}
	m.compare(x)
}

// compare compares what is known of a site with the model, and the counts of
// the cache with what it holds.
func (m *cacheModel) compare(x *modelled) {
	if s := x.Standing(); (s != nil) != (len(x.history) > 0) {
		m.Fatalf("known: %t after %d answers", s != nil, len(x.history))
	} else if s != nil {
		standing := *s
		if !x.hastened.IsZero() {
			if !s.Due.Equal(x.hastened) {
				m.Errorf("hastened at %v and due at %v", x.hastened.Sub(epoch), s.Due.Sub(epoch))
			}
			standing.Due, _ = x.history.due(m.rules)
		}
		if what := x.history.divergence(standing, m.dice.question(m.clock.now()), m.rules); what != "" {
			for _, e := range x.history {
				m.Log(e)
			}
			m.Fatal(what)
		}
	}
	for s, kept := range m.cache.kept {
		entries, bytes, users := 0, 0, make(map[[sha256.Size]byte]int)
		for _, e := range m.cache.Entries() {
			if e.Segment() != Segment(s) {
				continue
			}
			entries++
			if standing := e.Standing(); standing != nil && standing.Good != nil {
				for _, v := range append([]*Version{standing.Good}, standing.Past...) {
					users[v.Hash]++
					if shared := kept.texts.byHash[v.Hash]; shared == nil || shared.robots != v.Robots {
						m.Fatal("a text is not shared")
					}
				}
			}
		}
		for hash, shared := range kept.texts.byHash {
			if bytes += shared.robots.Size(); shared.users != users[hash] {
				m.Fatalf("a text has %d users, want %d", shared.users, users[hash])
			}
		}
		if len(users) != len(kept.texts.byHash) || bytes != kept.texts.bytes {
			m.Fatalf("%d texts of %d bytes, want %d of %d", len(kept.texts.byHash), kept.texts.bytes, len(users), bytes)
		}
		if entries != kept.order.len() || entries > kept.bounds.Entries || entries > 1 && bytes > kept.bounds.Bytes {
			m.Fatalf("%d entries of %d bytes, noted as %d", entries, bytes, kept.order.len())
		}
	}
}

// TestCacheKeepsTheRules does random things to a cache that is too small for
// its sites, and compares it with the model after each. What is known of a site
// begins anew when it was evicted, and with nothing else.
func TestCacheKeepsTheRules(t *testing.T) {
	sequences, most := 60, 300
	if raceEnabled || testing.Short() {
		sequences = 10
	}
	var evicted uint64
	for seed := range uint64(sequences) {
		d := newDice(seed)
		m := &cacheModel{T: t, dice: d, clock: new(testClock), all: make(map[*Entry]*modelled),
			rules: Freshness{Default: 10 * time.Minute, Min: time.Minute, Max: MaxAge}}
		b := Bounds{Entries: 4, Bytes: pick(d, 8<<10, 1<<20), Reads: 2}
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
		for i, kept := range m.cache.kept {
			evicted += m.cache.Stats(Segment(i)).Evicted
			for kept.order.len() > 0 {
				m.cache.evict(kept)
			}
			if len(kept.texts.byHash) != 0 || kept.texts.bytes != 0 || kept.attempts != 0 {
				t.Errorf("seed %d: an empty cache has %d texts of %d bytes, %d readings", seed, len(kept.texts.byHash), kept.texts.bytes, kept.attempts)
			}
		}
		if left := m.cache.Entries(); len(left) != 0 {
			t.Errorf("seed %d: %d entries are left", seed, len(left))
		}
	}
	t.Logf("%d sequences, %d steps, %d evictions", sequences, sequences*most, evicted)
	if evicted == 0 {
		t.Error("nothing was evicted")
	}
}

// TestCacheEvictionIsInvisible visits the same sites through a cache with room
// for all and through one that evicts all the time. Whatever their files become,
// both judge alike.
func TestCacheEvictionIsInvisible(t *testing.T) {
	d := newDice(1)
	large, clock := newTestCache(roomy)
	small := NewCache(Bounds{Entries: 3, Bytes: 8 << 10, Reads: 1}, roomy, clock.now, nil)
	files := make([]Answer, 20)
	for i := range files {
		files[i] = version(d.IntN(d.texts))
	}
	for range 5000 {
		clock.advance(time.Duration(d.Int64N(int64(time.Hour))))
		host := d.IntN(len(files))
		if d.IntN(10) == 0 {
			files[host] = pick(d, version(d.IntN(d.texts)), missing, Answer{Status: 200})
		}
		var verdicts [2]string
		for i, c := range []*Cache{large, small} {
			key := Key{Host: fmt.Sprint(host)}
			e := c.Get(key)
			if e == nil {
				e = c.Add(key, Named)
			}
			e.Use(clock.now())
			e.Hasten()
			<-e.Refresh(holding(time.Hour), func() Answer { return files[host] }, nil)
			robots, closed := e.Standing().Usable(clock.now(), LastGood)
			for path := range d.texts {
				verdicts[i] += fmt.Sprintln(robots.Select(true, "FooBot").Judge(fmt.Sprintf("/%d", path)), closed)
			}
		}
		if verdicts[0] != verdicts[1] {
			t.Fatalf("host %d: with room %q, without %q", host, verdicts[0], verdicts[1])
		}
	}
	if n := small.Stats(Named).Evicted; n < 1000 {
		t.Errorf("only %d evictions", n)
	}
}
