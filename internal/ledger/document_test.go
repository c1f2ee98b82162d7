package ledger

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

var docTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func someChanges() ChangeGuardState {
	visit := CrawlerVisit{Crawler: "Googlebot", GroupNames: []string{"googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/é?x", At: docTime.Add(-time.Hour)}
	return ChangeGuardState{
		Site: policy.Key{IsHTTPS: true, Host: "a.test"}, ComparedVersion: [32]byte{2}, FetchedAt: docTime.Add(-time.Minute), Visits: []CrawlerVisit{visit},
		Holds: []HeldVersion{{Version: [32]byte{1}, HeldSince: docTime.Add(-time.Minute), HeldUntil: docTime.Add(time.Hour), Visits: []CrawlerVisit{visit}}},
	}
}

func TestChangesOverARestart(t *testing.T) {
	d, err := someChanges().Encode(docTime)
	if err != nil {
		t.Fatal(err)
	}
	got, again, err := DecodeChangeGuardState(d.Data)
	if err != nil || again.Checksum != d.Checksum || !reflect.DeepEqual(got, someChanges()) {
		t.Errorf("%v: %+v", err, got)
	}
	// A target can have any bytes.
	raw := someChanges()
	raw.Visits[0].Target, raw.Holds[0].Visits[0].Target = "/\xff", "/\xff"
	if d, err = raw.Encode(docTime); err != nil {
		t.Fatal(err)
	}
	if got, _, err := DecodeChangeGuardState(d.Data); err != nil || !reflect.DeepEqual(got, raw) {
		t.Errorf("with a target that is not UTF-8: %v: %+v", err, got)
	}
	later, err := someChanges().Encode(docTime.Add(time.Hour))
	if err != nil || later.Checksum != again.Checksum {
		t.Error("the same content has another sum later")
	}
}

// TestChangesAreBounded leaves out what is not about a hold.
func TestChangesAreBounded(t *testing.T) {
	c := someChanges()
	c.Visits, c.Holds[0].Visits = nil, nil
	for i := range maxVisits {
		v := CrawlerVisit{Crawler: strings.Repeat("\x01", maxCrawlerNameBytes), Host: strings.Repeat("\x01", maxHostBytes), At: docTime,
			Target: RawText(fmt.Sprintf("/%0*d", maxVisitedTargetBytes-1, i))}
		c.Visits, c.Holds[0].Visits = append(c.Visits, v), append(c.Holds[0].Visits, v)
	}
	d, err := c.Encode(docTime)
	if err != nil || len(d.Data) > MaxDocumentBytes {
		t.Fatalf("%d bytes, %v", len(d.Data), err)
	}
	if got, _, err := DecodeChangeGuardState(d.Data); err != nil || len(got.Visits) != 0 || len(got.Holds) != 1 || len(got.Holds[0].Visits) != maxVisits {
		t.Errorf("%d visits, %d holds, %v", len(got.Visits), len(got.Holds), err)
	}
}

// TestHoldWithoutStorableVisit tests that a hold with only visits that are too long does not make
// the stored state invalid.
func TestHoldWithoutStorableVisit(t *testing.T) {
	c := someChanges()
	hold := c.Holds[0]
	hold.Visits = []CrawlerVisit{{Crawler: "Googlebot", Host: strings.Repeat("a", maxHostBytes+1), Target: "/", At: docTime}}
	c.Holds = append(c.Holds, hold)
	d, err := c.Encode(docTime)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := DecodeChangeGuardState(d.Data); err != nil || !reflect.DeepEqual(got, someChanges()) {
		t.Errorf("%v: %+v", err, got)
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
		"a newer one":   replaced(`"format":3`, `"format":4`),
		"no format":     replaced(`"format":3`, `"format":0`),
		"another time":  replaced(`"saved":"2026`, `"saved":"0001`),
		"changed":       replaced("Googlebot", "Googlebat"),
		"the wrong sum": replaced(`"sha256":"`, `"sha256":"0`),
		"too large":     string(good.Data) + strings.Repeat(" ", MaxDocumentBytes),
		"noise":         "\x00\xff",
	} {
		if _, _, err := DecodeChangeGuardState([]byte(data)); err == nil {
			t.Errorf("%s: no error", name)
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
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, d, err := DecodeChangeGuardState(data); err == nil {
			again, err := c.Encode(d.Saved)
			if err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			if same, _, err := DecodeChangeGuardState(again.Data); err != nil || len(same.Visits) != len(c.Visits) {
				t.Fatalf("%v: %+v became %+v", err, c, same)
			}
		}
	})
}
