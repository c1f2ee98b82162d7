package policy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// versionOf returns the version of a good response.
func versionOf(status int, body string, first, last time.Time) *Version {
	s := State{}.AfterFetch(FetchResult{Status: status, Body: []byte(body)}, first, tenMinutes, 0)
	s.Current.LastFetched = last
	return s.Current
}

func snapshotOf(key Key, good *Version, past ...*Version) Snapshot {
	return Snapshot{Key: key, State: State{Current: good, Previous: past, NextFetch: good.LastFetched.Add(time.Hour), LastResult: FetchResult{Status: good.Status}.AccessResult()}, Saved: good.LastFetched}
}

// same fails if two snapshots differ.
func same(t *testing.T, got, want Snapshot) {
	t.Helper()
	if got.Key != want.Key || !got.Saved.Equal(want.Saved) || !got.State.NextFetch.Equal(want.State.NextFetch) || got.State.LastResult != want.State.LastResult {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(got.State.Previous) != len(want.State.Previous) {
		t.Fatalf("got %d past versions, want %d", len(got.State.Previous), len(want.State.Previous))
	}
	sameRead(t, got.State.Current, want.State.Current)
	for i, v := range want.State.Previous {
		sameRead(t, got.State.Previous[i], v)
	}
}

func sameRead(t *testing.T, got, want *Version) {
	t.Helper()
	if got.Hash != want.Hash || got.Status != want.Status || got.WasServed != want.WasServed || got.ETag != want.ETag || got.LastModified != want.LastModified ||
		!got.FirstFetched.Equal(want.FirstFetched) || !got.LastFetched.Equal(want.LastFetched) || !got.ReplacedAt.Equal(want.ReplacedAt) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.Robots.Text() != want.Robots.Text() || got.Robots.RuleCount() != want.Robots.RuleCount() {
		t.Errorf("got the text %.40q, want %.40q", got.Robots.Text(), want.Robots.Text())
	}
	gotFindings, _ := got.Robots.Findings()
	wantFindings, _ := want.Robots.Findings()
	if fmt.Sprint(gotFindings) != fmt.Sprint(wantFindings) {
		t.Errorf("got the findings %v, want %v", gotFindings, wantFindings)
	}
}

func encoded(t testing.TB, s Snapshot) []byte {
	t.Helper()
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSnapshotRoundTrip encodes and decodes texts of all kinds.
func TestSnapshotRoundTrip(t *testing.T) {
	key := Key{IsHTTPS: true, Host: "example.com", ForwardedHost: "www.example.com"}
	bodies := append([]string{
		"User-agent: *\nDisallow: /\xff\x00<>&\u2028\n",
		"\xff\xfeU\x00",
		strings.Repeat("Disallow: /0123456\n", MaxSize/19+2),
		strings.Repeat("#", MaxSize+10),
		"User-agent: *\n" + strings.Repeat("#", MaxSize-14) + "\nDisallow: /\n",
		"User-agent: *\n" + strings.Repeat("#", MaxSize-15) + "\nDisallow: /\n",
	}, oddFiles...)
	for _, body := range bodies {
		t.Run(fmt.Sprintf("%.20q", body), func(t *testing.T) {
			want := snapshotOf(key, versionOf(200, body, epoch, epoch.Add(time.Minute)))
			got, err := DecodeSnapshot(encoded(t, want))
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		})
	}
	t.Run("no robots.txt", func(t *testing.T) {
		old := versionOf(200, smallFile, epoch, epoch.Add(time.Minute))
		old.ReplacedAt, old.ETag, old.LastModified = epoch.Add(time.Hour), `"1"`, "yesterday"
		want := snapshotOf(Key{Source: "https://example.com/robots.txt"}, versionOf(404, "gone", epoch.Add(time.Hour), epoch.Add(2*time.Hour)), old)
		got, err := DecodeSnapshot(encoded(t, want))
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	})
}

// TestSnapshotRoundTripRandom encodes and decodes states after random responses. The verdicts stay
// the same.
func TestSnapshotRoundTripRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		now := epoch
		var s State
		for range random.IntN(30) {
			now = now.Add(time.Duration(random.Int64N(int64(10 * time.Hour))))
			a := FetchResult{Status: []int{200, 200, 200, 204, 304, 404, 429, 503}[random.IntN(8)]}
			a.Body = []byte(oddFiles[random.IntN(len(oddFiles))])
			s = s.AfterFetch(a, now, tenMinutes, random.Float64())
		}
		data, err := Snapshot{Key: Key{Host: "a.test"}, State: s, Saved: now}.Encode()
		if s.Current == nil {
			if err == nil {
				t.Fatal("no snapshot was encoded")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeSnapshot(data)
		if err != nil {
			t.Fatal(err)
		}
		want := State{Current: s.Current, Previous: s.Previous, NextFetch: s.NextFetch, LastResult: FetchResult{Status: s.Current.Status}.AccessResult()}
		if latest := s.Current.LastFetched.Add(MaxAge); want.NextFetch.After(latest) {
			want.NextFetch = latest
		}
		same(t, got, Snapshot{Key: Key{Host: "a.test"}, State: want, Saved: now})
		if !bytes.Equal(encoded(t, got), data) {
			t.Fatal("the second encoding differs")
		}
		for _, grace := range []time.Duration{time.Hour, 24 * time.Hour, 1000 * time.Hour} {
			if g, w := len(got.State.VersionsInGrace(now, grace)), len(s.VersionsInGrace(now, grace)); g != w {
				t.Errorf("%d versions are in grace, want %d as before encoding", g, w)
			}
		}
	}
}

// TestSnapshotBounds omits previous versions that do not fit.
func TestSnapshotBounds(t *testing.T) {
	large := func(i int) *Version {
		v := versionOf(200, fmt.Sprint("# ", i, "\n")+strings.Repeat("Disallow: /0123456\n", 26_000), epoch, epoch)
		v.ReplacedAt = epoch.Add(time.Hour)
		return v
	}
	current := large(0)
	current.ReplacedAt = time.Time{}
	small := versionOf(200, smallFile, epoch, epoch)
	small.ReplacedAt = epoch
	small.ETag = strings.Repeat("x", maxValidatorLength+1)
	data := encoded(t, snapshotOf(Key{Host: "a.test"}, current, small, large(1), large(2)))
	if len(data) > MaxSnapshotSize {
		t.Errorf("%d bytes, more than %d", len(data), MaxSnapshotSize)
	}
	got, err := DecodeSnapshot(data)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.State.Previous); n != 1 || got.State.Previous[0].ETag != "" {
		t.Errorf("%d previous versions are stored, want the small version without its entity tag", n)
	}
	if _, err := (Snapshot{Key: Key{Host: "a\xff"}, State: State{Current: small}}).Encode(); err == nil {
		t.Error("a key with invalid UTF-8 was encoded")
	}
}

// TestSnapshotClockSetBack stores a version after the clock was set back.
func TestSnapshotClockSetBack(t *testing.T) {
	old := versionOf(200, smallFile, epoch, epoch.Add(-time.Hour))
	old.ReplacedAt = epoch.Add(-2 * time.Hour)
	current := versionOf(200, "", epoch, epoch.Add(-time.Minute))
	if _, err := DecodeSnapshot(encoded(t, snapshotOf(Key{Host: "a.test"}, current, old))); err != nil {
		t.Error(err)
	}
}
