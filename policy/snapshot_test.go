package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// versionOf is a version of a text as it comes out of a good answer.
func versionOf(status int, body string, first, last time.Time) *Version {
	s := Standing{}.After(Answer{Status: status, Body: []byte(body)}, first, tenMinutes, 0)
	s.Good.LastRead = last
	return s.Good
}

func snapshotOf(key Key, good *Version, past ...*Version) Snapshot {
	return Snapshot{Key: key, Standing: Standing{Good: good, Past: past, Due: good.LastRead.Add(time.Hour), Last: Answer{Status: good.Status}.Meaning()}, Saved: good.LastRead}
}

// same fails unless two snapshots say the same.
func same(t *testing.T, got, want Snapshot) {
	t.Helper()
	if got.Key != want.Key || !got.Saved.Equal(want.Saved) || !got.Standing.Due.Equal(want.Standing.Due) || got.Standing.Last != want.Standing.Last {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(got.Standing.Past) != len(want.Standing.Past) {
		t.Fatalf("got %d past versions, want %d", len(got.Standing.Past), len(want.Standing.Past))
	}
	sameRead(t, got.Standing.Good, want.Standing.Good)
	for i, v := range want.Standing.Past {
		sameRead(t, got.Standing.Past[i], v)
	}
}

func sameRead(t *testing.T, got, want *Version) {
	t.Helper()
	if got.Hash != want.Hash || got.Status != want.Status || got.ETag != want.ETag || got.LastModified != want.LastModified ||
		!got.FirstRead.Equal(want.FirstRead) || !got.LastRead.Equal(want.LastRead) || !got.Until.Equal(want.Until) {
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

// TestSnapshotRoundTrip keeps texts of all kinds.
func TestSnapshotRoundTrip(t *testing.T) {
	key := Key{Secure: true, Host: "example.com", Forwarded: "www.example.com"}
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
		old.Until, old.ETag, old.LastModified = epoch.Add(time.Hour), `"1"`, "yesterday"
		want := snapshotOf(Key{Source: "https://example.com/robots.txt"}, versionOf(404, "gone", epoch.Add(time.Hour), epoch.Add(2*time.Hour)), old)
		got, err := DecodeSnapshot(encoded(t, want))
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	})
}

// TestSnapshotRoundTripRandom keeps what comes of random sequences of answers,
// and judges by it as before.
func TestSnapshotRoundTripRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		now := epoch
		var s Standing
		for range random.IntN(30) {
			now = now.Add(time.Duration(random.Int64N(int64(10 * time.Hour))))
			a := Answer{Status: []int{200, 200, 200, 204, 304, 404, 429, 503}[random.IntN(8)]}
			a.Body = []byte(oddFiles[random.IntN(len(oddFiles))])
			s = s.After(a, now, tenMinutes, random.Float64())
		}
		data, err := Snapshot{Key: Key{Host: "a.test"}, Standing: s, Saved: now}.Encode()
		if s.Good == nil {
			if err == nil {
				t.Fatal("nothing was encoded")
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
		want := Standing{Good: s.Good, Past: s.Past, Due: s.Due, Last: Answer{Status: s.Good.Status}.Meaning()}
		if latest := s.Good.LastRead.Add(MaxAge); want.Due.After(latest) {
			want.Due = latest
		}
		same(t, got, Snapshot{Key: Key{Host: "a.test"}, Standing: want, Saved: now})
		if !bytes.Equal(encoded(t, got), data) {
			t.Fatal("it is encoded in another way the second time")
		}
		for _, grace := range []time.Duration{time.Hour, 24 * time.Hour, 1000 * time.Hour} {
			if g, w := len(got.Standing.Held(now, time.Time{}, grace)), len(s.Held(now, time.Time{}, grace)); g != w {
				t.Errorf("crawlers may hold %d versions, before it were %d", g, w)
			}
		}
	}
}

// TestSnapshotBounds leaves out past versions that do not fit in.
func TestSnapshotBounds(t *testing.T) {
	large := func(i int) *Version {
		v := versionOf(200, fmt.Sprint("# ", i, "\n")+strings.Repeat("Disallow: /0123456\n", 26_000), epoch, epoch)
		v.Until = epoch.Add(time.Hour)
		return v
	}
	current := large(0)
	current.Until = time.Time{}
	small := versionOf(200, smallFile, epoch, epoch)
	small.Until = epoch
	small.ETag = strings.Repeat("x", maxValidator+1)
	data := encoded(t, snapshotOf(Key{Host: "a.test"}, current, small, large(1), large(2)))
	if len(data) > MaxSnapshot {
		t.Errorf("%d bytes, more than %d", len(data), MaxSnapshot)
	}
	got, err := DecodeSnapshot(data)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Standing.Past); n != 1 || got.Standing.Past[0].ETag != "" {
		t.Errorf("%d past versions were kept, want the small one, without its entity tag", n)
	}
	if _, err := (Snapshot{Key: Key{Host: "a\xff"}, Standing: Standing{Good: small}}).Encode(); err == nil {
		t.Error("a key that is no UTF-8 was encoded")
	}
}

// TestSnapshotClockSetBack keeps a version although the clock was set back.
func TestSnapshotClockSetBack(t *testing.T) {
	old := versionOf(200, smallFile, epoch, epoch.Add(-time.Hour))
	old.Until = epoch.Add(-2 * time.Hour)
	current := versionOf(200, "", epoch, epoch.Add(-time.Minute))
	if _, err := DecodeSnapshot(encoded(t, snapshotOf(Key{Host: "a.test"}, current, old))); err != nil {
		t.Error(err)
	}
}

// resealed changes the policy of an encoded snapshot and mends the checksum.
func resealed(t testing.TB, data []byte, change func(policy map[string]any)) []byte {
	t.Helper()
	var envelope snapshotJSON
	var policy map[string]any
	if err := json.Unmarshal(data, &envelope); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(envelope.Policy, &policy); err != nil {
		t.Fatal(err)
	}
	change(policy)
	envelope.Policy, _ = json.Marshal(policy)
	sum := sha256.Sum256(envelope.Policy)
	envelope.SHA256 = hex.EncodeToString(sum[:])
	changed, err := json.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestDecodeSnapshotRefuses shows what is no snapshot.
func TestDecodeSnapshotRefuses(t *testing.T) {
	past := versionOf(200, smallFile, epoch, epoch)
	past.Until = epoch
	good := encoded(t, snapshotOf(Key{Host: "a.test"}, versionOf(200, "User-agent: *\nDisallow: /\n", epoch, epoch), past))
	current := func(name string, value any) func(map[string]any) {
		return func(p map[string]any) { p["current"].(map[string]any)[name] = value }
	}
	field := func(name string, value any) func(map[string]any) {
		return func(p map[string]any) { p[name] = value }
	}
	for name, tc := range map[string]struct {
		data   []byte
		change func(map[string]any)
		want   string
	}{
		"empty":            {data: []byte{}, want: "no snapshot"},
		"not JSON":         {data: []byte("hello"), want: "no snapshot"},
		"cut":              {data: good[:len(good)/2], want: "no snapshot"},
		"more behind it":   {data: append(bytes.Clone(good), 'x'), want: "no snapshot"},
		"too large":        {data: make([]byte, MaxSnapshot+1), want: "more than a snapshot can have"},
		"a flipped bit":    {data: bytes.Replace(good, []byte("a.test"), []byte("b.test"), 1), want: "checksum"},
		"the future":       {data: bytes.Replace(good, []byte(`"format":2`), []byte(`"format":3`), 1), want: "newer version"},
		"the past":         {data: bytes.Replace(good, []byte(`"format":2`), []byte(`"format":1`), 1), want: "earlier version"},
		"no format":        {data: []byte("{}"), want: "format 0"},
		"no key":           {change: field("host", ""), want: "neither a site nor a source"},
		"two keys":         {change: field("source", "x"), want: "neither a site nor a source"},
		"no texts":         {change: field("current", map[string]any{}), want: "no SHA-256"},
		"another hash":     {change: current("sha256", strings.Repeat("00", 32)), want: "not the one with that SHA-256"},
		"a long hash":      {change: current("sha256", strings.Repeat("00", 33)), want: "no SHA-256"},
		"a status":         {change: current("status", 503), want: "settles no rules"},
		"no status":        {change: current("status", 0), want: "settles no rules"},
		"rules of a 404":   {change: current("status", 404), want: "comes without rules"},
		"a form":           {change: func(p map[string]any) { current("form", "new")(p); current("sha256", strings.Repeat("00", 32))(p) }, want: "is not known"},
		"not cut":          {change: current("form", "cut"), want: "the text is whole"},
		"not UTF-16":       {change: func(p map[string]any) { current("form", "utf16")(p); current("sha256", strings.Repeat("00", 32))(p) }, want: "not what a parser keeps"},
		"a long key":       {change: field("host", strings.Repeat("x", 10_000)), want: "bytes are more than"},
		"a long validator": {change: current("etag", strings.Repeat("x", 2000)), want: "validator"},
		"read backwards":   {change: current("first_read", epoch.Add(time.Hour)), want: "times"},
		"no time":          {change: current("last_read", time.Time{}), want: "times"},
		"an end":           {change: current("until", epoch.Add(time.Hour)), want: "times"},
		"due late":         {change: field("due", epoch.Add(25*time.Hour)), want: "times"},
		"never saved":      {change: field("saved", time.Time{}), want: "times"},
		"no end":           {change: func(p map[string]any) { delete(p["past"].([]any)[0].(map[string]any), "until") }, want: "no end"},
		"many versions": {change: func(p map[string]any) {
			for range MaxVersions {
				p["past"] = append(p["past"].([]any), p["past"].([]any)[0])
			}
		}, want: "past versions"},
	} {
		t.Run(name, func(t *testing.T) {
			data := tc.data
			if tc.change != nil {
				data = resealed(t, good, tc.change)
			}
			_, err := DecodeSnapshot(data)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got the error %v, want one with %q", err, tc.want)
			}
		})
	}
}

// FuzzSnapshot decodes anything, with a right checksum, too. What it accepts it
// writes again and reads again alike.
func FuzzSnapshot(f *testing.F) {
	for _, body := range oddFiles {
		past := versionOf(200, smallFile, epoch, epoch)
		past.Until = epoch
		data, err := snapshotOf(Key{Host: "a.test"}, versionOf(200, body, epoch, epoch), past).Encode()
		if err != nil {
			f.Fatal(err)
		}
		var envelope snapshotJSON
		if err := json.Unmarshal(data, &envelope); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(envelope.Policy))
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, policy []byte) {
		_, _ = DecodeSnapshot(policy)
		sum := sha256.Sum256(policy)
		data := fmt.Appendf(nil, `{"format":2,"sha256":"%x","policy":%s}`, sum, policy)
		first, err := DecodeSnapshot(data)
		if err != nil {
			return
		}
		again, err := first.Encode()
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		second, err := DecodeSnapshot(again)
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
		same(t, second, first)
		if third := encoded(t, second); !bytes.Equal(third, again) {
			t.Errorf("got %q, then %q", again, third)
		}
	})
}
