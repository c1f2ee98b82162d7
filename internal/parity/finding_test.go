package parity

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// of returns answers of a kind: numbers by status.
func of(kind Kind, numbers map[Status]uint64) (c Counts) {
	for status, n := range numbers {
		c.By[kind][status] = n
	}
	return c
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		name   string
		counts Counts
		search bool
		want   What // "" for none
		most   Status
	}{
		{"all is well", of(Allowed, map[Status]uint64{Success: 1000, NotFound: 400, Redirect: 80}), true, "", 0},
		{"three requests", of(Allowed, map[Status]uint64{Refused: 3}), true, "", 0},
		{"one of twenty fails", of(Allowed, map[Status]uint64{Success: 19, ServerError: 1}), true, "", 0},
		{"a third is refused", of(Allowed, map[Status]uint64{Success: 66, Refused: 30, TooMany: 4}), false, PagesRefused, Refused},
		{"a tenth is too many", of(Allowed, map[Status]uint64{Success: 90, TooMany: 10}), false, PagesRefused, TooMany},
		{"less than a tenth", of(Allowed, map[Status]uint64{Success: 91, Refused: 9}), false, "", 0},
		{"one in twenty fails", of(Allowed, map[Status]uint64{Success: 95, ServerError: 5}), true, PagesFail, ServerError},
		{"and it is no search engine", of(Allowed, map[Status]uint64{Success: 95, ServerError: 5}), false, "", 0},
		{"refused what the file forbids", of(Forbidden, map[Status]uint64{Refused: 100}), true, "", 0},
		{"refused where no rule decided", of(Unruled, map[Status]uint64{Refused: 100}), true, "", 0},
		{"the file fails three times", of(RobotsTxt, map[Status]uint64{ServerError: 3}), true, "", 0},
		{"the file fails three times of five", of(RobotsTxt, map[Status]uint64{Success: 2, ServerError: 3}), true, "", 0},
		{"the file fails", of(RobotsTxt, map[Status]uint64{Success: 2, ServerError: 4}), false, RobotsFails, ServerError},
		{"the file is refused", of(RobotsTxt, map[Status]uint64{Refused: 5}), false, RobotsFails, Refused},
		{"there is no file", of(RobotsTxt, map[Status]uint64{NotFound: 50}), true, "", 0},
	} {
		found := Judge(tc.counts, tc.search)
		switch {
		case tc.want == "" && len(found) > 0:
			t.Errorf("%s: found %+v", tc.name, found)
		case tc.want != "" && (len(found) != 1 || found[0].What != tc.want || found[0].Most != tc.most):
			t.Errorf("%s: found %+v, want %s mostly by %s", tc.name, found, tc.want, tc.most)
		}
	}
}

// TestFind follows a site that begins to refuse a crawler at noon and stops at three.
func TestFind(t *testing.T) {
	good, bad := of(Allowed, map[Status]uint64{Success: 50}), of(Allowed, map[Status]uint64{Success: 30, Refused: 20})
	day := []Step{{noon.Add(-2 * time.Hour), good}, {noon.Add(-time.Hour), good}, {noon, bad}, {noon.Add(2 * time.Hour), bad},
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
		found := Find(day[:tc.steps], false, noon.Add(tc.at))
		if len(found) == 1 != tc.found {
			t.Errorf("%v after noon: %+v", tc.at, found)
		}
		if tc.found && len(found) == 1 && !found[0].Since.Equal(noon) {
			t.Errorf("%v after noon: since %v", tc.at, found[0].Since)
		}
	}
	if found := Judge(day[2].Counts, false); found[0].Says() != "40 % of the pages that it may fetch (20 of 50) refused, mostly by 401, 402, 403, 407 or 451" {
		t.Errorf("in words: %s", found[0].Says())
	}
	// A slow crawler is seen over a day.
	var slow []Step
	for hour := range 24 {
		slow = append(slow, Step{noon.Add(time.Duration(hour) * time.Hour), of(Allowed, map[Status]uint64{Refused: 1})})
	}
	if found := Find(slow, false, noon.Add(23*time.Hour)); len(found) != 1 || found[0].Of != 24 || !found[0].Since.Equal(noon) || found[0].Percent() != 100 {
		t.Errorf("a slow crawler: %+v", found)
	}
}

func TestStatusOf(t *testing.T) {
	for code, want := range map[int]Status{101: Success, 200: Success, 206: Success, 304: Redirect, 401: Refused, 402: Refused, 403: Refused,
		407: Refused, 404: NotFound, 410: NotFound, 429: TooMany, 400: ClientError, 451: Refused, 418: ClientError, 500: ServerError, 503: ServerError, 599: ServerError} {
		if got, ok := StatusOf(code); !ok || got != want {
			t.Errorf("%d is %s, %v", code, got, ok)
		}
	}
	for _, code := range []int{0, -1, 100, 103, 499, 600, 999} {
		if got, ok := StatusOf(code); ok {
			t.Errorf("%d is %s", code, got)
		}
	}
}
