package ledger

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
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
	if _, err := DecodeStoredSite(good); err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(good)
	damaged[len(damaged)-1] ^= 1
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "unknown format"},
		{"another version", []byte(strings.Replace(string(good), "ledger 1", "ledger 2", 1)), "unknown format"},
		{"cut", good[:len(good)-1], "checksum mismatch"},
		{"one bit", damaged, "checksum mismatch"},
		{"too large", make([]byte, MaxStoredSiteBytes+1), "more than the maximum"},
		{"no site", packed(`{}`), "the site has no name"},
		{"no name", packed(`{"site":{}}`), "the site has no name"},
		{"a long name", packed(`{"site":{"name":"` + strings.Repeat("a", 300) + `"}}`), "the site has no name"},
		{"no JSON", packed("[["), "damaged"},
		{"a bomb", packed(strings.Repeat(" ", maxDecodedBytes+1)), "too large"},
		{"many rows", packed(`{"site":{"name":"a","rows":[` + strings.Repeat("{},", maxDecodedObjects) + `{}]}}`), "too large"},
		{"many rows that are not there", packed(`{"site":{"name":"a","rows":[` + strings.Repeat("null,", maxDecodedObjects) + `null]}}`), "too large"},
		{"many samples that are not there", packed(`{"site":{"name":"a","rows":[{"samples":[` + strings.Repeat("null,", maxDecodedObjects) + `null]}]}}`), "too large"},
		{"many steps", packed(`{"site":{"name":"a","rows":[{"series":[[` + strings.Repeat("[],", maxDecodedArrays) + `[]]]}]}}`), "too large"},
		{"unknown verdict", packed(`{"site":{"name":"a","rows":[{"rules":{"items":[{"key":{"verdict":"maybe"}}]}}]}}`), "is none of"},
		{"no hash", packed(`{"site":{"name":"a","files":[{"version":"abc"}]}}`), "is not a SHA-256"},
	} {
		if _, err := DecodeStoredSite(tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestDecodeStoredBounds decodes a site that no ledger can have stored.
func TestDecodeStoredBounds(t *testing.T) {
	long := strings.Repeat("x", 1000)
	names := func(items ...spacesaving.Item[string]) spacesaving.Sketch[string] {
		for i := range 100 {
			items = append(items, spacesaving.Item[string]{Key: fmt.Sprint(i, long), Count: 1, Error: 2})
		}
		return spacesaving.Sketch[string]{Items: append(items, spacesaving.Item[string]{Key: long, Count: 1}, spacesaving.Item[string]{Key: long, Count: 2})}
	}
	rule := Rule{Version: Version{1}, Line: 1, Text: long, Group: long}
	row := func(token string) *Row {
		w := &Row{Token: token, Class: uaident.Search.String(), LastSeen: noon.UnixMilli()}
		w.Names, w.NamesOfViolators, w.UserAgents = names(), names(), names(spacesaving.Item[string]{Key: "a"}, spacesaving.Item[string]{Key: "a"})
		for range 100 {
			key := RuleKey{Rule: rule, Verdict: judge.Disallowed}
			w.Rules.Items = append(w.Rules.Items, spacesaving.Item[RuleKey]{Key: key, Count: 1, Error: 2})
			w.Paths.Items = append(w.Paths.Items, spacesaving.Item[PathKey]{Key: PathKey{Host: long, Name: long, Path: long, RuleKey: key}, Count: 1, Error: 2})
			w.Networks.Items = append(w.Networks.Items, spacesaving.Item[netip.Prefix]{Key: netip.MustParsePrefix("192.0.2.0/24"), Count: 1, Error: 2})
			w.Samples = append(w.Samples, Sample{Host: long, Name: long, Method: long, Path: long, UserAgent: long, Rule: rule, FetchedVersion: FetchedVersion(long)})
		}
		return w
	}
	damaged := &Site{
		Name: "example.com", Mode: long, Hosts: names(), HostViolations: names(), HostBlocks: names(),
		Rows:        []*Row{row(Other), row("GPTBot"), row("GPTBot"), row(long), nil},
		VersionHits: make([]LineHits, 1000),
		Visits:      map[string]*HumanVisits{long: {}},
		Changes:     []SiteChange{{1, SiteChangeKind(long), "a", "b"}, {2, ModeChange, "monitor", long}},
	}
	for i := range damaged.VersionHits {
		damaged.VersionHits[i].Version = Version{byte(i), byte(i >> 8)}
	}
	data, err := StoredSite{Since: noon, Saved: noon, Site: damaged}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeStoredSite(data)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(stored.Site.Rows); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
	if left := asJSON(t, stored.Site); len(left) > 150_000 || strings.Contains(left, strings.Repeat("x", maxSiteNameBytes+1)) {
		t.Errorf("%d bytes are left:\n%.1000s", len(left), left)
	}
	checkStored(t, stored.Site)
}

// checkStored checks that a site decoded from storage is within the bounds of a ledger.
func checkStored(t *testing.T, s *Site) {
	t.Helper()
	checkSketch(t, s.Hosts, maxHosts, maxSiteNameBytes)
	checkSketch(t, s.HostViolations, maxHosts, maxSiteNameBytes)
	checkSketch(t, s.HostBlocks, maxHosts, maxSiteNameBytes)
	if s.unsharedRowCount() > maxRows || len(s.VersionHits) > maxVersions || len(s.Changes) > maxSiteChanges || s.Mode != "" && !isMode(s.Mode) {
		t.Errorf("%d rows, %d files, %d marks, mode %q", s.unsharedRowCount(), len(s.VersionHits), len(s.Changes), s.Mode)
	}
	for _, m := range s.Changes {
		if !m.isValid() {
			t.Errorf("mark %+v", m)
		}
	}
	for _, w := range s.Rows {
		checkSketch(t, w.Names, maxNames, maxTokenBytes)
		checkSketch(t, w.NamesOfViolators, maxNames, maxTokenBytes)
		checkSketch(t, w.UserAgents, maxUserAgents, maxUserAgentBytes)
		checkSketch(t, w.Rules, maxRules, maxRuleBytes+maxTokenBytes+200)
		checkSketch(t, w.Paths, maxPaths, maxSiteNameBytes+maxTargetBytes+maxRuleBytes+2*maxTokenBytes+200)
		checkSketch(t, w.Networks, maxNetworks, 64)
		if len(w.Token) > maxTokenBytes || len(w.Samples) > maxSamples || len(w.Series[Hours]) > Hours.NumSteps() {
			t.Errorf("token %q, %d samples, %d hours", w.Token, len(w.Samples), len(w.Series[Hours]))
		}
		for _, sample := range w.Samples {
			if len(sample.Host) > maxSiteNameBytes || len(sample.Name) > maxTokenBytes || len(sample.Method) > maxMethodBytes || len(sample.Path) > maxTargetBytes ||
				len(sample.UserAgent) > maxUserAgentBytes || len(sample.FetchedVersion) > maxMethodBytes || len(sample.Rule.Text) > maxRuleBytes || len(sample.Rule.Group) > maxTokenBytes {
				t.Errorf("sample %+v", sample)
			}
		}
	}
}

// checkSketch checks the number of items, the lengths of the keys as text, duplicates and errors.
func checkSketch[K comparable](t *testing.T, s spacesaving.Sketch[K], most, keyBytes int) {
	t.Helper()
	if len(s.Items) > most {
		t.Errorf("%d items, want at most %d", len(s.Items), most)
	}
	known := make(map[K]bool)
	for _, item := range s.Items {
		if key := fmt.Sprint(item.Key); len(key) > keyBytes || known[item.Key] || item.Error > item.Count {
			t.Errorf("count %d, error %d, duplicate %t, %d bytes: %.80s", item.Count, item.Error, known[item.Key], len(key), key)
		}
		known[item.Key] = true
	}
}

// TestStoredCounts checks the order of stored counters. Another version can have stored fewer or
// more of them.
func TestStoredCounts(t *testing.T) {
	all := CounterValues{CountAllowed: 1, CountDisallowed: 2, CountStale: 3, CountExempt: 4, CountUnknown: 5, CountBlocked: 6, CountWouldBlock: 7,
		CountAgainstPreference: 8, CountAgainstAfterFetch: 9, CountSlowed: 10, CountViolationBlocked: 11, CountViolationOnlyLogged: 12}
	for cell, want := range map[string]CounterValues{
		"1,2,3,4,5,6,7,8,9,10,11,12":    all,
		"1,2":                           {CountAllowed: 1, CountDisallowed: 2},
		"1,2,3,4,5,6,7,8,9,10,11,12,13": all,
	} {
		stored, err := DecodeStoredSite(packed(`{"site":{"name":"a","rows":[{"token":"GPTBot","class":"ai_training","identity":"claimed","series":[[[29000000,` + cell + `]],[],[]]}]}}`))
		if err != nil {
			t.Errorf("%s: %v", cell, err)
		} else if got := stored.Site.Rows[0].Series[Minutes][0].CounterValues(); got != want {
			t.Errorf("%s: %v, want %v", cell, got, want)
		}
	}
}

// FuzzStored restores whatever there is, within bounds.
func FuzzStored(f *testing.F) {
	c := newClock()
	l := New(c.now)
	l.Record(gptbot(noon, "/a"))
	stored, err := StoredSite{Since: noon, Saved: noon, Site: l.Snapshot().Sites[0]}.Encode()
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
	f.Add(`{"since":"0000-01-01T00:00:00+23:59","site":{"name":"a","rows":[{"token":"x","class":"search"}]}}`)
	f.Add(`{"site":{"name":"a","files":[{"lines":{"7":1}},{},{}],"rows":[{"token":"x","class":"search"},{"token":"x","class":"search","samples":[{},{}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := DecodeStoredSite(packed(text))
		if err != nil {
			return
		}
		checkStored(t, s.Site)
		l := New(c.now)
		l.RestoreSite(s.Site, s.Since)
		for range 2 * bufferRequests {
			l.Record(gptbot(noon, "/b"))
		}
		snapshot := Merge(l.Snapshot(), l.Snapshot())
		for _, site := range snapshot.Sites {
			if site.unsharedRowCount() > maxRows || len(site.VersionHits) > maxVersions {
				t.Fatalf("%d rows, %d files", site.unsharedRowCount(), len(site.VersionHits))
			}
			for _, w := range site.Rows {
				if len(w.Paths.Items) > maxPaths || len(w.Samples) > maxSamples || len(w.Series[Hours]) > Hours.NumSteps() {
					t.Fatalf("%d paths, %d samples", len(w.Paths.Items), len(w.Samples))
				}
			}
			data, err := StoredSite{Since: FromUnixMilli(snapshot.Since), Site: site, Saved: time.Now()}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeStoredSite(data); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestStored is known again after a restart, and adds up.
func TestStored(t *testing.T) {
	c := newClock()
	l := New(c.now)
	for i := range 200 {
		q := gptbot(c.now().Add(-time.Duration(i)*time.Hour), fmt.Sprint("/", i%40, "<é>"))
		q.Identity = verify.States()[i%4]
		record(l, q)
	}
	l.RecordRobotsFetch(gptbot(c.now(), ""), RobotsFetch{At: c.now().UnixMilli(), Status: 200, Version: Version{1}})
	before := l.Snapshot()
	data, err := StoredSite{Since: FromUnixMilli(before.Since), Saved: c.now(), Site: before.Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeStoredSite(data)
	if err != nil {
		t.Fatal(err)
	}
	c.advance(time.Hour)
	again := New(c.now)
	record(again, gptbot(c.now(), "/new"))
	again.RestoreSite(stored.Site, stored.Since)
	got := again.Snapshot()
	if sum := got.total(); sum.TotalRequests() != 201 || got.Since != before.Since {
		t.Errorf("%d requests since %s, want 201", sum.TotalRequests(), FromUnixMilli(got.Since))
	}
	if w := got.row(t, "example.com", "GPTBot"); w.RobotsFetch == nil || w.RobotsFetch.Version != (Version{1}) {
		t.Errorf("the reading is %+v", w.RobotsFetch)
	}
	fresh := New(c.now)
	fresh.RestoreSite(stored.Site, stored.Since)
	c.advance(-time.Hour)
	if a, b := asJSON(t, before.Sites), asJSON(t, fresh.Snapshot().Sites); a != b {
		t.Errorf("stored:\n%s\nrestored:\n%s", a, b)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRestoreBounds keeps within the bounds whatever was stored.
func TestRestoreBounds(t *testing.T) {
	c := newClock()
	full := New(c.now)
	for k := range maxRows {
		q := gptbot(c.now(), "/")
		q.Token = fmt.Sprint("bot", k)
		record(full, q)
	}
	site := full.Snapshot().Sites[0]
	l := New(c.now)
	const sites = 2 * maxAllRows / maxRows
	for i := range sites {
		copied := site.clone()
		copied.Name = fmt.Sprint("site", i)
		l.RestoreSite(copied, noon)
	}
	s := l.Snapshot()
	rows := 0
	for _, site := range s.Sites {
		rows += len(site.Rows)
	}
	if got := s.total(); rows > maxAllRows+sites || got.TotalRequests() != sites*maxRows {
		t.Errorf("%d rows, %d requests; want at most %d and %d", rows, got.TotalRequests(), maxAllRows+sites, sites*maxRows)
	}
}
