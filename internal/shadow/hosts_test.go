package shadow

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestHostsOfASite counts those of a wildcard together, whatever text each has.
func TestHostsOfASite(t *testing.T) {
	trials := trying(t)
	for i := range 3 {
		q := by("Googlebot")
		q.Site = policy.Key{Site: "*.example.com", Host: fmt.Sprintf("%d.example.com", i)}
		q.InForce = read(fmt.Sprint("# ", i), i)
		trials.RecordRequest(q)
	}
	if one := only(t, trials); one.Rows[0].CountByDifference[Same] != 3 || one.InForce != ([32]byte{}) || one.Site.Host != "" {
		t.Errorf("the trial is %+v", one)
	}
}

// TestHostsWithTextsOfTheirOwn has a change made into another text at each host of a wildcard:
// the one that was read last is tried, and no other host ends its trial.
func TestHostsWithTextsOfTheirOwn(t *testing.T) {
	now := start
	trials := New(func() time.Time { return now })
	trials.KeepResults("next.txt")
	at := func(host string, minutes int) *Request {
		q := by("Googlebot")
		q.Site = policy.Key{Site: "*.example.com", Host: host}
		q.OnTrial = read("# "+host, minutes)
		return q
	}
	older, newer := at("a.example.com", 0), at("b.example.com", 1)
	for range 4 {
		trials.RecordRequest(newer)
		now = now.Add(time.Minute)
		trials.RecordRequest(older)
	}
	if one := only(t, trials); !one.Since.Equal(start) || one.OnTrial != newer.OnTrial.Hash || one.Rows[0].CountByDifference[Same] != 4 {
		t.Errorf("the trial is %+v", one)
	}
}
