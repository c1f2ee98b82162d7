package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// resealed changes the policy of an encoded snapshot and corrects the checksum.
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

// TestDecodeSnapshotRefuses rejects invalid data.
func TestDecodeSnapshotRefuses(t *testing.T) {
	past := versionOf(200, smallFile, epoch, epoch)
	past.ReplacedAt = epoch
	good := encoded(t, snapshotOf(Key{Host: "a.test"}, versionOf(200, "User-agent: *\nDisallow: /\n", epoch, epoch), past))
	current := func(name string, value any) func(map[string]any) {
		return func(p map[string]any) { p["current"].(map[string]any)[name] = value }
	}
	field := func(name string, value any) func(map[string]any) {
		return func(p map[string]any) { p[name] = value }
	}
	ended := func(until time.Time) func(map[string]any) {
		return func(p map[string]any) { p["past"].([]any)[0].(map[string]any)["until"] = until }
	}
	for name, tc := range map[string]struct {
		data   []byte
		change func(map[string]any)
		want   string
	}{
		"empty":            {data: []byte{}, want: "not valid JSON"},
		"not JSON":         {data: []byte("hello"), want: "not valid JSON"},
		"cut":              {data: good[:len(good)/2], want: "not valid JSON"},
		"more behind it":   {data: append(bytes.Clone(good), 'x'), want: "not valid JSON"},
		"too large":        {data: make([]byte, MaxSnapshotSize+1), want: "more than the maximum"},
		"a flipped bit":    {data: bytes.Replace(good, []byte("a.test"), []byte("b.test"), 1), want: "checksum"},
		"the future":       {data: bytes.Replace(good, []byte(`"format":2`), []byte(`"format":3`), 1), want: "newer version"},
		"the past":         {data: bytes.Replace(good, []byte(`"format":2`), []byte(`"format":1`), 1), want: "unknown format 1"},
		"a broken head":    {data: []byte(`{"format":2,x,"policy":{}}`), want: "not valid JSON"},
		"no format":        {data: []byte("{}"), want: "format 0"},
		"no key":           {change: field("host", ""), want: "either a host or a source"},
		"two keys":         {change: field("source", "x"), want: "either a host or a source"},
		"no texts":         {change: field("current", map[string]any{}), want: "not a SHA-256"},
		"another hash":     {change: current("sha256", strings.Repeat("00", 32)), want: "does not match its SHA-256"},
		"a long hash":      {change: current("sha256", strings.Repeat("00", 33)), want: "not a SHA-256"},
		"a status":         {change: current("status", 503), want: "does not determine the rules"},
		"no status":        {change: current("status", 0), want: "does not determine the rules"},
		"rules of a 404":   {change: current("status", 404), want: "must not have a text"},
		"a form":           {change: func(p map[string]any) { current("form", "new")(p); current("sha256", strings.Repeat("00", 32))(p) }, want: "unknown form"},
		"not cut":          {change: current("form", "cut"), want: "of the whole text"},
		"not UTF-16":       {change: func(p map[string]any) { current("form", "utf16")(p); current("sha256", strings.Repeat("00", 32))(p) }, want: "form of a stored robots.txt"},
		"a long key":       {change: field("host", strings.Repeat("x", 10_000)), want: "more than the maximum"},
		"a long validator": {change: current("etag", strings.Repeat("x", 2000)), want: "ETag"},
		"read backwards":   {change: current("first_read", epoch.Add(time.Hour)), want: "times"},
		"first long ago":   {change: current("first_read", time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)), want: "times"},
		"never ends":       {change: ended(time.Date(9995, 1, 1, 0, 0, 0, 0, time.UTC)), want: "end time of a version"},
		"ended too soon":   {change: ended(epoch.Add(-time.Hour)), want: "end time of a version"},
		"many redirects":   {change: field("via", []string{"/1", "/2", "/3", "/4", "/5", "/6"}), want: "redirect targets"},
		"no redirect":      {change: field("via", []string{""}), want: "redirect targets"},
		"no time":          {change: current("last_read", time.Time{}), want: "times"},
		"an end":           {change: current("until", epoch.Add(time.Hour)), want: "has an end time"},
		"due late":         {change: field("due", epoch.Add(25*time.Hour)), want: "of the next fetch"},
		"never saved":      {change: field("saved", time.Time{}), want: "time of the snapshot"},
		"no end":           {change: func(p map[string]any) { delete(p["past"].([]any)[0].(map[string]any), "until") }, want: "no end time"},
		"many versions": {change: func(p map[string]any) {
			for range MaxVersions {
				p["past"] = append(p["past"].([]any), p["past"].([]any)[0])
			}
		}, want: "previous versions"},
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

// TestDecodeSnapshotBounds accepts data exactly at the bounds.
func TestDecodeSnapshotBounds(t *testing.T) {
	good := encoded(t, snapshotOf(Key{Host: "a.test"}, versionOf(200, smallFile, epoch, epoch)))
	for name, data := range map[string][]byte{
		"size":      append(bytes.Clone(good), bytes.Repeat([]byte(" "), MaxSnapshotSize-len(good))...),
		"key":       resealed(t, good, func(p map[string]any) { p["host"] = strings.Repeat("x", maxStoredKeyLength) }),
		"redirects": resealed(t, good, func(p map[string]any) { p["via"] = []string{"/1", "/2", "/3", "/4", "/5"} }),
		"validators": resealed(t, good, func(p map[string]any) {
			current := p["current"].(map[string]any)
			current["etag"], current["last_modified"] = strings.Repeat("x", maxValidatorLength), strings.Repeat("x", maxValidatorLength)
		}),
	} {
		if _, err := DecodeSnapshot(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for year, want := range map[int]bool{1989: false, 1990: true, 9989: true, 9990: false} {
		if got := isPlausible(time.Date(year, 7, 1, 0, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("a time in the year %d is accepted: %t", year, got)
		}
	}
}

// TestSnapshotRoom stores previous versions up to the exact bound in bytes.
func TestSnapshotRoom(t *testing.T) {
	const half = 344_832 // the size of each of two texts that just fit
	text := func(n int) string { return "#" + strings.Repeat("x", n-2) + "\n" }
	for n, want := range map[int]int{half: 1, half + 1: 0} {
		past := versionOf(200, text(n), epoch, epoch)
		past.ReplacedAt = epoch
		s, err := DecodeSnapshot(encoded(t, snapshotOf(Key{Host: "a.test"}, versionOf(200, text(half-3)+"#\n\n", epoch, epoch), past)))
		if err != nil || len(s.State.Previous) != want {
			t.Errorf("a previous version of %d bytes: %d versions stored, want %d (%v)", n, len(s.State.Previous), want, err)
		}
	}
}

// TestSnapshotOfAnotherHash encodes a text that is not the whole body, so its hash differs.
func TestSnapshotOfAnotherHash(t *testing.T) {
	v := versionOf(200, "User-agent: *\nDisallow:\n", epoch, epoch)
	v.Hash[0]++
	if s, err := DecodeSnapshot(encoded(t, snapshotOf(Key{Host: "a.test"}, v))); err != nil || s.State.Current.Robots.Text() != v.Robots.Text() {
		t.Errorf("%+v, %v", s, err)
	}
}

// FuzzSnapshot decodes any data, also with a correct checksum. Accepted data survive encoding and
// decoding unchanged.
func FuzzSnapshot(f *testing.F) {
	for _, body := range oddFiles {
		past := versionOf(200, smallFile, epoch, epoch)
		past.ReplacedAt = epoch
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
			t.Fatalf("the decoded snapshot cannot be encoded: %v", err)
		}
		second, err := DecodeSnapshot(again)
		if err != nil {
			t.Fatalf("the encoded snapshot cannot be decoded: %v", err)
		}
		same(t, second, first)
		if third := encoded(t, second); !bytes.Equal(third, again) {
			t.Errorf("got %q, then %q", again, third)
		}
	})
}

// TestSnapshotIsJSON compares the encoding with json.Marshal, whose output is stored elsewhere.
func TestSnapshotIsJSON(t *testing.T) {
	data, err := snapshotOf(Key{Host: "a<b.test"}, versionOf(200, "User-agent: *\nDisallow: /<\u2028\n", time.Unix(1e9, 5), time.Unix(2e9, 5))).Encode()
	var envelope snapshotJSON
	if err == nil {
		err = json.Unmarshal(data, &envelope)
	}
	if want, _ := json.Marshal(envelope); err != nil || !bytes.Equal(data, want) {
		t.Errorf("got %s, %v; want %s", data, err, want)
	}
}
