package responseaudit

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// of returns answers of a kind: numbers by status.
func of(kind RequestKind, numbers map[StatusClass]uint64) (c ResponseCounts) {
	for status, n := range numbers {
		c.ByKindAndStatus[kind][status] = n
	}
	return c
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		name   string
		counts ResponseCounts
		search bool
		want   FindingKind // "" for none
		most   StatusClass
	}{
		{"all is well", of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 1000, StatusNotFound: 400, StatusRedirect: 80}), true, "", 0},
		{"three requests", of(KindAllowed, map[StatusClass]uint64{StatusRefused: 3}), true, "", 0},
		{"one of twenty fails", of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 19, StatusServerError: 1}), true, "", 0},
		{"a third is refused", of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 66, StatusRefused: 30, StatusTooManyRequests: 4}), false, PagesRefused, StatusRefused},
		{"a tenth is too many", of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 90, StatusTooManyRequests: 10}), false, PagesRefused, StatusTooManyRequests},
		{"less than a tenth", of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 91, StatusRefused: 9}), false, "", 0},
		{"one in twenty fails", of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 95, StatusServerError: 5}), true, PagesFail, StatusServerError},
		{"and it is no search engine", of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 95, StatusServerError: 5}), false, "", 0},
		{"refused what the file forbids", of(KindForbidden, map[StatusClass]uint64{StatusRefused: 100}), true, "", 0},
		{"refused where no rule decided", of(KindNoRule, map[StatusClass]uint64{StatusRefused: 100}), true, "", 0},
		{"the file fails three times", of(KindRobotsTxt, map[StatusClass]uint64{StatusServerError: 3}), true, "", 0},
		{"the file fails three times of five", of(KindRobotsTxt, map[StatusClass]uint64{StatusSuccess: 2, StatusServerError: 3}), true, "", 0},
		{"the file fails", of(KindRobotsTxt, map[StatusClass]uint64{StatusSuccess: 2, StatusServerError: 4}), false, RobotsFails, StatusServerError},
		{"the file is refused", of(KindRobotsTxt, map[StatusClass]uint64{StatusRefused: 5}), false, RobotsFails, StatusRefused},
		{"there is no file", of(KindRobotsTxt, map[StatusClass]uint64{StatusNotFound: 50}), true, "", 0},
	} {
		found := FindInTotalCounts(tc.counts, tc.search)
		switch {
		case tc.want == "" && len(found) > 0:
			t.Errorf("%s: found %+v", tc.name, found)
		case tc.want != "" && (len(found) != 1 || found[0].Kind != tc.want || found[0].MostFrequent != tc.most):
			t.Errorf("%s: found %+v, want %s mostly by %s", tc.name, found, tc.want, tc.most)
		}
	}
}

// TestFind follows a site that begins to refuse a crawler at noon and stops at three.
func TestFind(t *testing.T) {
	good, bad := of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 50}), of(KindAllowed, map[StatusClass]uint64{StatusSuccess: 30, StatusRefused: 20})
	day := []HourCounts{{noon.Add(-2 * time.Hour), good}, {noon.Add(-time.Hour), good}, {noon, bad}, {noon.Add(2 * time.Hour), bad},
		{noon.Add(3 * time.Hour), good}, {noon.Add(4 * time.Hour), good}}
	for _, tc := range []struct {
		steps int
		at    time.Duration // after noon
		found bool
	}{
		{2, -time.Minute, false},
		{3, 10 * time.Minute, true},
		{4, 2*time.Hour + time.Minute, true},
		{5, 3*time.Hour + time.Minute, true}, // half of what is looked at was before three
		{6, 4*time.Hour + time.Minute, false},
		{4, 20 * time.Hour, true}, // it stays away, and nobody knows better
		{4, 27 * time.Hour, false},
	} {
		found := FindCurrent(day[:tc.steps], false, noon.Add(tc.at))
		if len(found) == 1 != tc.found {
			t.Errorf("%v after noon: %+v", tc.at, found)
		}
		if tc.found && len(found) == 1 && !found[0].Since.Equal(noon) {
			t.Errorf("%v after noon: since %v", tc.at, found[0].Since)
		}
	}
	if found := FindInTotalCounts(day[2].ResponseCounts, false); found[0].Description() != "40 % of the allowed pages (20 of 50) were refused, mostly with status 401, 402, 403, 407 or 451" {
		t.Errorf("in words: %s", found[0].Description())
	}
	// A slow crawler is seen over a day.
	var slow []HourCounts
	for hour := range 24 {
		slow = append(slow, HourCounts{noon.Add(time.Duration(hour) * time.Hour), of(KindAllowed, map[StatusClass]uint64{StatusRefused: 1})})
	}
	if found := FindCurrent(slow, false, noon.Add(23*time.Hour)); len(found) != 1 || found[0].Total != 24 || !found[0].Since.Equal(noon) || found[0].Percent() != 100 {
		t.Errorf("a slow crawler: %+v", found)
	}
}

func TestStatusOf(t *testing.T) {
	for code, want := range map[int]StatusClass{101: StatusSuccess, 200: StatusSuccess, 206: StatusSuccess, 304: StatusRedirect, 401: StatusRefused, 402: StatusRefused, 403: StatusRefused,
		407: StatusRefused, 404: StatusNotFound, 410: StatusNotFound, 429: StatusTooManyRequests, 400: StatusClientError, 451: StatusRefused, 418: StatusClientError, 500: StatusServerError, 503: StatusServerError, 599: StatusServerError} {
		if got, ok := ClassifyStatus(code); !ok || got != want {
			t.Errorf("%d is %s, %v", code, got, ok)
		}
	}
	for _, code := range []int{0, -1, 100, 103, 499, 600, 999} {
		if got, ok := ClassifyStatus(code); ok {
			t.Errorf("%d is %s", code, got)
		}
	}
}
