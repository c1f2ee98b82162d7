package policy

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestDateOfTheSameSecond changes a file twice within one second. Its date cannot show the second
// change, so the next request is not conditional on the date.
func TestDateOfTheSameSecond(t *testing.T) {
	at := func(d time.Duration) string { return epoch.Add(d).Format(http.TimeFormat) }
	for _, tc := range []struct {
		modified, date string
		keeps          bool
	}{
		{at(-time.Second), "", true},
		{at(0), "", false},
		{at(time.Second), "", false},
		{at(-time.Hour), at(-time.Hour), false}, // by the clock of the origin
		{at(-time.Hour), at(time.Second - time.Hour), true},
		{at(-time.Hour), "soon", true},
	} {
		header := http.Header{"Last-Modified": {tc.modified}, "Date": {tc.date}}
		s := stateAfter(step{0, FetchResult{Status: 200, Body: forbidding.Body, Header: header}})
		if keeps := s.Current.LastModified != ""; keeps != tc.keeps {
			t.Errorf("%s of %q: kept %t", tc.modified, tc.date, keeps)
		}
	}
}

// TestValidatorsAreBounded tests an origin with validators of megabytes. They are
// neither stored nor sent.
func TestValidatorsAreBounded(t *testing.T) {
	for _, size := range []int{maxValidatorLength, maxValidatorLength + 1, 1 << 20} {
		long := strings.Repeat("x", size)
		s := stateAfter(step{0, FetchResult{Status: 200, Body: forbidding.Body, Header: http.Header{"Etag": {long}, "Last-Modified": {long}}}})
		if want := size <= maxValidatorLength; (s.Current.ETag == long) != want || (s.Current.LastModified == long) != want || !want && s.Current.ETag+s.Current.LastModified != "" {
			t.Errorf("of validators of %d bytes, %d and %d bytes are stored", size, len(s.Current.ETag), len(s.Current.LastModified))
		}
	}
}
