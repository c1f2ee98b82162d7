package site

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestReadWhileWritten checks that a file is fetched again if it may have been incomplete.
func TestReadWhileWritten(t *testing.T) {
	const strict, torn, whole = "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /", "User-agent: *\nDisallow: /b\n"
	answer := func(status int, body, modified, date string) policy.FetchResult {
		header := make(http.Header)
		for name, value := range map[string]string{"Last-Modified": modified, "Date": date} {
			if value != "" {
				header.Set(name, value)
			}
		}
		return policy.FetchResult{Status: status, Body: []byte(body), Header: header}
	}
	have := policy.NewVersion(answer(200, strict, "", ""), time.Now())
	free := policy.NewVersion(answer(200, "", "", ""), time.Now())
	const at, before, long = "Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:50 GMT" // the synctest clock starts at the first value
	for _, tc := range []struct {
		name          string
		have          *policy.Version
		first, second policy.FetchResult
		want          string // the number and content of the fetched file
	}{
		{"emptied", have, answer(200, "", "", ""), answer(200, whole, "", ""), "2 " + whole},
		{"emptied for good", have, answer(200, " \n", "", ""), answer(200, " \n", "", ""), "2  \n"},
		{"emptied long ago", have, answer(200, "", long, ""), answer(200, whole, "", ""), "1 "},
		{"taken away and put back", have, answer(404, "", "", ""), answer(304, "", "", ""), "2 "},
		{"cut off", have, answer(200, torn, at, ""), answer(200, whole, at, ""), "2 " + whole},
		{"cut off at the end of the second before", have, answer(200, torn, before, ""), answer(200, whole, before, ""), "2 " + whole},
		{"cut off by another clock", have, answer(200, torn, long, long), answer(200, whole, long, long), "2 " + whole},
		{"written long ago", have, answer(200, torn, long, ""), answer(200, whole, long, ""), "1 " + torn},
		{"no date of its writing", have, answer(200, torn, "", ""), answer(200, whole, "", ""), "1 " + torn},
		{"the same text", have, answer(200, strict, at, ""), answer(200, whole, at, ""), "1 " + strict},
		{"nothing known before", nil, answer(200, "", at, ""), answer(200, whole, at, ""), "1 "},
		{"nothing restricted before", free, answer(404, "", "", ""), answer(200, whole, "", ""), "1 "},
		{"the second time it fails", have, answer(404, "", "", ""), answer(502, "", "", ""), "1 "},
		{"the second time it is not there", have, answer(200, whole, at, ""), answer(404, "", "", ""), "1 " + whole},
		{"the second time it is refused", have, answer(404, "", "", ""), answer(403, "", "", ""), "2 "},
		{"a failure", have, answer(503, "", "", ""), answer(200, whole, "", ""), "1 "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reads := 0
				fetch := refetchIfIncomplete(func(context.Context, *policy.Version) policy.FetchResult {
					if reads++; reads == 1 {
						return tc.first
					}
					return tc.second
				})
				answer := fetch(t.Context(), tc.have)
				number := "1 "
				if answer.Status == tc.second.Status && string(answer.Body) == string(tc.second.Body) && reads == 2 {
					number = "2 "
				}
				if got := number + string(answer.Body); got != tc.want {
					t.Errorf("got %q after %d readings, want %q", got, reads, tc.want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		emptied := refetchIfIncomplete(func(context.Context, *policy.Version) policy.FetchResult { return answer(200, "", "", "") })
		if got := emptied(ctx, have); got.Status != http.StatusOK || got.Err != nil {
			t.Errorf("with no time for a second reading: %+v", got)
		}
	})
}

// TestSourcesReadOnceMore checks that each source fetches an empty file again. A file is empty for
// a moment while it is rewritten in place.
func TestSourcesReadOnceMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	site := loadProbed(t, "", `http://a.test:PORT {
		source_probe
		root FOLDER
		file_server
	}`, "FOLDER", filepath.Dir(path))
	have := policy.NewVersion(policy.FetchResult{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /\n")}, time.Now())
	elsewhere := NewURLSource("http://127.0.0.1:"+site.port+"/robots.txt", "a.test:"+site.port, true)
	file, _ := FileSource{Path: path}.Prepare(nil, policy.Key{})
	for name, read := range map[string]func(){
		"the site itself": func() { site.probe("http://a.test:PORT/x", "Have", "1") },
		"a URL":           func() { elsewhere.Fetch(t.Context(), have) },
		"a file":          func() { file(t.Context(), have) },
	} {
		begun := time.Now()
		if read(); time.Since(begun) < refetchDelay {
			t.Errorf("%s: read once", name)
		}
	}
}
