package ledger

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"
)

// packed returns a text as it is stored.
func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	sum := sha256.Sum256(b.Bytes())
	return slices.Concat([]byte(storedHeader), sum[:], b.Bytes())
}

func TestDecodeStoredRefuses(t *testing.T) {
	good := packed(`{"site":{"name":"example.com"}}`)
	if _, err := DecodeStored(good); err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(good)
	damaged[len(damaged)-1] ^= 1
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "it is no ledger of this version"},
		{"another version", []byte(strings.Replace(string(good), "ledger 1", "ledger 2", 1)), "it is no ledger of this version"},
		{"cut", good[:len(good)-1], "the checksum is another"},
		{"one bit", damaged, "the checksum is another"},
		{"too large", make([]byte, MaxStored+1), "more than a site can have"},
		{"no site", packed(`{}`), "it names no site"},
		{"no name", packed(`{"site":{}}`), "it names no site"},
		{"a long name", packed(`{"site":{"name":"` + strings.Repeat("a", 300) + `"}}`), "it names no site"},
		{"no JSON", packed("[["), "it is damaged"},
		{"a bomb", packed(strings.Repeat(" ", maxDecoded+1)), "larger than a site can be"},
		{"many rows", packed(`{"site":{"name":"a","rows":[` + strings.Repeat("{},", maxDecodedObjects) + `{}]}}`), "larger than a site can be"},
		{"many steps", packed(`{"site":{"name":"a","rows":[{"series":[[` + strings.Repeat("[],", maxDecodedArrays) + `[]]]}]}}`), "larger than a site can be"},
		{"unknown verdict", packed(`{"site":{"name":"a","rows":[{"rules":{"items":[{"key":{"verdict":"maybe"}}]}}]}}`), "is none of"},
		{"no hash", packed(`{"site":{"name":"a","files":[{"version":"abc"}]}}`), "is no SHA-256"},
	} {
		if _, err := DecodeStored(tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}

// FuzzStored restores whatever there is, within bounds.
func FuzzStored(f *testing.F) {
	c := newClock()
	l := New(c.now)
	l.Record(gptbot(noon, "/a"))
	stored, err := Stored{Since: noon, Saved: noon, Site: l.Snapshot().Sites[0]}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(stored[len(storedHeader)+sha256.Size:]))
	if err != nil {
		f.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(z); err != nil {
		f.Fatal(err)
	}
	f.Add(text.String())
	f.Add(`{"site":{"name":"a","rows":[null,{"token":"_other","class":"search","identity":"spoofed","series":[[[4294967295,1],[1,2],[0,3]]],"read":{},
		"paths":{"items":[{"count":1,"error":7},{"count":18446744073709551615}],"floor":18446744073709551615},"networks":{"items":[{"key":"1.2.3.4/99"}]}}]}}`)
	f.Add(`{"site":{"name":"a","files":[{"lines":{"7":1}},{},{}],"rows":[{"token":"x","class":"search"},{"token":"x","class":"search","samples":[{},{}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := DecodeStored(packed(text))
		if err != nil {
			return
		}
		l := New(c.now)
		l.Restore(s.Site, s.Since)
		for range 2 * bufferRequests {
			l.Record(gptbot(noon, "/b"))
		}
		snapshot := Merge(l.Snapshot(), l.Snapshot())
		for _, site := range snapshot.Sites {
			if site.own() > maxRows || len(site.Files) > maxFiles {
				t.Fatalf("%d rows, %d files", site.own(), len(site.Files))
			}
			for _, w := range site.Rows {
				if len(w.Paths.Items) > maxPaths || len(w.Samples) > maxSamples || len(w.Series[Hours]) > Hours.Steps() {
					t.Fatalf("%d paths, %d samples", len(w.Paths.Items), len(w.Samples))
				}
			}
			data, err := Stored{Site: site, Saved: time.Now()}.Encode()
			if err != nil && !strings.Contains(err.Error(), "year outside") {
				t.Fatal(err)
			}
			if err == nil {
				if _, err := DecodeStored(data); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
