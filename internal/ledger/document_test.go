package ledger

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

var docTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func bing(host string) RobotsFetcher {
	return RobotsFetcher{Site: policy.Key{Secure: true, Host: host}, Crawler: "bingbot", Network: netip.MustParsePrefix("192.0.2.0/24")}
}

// moved returns a Readers with what another has encoded.
func moved(t *testing.T, from *RobotsFetches, now time.Time, elsewhere bool) *RobotsFetches {
	t.Helper()
	to := NewRobotsFetches(100, 100)
	for part := range RobotsFetchParts {
		d, _, err := from.EncodePart(part, now)
		if err != nil {
			t.Fatal(err)
		}
		all, again, err := DecodeRobotsFetches(d.Data)
		if err != nil || again.Sum != d.Sum || !again.Saved.Equal(now) {
			t.Fatalf("%v, %+v", err, again)
		}
		to.Merge(all, elsewhere, now)
	}
	return to
}

func TestReadersOverARestart(t *testing.T) {
	r := NewRobotsFetches(100, 100)
	verified, unknownHost, unprintable := bing("a.test"), bing("invented.test"), bing("a.test")
	verified.Network, unknownHost.UnknownHost, unprintable.Crawler = netip.Prefix{}, true, "\xff"
	readings := map[RobotsFetcher]RobotsFetch{
		bing("a.test"): {docTime.Add(-time.Hour).UnixMilli(), 200, [32]byte{1}},
		verified:       {docTime.UnixMilli(), 304, [32]byte{}},
		bing("b.test"): {docTime.Add(-fetchLifetime).UnixMilli(), 200, [32]byte{1}},
		bing("c.test"): {docTime.Add(time.Hour).UnixMilli(), 200, [32]byte{1}},
		unknownHost:    {docTime.UnixMilli(), 200, [32]byte{1}},
		unprintable:    {docTime.UnixMilli(), 200, [32]byte{1}},
	}
	for who, what := range readings {
		r.Record(who, what)
	}
	again := moved(t, r, docTime, false)
	for who, want := range map[RobotsFetcher]bool{bing("a.test"): true, verified: true, bing("b.test"): false, bing("c.test"): false, unknownHost: false, unprintable: false} {
		got, ok := again.Last(who)
		if ok != want || ok && got != readings[who] {
			t.Errorf("%+v: %+v, %t", who, got, ok)
		}
	}
	if d, empty, err := moved(t, r, docTime, true).EncodePart(partIndex(bing("a.test")), docTime); err != nil || !empty || len(d.Data) == 0 {
		t.Errorf("what others have seen is encoded: %s, %v", d.Data, err)
	}
}

func TestReadersMerge(t *testing.T) {
	r := NewRobotsFetches(1, 1)
	first := bing("a.test")
	merge := func(who RobotsFetcher, at time.Time, elsewhere bool) {
		r.Merge([]CrawlerFetch{{who, RobotsFetch{At: at.UnixMilli(), Status: 200}}}, elsewhere, docTime)
	}
	at := func() time.Time {
		last, _ := r.Last(first)
		return Time(last.At)
	}
	merge(first, docTime.Add(-2*time.Hour), true)
	merge(first, docTime.Add(-time.Hour), true)
	merge(first, docTime.Add(-3*time.Hour), true)
	if !at().Equal(docTime.Add(-time.Hour)) {
		t.Errorf("the last reading is %v", at())
	}
	for i := range 100 {
		merge(bing(fmt.Sprint(i)), docTime, true)
	}
	if at().IsZero() {
		t.Error("what others have seen has pushed out what was known")
	}
	noted := r.PartRevision(partIndex(first))
	r.Record(first, RobotsFetch{At: docTime.UnixMilli(), Status: 200})
	if r.PartRevision(partIndex(first)) == noted {
		t.Error("a reading is no news")
	}
	merge(first, docTime, true)
	if _, empty, _ := r.EncodePart(partIndex(first), docTime); empty {
		t.Error("what was seen here is taken for another's")
	}
}

// TestReadersAreBounded encodes the latest readings where there are too many.
func TestReadersAreBounded(t *testing.T) {
	r := NewRobotsFetches(3*maxStoredFetches, 1)
	who := bing(strings.Repeat("a", 255))
	for i := range 3 * maxStoredFetches {
		who.Network = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)
		r.Record(who, RobotsFetch{At: docTime.Add(time.Duration(i-1e6) * time.Second).UnixMilli(), Status: 200, Version: [32]byte{1}})
	}
	d, _, err := r.EncodePart(partIndex(who), docTime)
	if err != nil || len(d.Data) > MaxDocument {
		t.Fatalf("%d bytes, %v", len(d.Data), err)
	}
	all, _, err := DecodeRobotsFetches(d.Data)
	if err != nil || len(all) < 1000 || all[0].Network != who.Network {
		t.Errorf("%d readings, %v", len(all), err)
	}
	t.Logf("%d readings in %d bytes", len(all), len(d.Data))
}

func someChanges() Changes {
	visit := Visit{Crawler: "Googlebot", Chain: []string{"googlebot"}, Wildcard: true, Host: "a.test", Target: "/é?x", At: docTime.Add(-time.Hour)}
	return Changes{
		Site: policy.Key{Secure: true, Host: "a.test"}, Hash: [32]byte{2}, Read: docTime.Add(-time.Minute), Visits: []Visit{visit},
		Holds: []Hold{{Version: [32]byte{1}, Since: docTime.Add(-time.Minute), Until: docTime.Add(time.Hour), Visits: []Visit{visit}}},
	}
}

func TestChangesOverARestart(t *testing.T) {
	d, err := someChanges().Encode(docTime)
	if err != nil {
		t.Fatal(err)
	}
	got, again, err := DecodeChanges(d.Data)
	if err != nil || again.Sum != d.Sum || !reflect.DeepEqual(got, someChanges()) {
		t.Errorf("%v: %+v", err, got)
	}
	// A target can have any bytes.
	raw := someChanges()
	raw.Visits[0].Target, raw.Holds[0].Visits[0].Target = "/\xff", "/\xff"
	if d, err = raw.Encode(docTime); err != nil {
		t.Fatal(err)
	}
	if got, _, err := DecodeChanges(d.Data); err != nil || !reflect.DeepEqual(got, raw) {
		t.Errorf("with a target that is not UTF-8: %v: %+v", err, got)
	}
	later, err := someChanges().Encode(docTime.Add(time.Hour))
	if err != nil || later.Sum != again.Sum {
		t.Error("the same content has another sum later")
	}
}

// TestChangesAreBounded leaves out what is not about a hold.
func TestChangesAreBounded(t *testing.T) {
	c := someChanges()
	c.Visits, c.Holds[0].Visits = nil, nil
	for i := range maxVisits {
		v := Visit{Crawler: strings.Repeat("\x01", maxName), Host: strings.Repeat("\x01", maxHost), At: docTime,
			Target: RawText(fmt.Sprintf("/%0*d", maxVisitedTarget-1, i))}
		c.Visits, c.Holds[0].Visits = append(c.Visits, v), append(c.Holds[0].Visits, v)
	}
	d, err := c.Encode(docTime)
	if err != nil || len(d.Data) > MaxDocument {
		t.Fatalf("%d bytes, %v", len(d.Data), err)
	}
	if got, _, err := DecodeChanges(d.Data); err != nil || len(got.Visits) != 0 || len(got.Holds) != 1 || len(got.Holds[0].Visits) != maxVisits {
		t.Errorf("%d visits, %d holds, %v", len(got.Visits), len(got.Holds), err)
	}
}

// TestDamagedDocuments refuses what was not written like this.
func TestDamagedDocuments(t *testing.T) {
	good, err := someChanges().Encode(docTime)
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, new string) string {
		s := strings.Replace(string(good.Data), old, new, 1)
		if s == string(good.Data) {
			t.Fatalf("no %q in %s", old, s)
		}
		return s
	}
	for name, data := range map[string]string{
		"empty":         "",
		"cut":           string(good.Data[:len(good.Data)/2]),
		"a newer one":   replaced(`"format":2`, `"format":3`),
		"no format":     replaced(`"format":2`, `"format":0`),
		"another kind":  replaced(`"kind":"changes"`, `"kind":"visitors"`),
		"another time":  replaced(`"saved":"2026`, `"saved":"0001`),
		"changed":       replaced("Googlebot", "Googlebat"),
		"the wrong sum": replaced(`"sha256":"`, `"sha256":"0`),
		"too large":     string(good.Data) + strings.Repeat(" ", MaxDocument),
		"noise":         "\x00\xff",
	} {
		if _, _, err := DecodeChanges([]byte(data)); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, _, err := DecodeRobotsFetches([]byte(data)); err == nil {
			t.Errorf("%s, as readers: no error", name)
		}
	}
}

// FuzzDocuments takes any bytes, and content of any kind behind a right
// checksum.
func FuzzDocuments(f *testing.F) {
	d, err := someChanges().Encode(docTime)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(d.Data)
	r := NewRobotsFetches(10, 10)
	r.Record(bing("a.test"), RobotsFetch{docTime.UnixMilli(), 200, [32]byte{1}})
	d, _, err = r.EncodePart(partIndex(bing("a.test")), docTime)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(d.Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, d, err := DecodeChanges(data); err == nil {
			again, err := c.Encode(d.Saved)
			if err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			if same, _, err := DecodeChanges(again.Data); err != nil || len(same.Visits) != len(c.Visits) {
				t.Fatalf("%v: %+v became %+v", err, c, same)
			}
		}
		if all, d, err := DecodeRobotsFetches(data); err == nil {
			NewRobotsFetches(10, 10).Merge(all, false, d.Saved)
		}
	})
}
