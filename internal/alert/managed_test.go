package alert

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// texts are what robots_txt serves.
type texts []report.ManagedSite

func (t texts) Sites(time.Time) []report.ManagedSite { return t }
func (t texts) Site(string, time.Time) (report.ManagedDetail, bool) {
	return report.ManagedDetail{}, false
}

// A base that fails for a while is told, a file once for all hosts; a text that is
// refused at once.
func TestManaged(t *testing.T) {
	w := newWorld(t)
	w.texts = texts{{Host: "a.test", Version: "653da2ad012c", Base: report.ManagedBase{Kind: "upstream"}}}
	w.want("all is well", "")
	w.texts[0].Base.FailingSince, w.texts[0].Base.Failure = start, "the server answers status 502 Bad Gateway"
	w.pass(minUnreachableTime - time.Minute)
	w.want("it may pass", "")
	w.pass(2 * time.Minute)
	w.want("it does not", "open warning base_failing")
	if a := w.only(); a.Site != "a.test" || !strings.Contains(a.Detail, "502 Bad Gateway. The last good copy is used") || !a.Since.Equal(start) {
		t.Errorf("got %+v", a)
	}
	w.texts[0].Base.Failure, w.texts[0].Base.FailingSince = "", time.Time{}
	w.pass(time.Minute)
	w.want("it is over", "over warning base_failing")
	w.texts = nil
	w.leap(2 * endedRetention)

	file := report.ManagedBase{Kind: "file", File: "/srv/base.txt", FailingSince: w.time.Add(-time.Hour), Failure: "permission denied"}
	w.texts = texts{{Host: "a.test", Base: file}, {Host: "b.test", Base: file}}
	w.pass(minUnreachableTime + time.Minute)
	if a := w.only(); !strings.Contains(a.Detail, "/srv/base.txt: permission denied. No earlier good copy is stored") {
		t.Errorf("got %+v", a)
	}
	w.texts = texts{{Host: "c.test", Version: "653da2ad012c", Refused: &report.ManagedRefusal{Since: w.time, Reason: "gate: rule press: it allows bingbot to fetch /private/press"}}}
	w.pass(time.Second)
	w.want("a refusal", "open warning text_refused, over warning base_failing")
	if a := w.List().Alerts[0]; !strings.Contains(a.Detail, "Gate: rule press: it allows bingbot to fetch /private/press. The previous file stays in force, version 653da2ad012c.") {
		t.Errorf("got %+v", a)
	}
}
