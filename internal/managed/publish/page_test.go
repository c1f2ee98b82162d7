package publish

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// TestWhoGoesByDates uses a client that compares dates and ignores ETags. It receives the current
// file after a base returns, at another host, and from another instance.
func TestWhoGoesByDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := new(bases)
		schedule := newSchedule(t, disallow("GPTBot", "/a"))
		instances := []*Publisher{newPublisher(schedule, source, time.Now), newPublisher(schedule, source, time.Now)}
		server := serverFor("a.test")
		held, date := "", ""
		for i, step := range []struct{ version, instance int }{{1, 0}, {2, 0}, {1, 0}, {2, 1}, {1, 0}, {3, 0}, {3, 1}} {
			source.version.Store(int64(step.version))
			time.Sleep(25 * time.Hour) // each base is due
			p, r := instances[step.instance], asks(server, "a.test")
			p.Page(r)
			synctest.Wait()
			if date != "" {
				r.Header.Set("If-Modified-Since", date)
			}
			got := answerOf(t, p, r)
			if got.StatusCode == http.StatusOK {
				body, err := io.ReadAll(got.Body)
				if err != nil {
					t.Fatal(err)
				}
				held, date = string(body), got.Header.Get("Last-Modified")
			}
			if page, _ := p.Page(r); held != page.text {
				t.Errorf("step %d: after %d with the date %q it holds %q, and served is %q", i, got.StatusCode, date, held, page.text)
			}
		}
	})
}

// answerOf returns the response to a request.
func answerOf(t *testing.T, p *Publisher, r *http.Request) *http.Response {
	t.Helper()
	page, until := p.Page(r)
	if page == nil {
		t.Fatal("there is no page")
	}
	w := httptest.NewRecorder()
	page.Serve(w, r, managed.CacheLifetime(time.Hour, p.Now(), until))
	return w.Result()
}
