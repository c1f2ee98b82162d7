package managed

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
)

// asksAs returns a request for a robots.txt by a verified crawler of an operator.
func asksAs(r *http.Request, operator string) *http.Request {
	return r.WithContext(origin.WithOperator(r.Context(), operator))
}

// answerOf returns what a request is answered with.
func answerOf(t *testing.T, p *Publisher, r *http.Request) *http.Response {
	t.Helper()
	page, until := p.Page(r)
	if page == nil {
		t.Fatal("there is no page")
	}
	w := httptest.NewRecorder()
	page.Serve(w, r, Lifetime(time.Hour, p.Now(), until))
	return w.Result()
}

// Some operators are served a change before others. While that is so no shared cache
// may keep either text, and none can be taken for the other: not by its tag, and not by
// a date when it is over.
func TestServeSomeOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, next := newSchedule(t, disallow("GPTBot", "/a")), newSchedule(t, disallow("GPTBot", "/b"))
		p := newPublisher(first, new(bases), time.Now)
		plain := asks(site("a.test"), "a.test")
		before := answerOf(t, p, plain)
		time.Sleep(time.Hour)
		trial := Trial{Schedule: next, ServedTo: func(operator string) bool { return operator == "OpenAI" }}
		p.Serve(t.Context(), first, trial)
		if p.IsStaging(asksAs(plain, "OpenAI")) {
			t.Error("it is for tests")
		}
		tags := make(map[string]string)
		for operator, want := range map[string]string{"": "/a", "Google": "/a", "OpenAI": "/b"} {
			r := asksAs(plain, operator)
			for range 2 {
				page, _ := p.Page(r)
				if !strings.Contains(page.text, "Disallow: "+want+"\n") {
					t.Errorf("%q is served %q", operator, page.text)
				}
			}
			got := answerOf(t, p, r)
			tags[operator] = got.Header.Get("ETag")
			if cache := got.Header.Get("Cache-Control"); cache != "private, max-age=3600" || got.Header.Get("Last-Modified") != "" || got.Header.Get("Vary") != "" {
				t.Errorf("%q: %q, %q", operator, cache, got.Header)
			}
			for tag, of := range map[string]string{before.Header.Get("ETag"): "/a", tags["OpenAI"]: "/b"} {
				r := asksAs(plain, operator)
				r.Header = http.Header{"If-None-Match": {tag}, "If-Modified-Since": {time.Now().Format(http.TimeFormat)}}
				if status := answerOf(t, p, r).StatusCode; tag != "" && (status == http.StatusNotModified) != (of == want) {
					t.Errorf("%q has %s and is answered %d", operator, of, status)
				}
			}
		}
		if tags["Google"] == tags["OpenAI"] || tags["Google"] != before.Header.Get("ETag") {
			t.Errorf("the tags are %q", tags)
		}
		date := time.Now().UTC().Format(http.TimeFormat)
		time.Sleep(time.Hour)
		for name, after := range map[string]*Schedule{"promoted": next, "taken back": first} {
			p.Serve(t.Context(), after, Trial{})
			got := answerOf(t, p, asksAs(plain, "OpenAI"))
			if got.Header.Get("Cache-Control") != "max-age=3600" || got.Header.Get("Last-Modified") == "" {
				t.Errorf("%s: %q", name, got.Header)
			}
			r := asksAs(plain, "OpenAI")
			r.Header = http.Header{"If-Modified-Since": {date}}
			if status := answerOf(t, p, r).StatusCode; status != http.StatusOK {
				t.Errorf("%s: who has read it during the trial is answered %d", name, status)
			}
			p.Serve(t.Context(), first, trial)
		}
	})
}

// What is tried is told of the hosts that it is about.
func TestTrialIsTold(t *testing.T) {
	first, next := newSchedule(t, disallow("GPTBot", "/a")), newSchedule(t, disallow("GPTBot", "/b"))
	p := newPublisher(first, nil, time.Now)
	p.Hosts = []string{"a.test", "b.test"}
	var r Running
	defer r.Add(p)()
	until := time.Now().Add(time.Hour)
	for name, test := range map[string]struct {
		trial Trial
		at    map[string]int // percentages
	}{
		"none":      {Trial{}, nil},
		"hosts":     {Trial{Schedule: next, Hosts: []string{"b.test"}, ID: "1", Until: until}, map[string]int{"b.test": 0}},
		"operators": {Trial{Schedule: next, ServedTo: func(string) bool { return false }, ID: "1", Percent: 10, Until: until}, map[string]int{"a.test": 10, "b.test": 10}},
	} {
		p.Serve(t.Context(), first, test.trial)
		for _, s := range r.Sites(time.Now()) {
			percent, tried := test.at[s.Host]
			if (s.Trial != nil) != tried || tried && (s.Trial.Change != "1" || s.Trial.Percent != percent || !s.Trial.Until.Equal(until)) {
				t.Errorf("%s: of %s is told %+v", name, s.Host, s.Trial)
			}
		}
	}
}

// Who would be served a text that the gate refuses is served what all others are, and
// what is only tried never becomes what stands in for a text of all.
func TestServeSomeWhatTheGateStops(t *testing.T) {
	first, refused := newSchedule(t, disallow("GPTBot", "/a")), newSchedule(t, disallow("GPTBot", "/x"), allow("GPTBot", "/x*"))
	some := func(operator string) bool { return operator != "" }
	p := newPublisher(first, nil, time.Now)
	p.Gate.Warnings = true
	plain := asks(site("a.test"), "a.test")
	p.Serve(t.Context(), first, Trial{Schedule: refused, ServedTo: some})
	if page, _ := p.Page(asksAs(plain, "OpenAI")); page == nil || !strings.Contains(page.text, "/a\n") {
		t.Errorf("served is %+v", page)
	}
	q := newPublisher(refused, nil, time.Now)
	q.Gate.Warnings = true
	q.Serve(t.Context(), refused, Trial{Schedule: first, ServedTo: some})
	if page, _ := q.Page(asksAs(plain, "OpenAI")); page == nil || !strings.Contains(page.text, "/a\n") {
		t.Errorf("served is %+v", page)
	}
	if page, _ := q.Page(plain); page != nil {
		t.Errorf("all others are served %q", page.text)
	}
}

// Staging that is tried closes the site for those who have it, and no page of others is
// marked.
func TestServeSomeStaging(t *testing.T) {
	first, staging := newSchedule(t, disallow("GPTBot", "/a")), newSchedule(t)
	staging.Stage()
	p := newPublisher(first, nil, time.Now)
	plain := asks(site("a.test"), "a.test")
	p.Serve(t.Context(), first, Trial{Schedule: staging, ServedTo: func(operator string) bool { return operator == "OpenAI" }})
	if page, _ := p.Page(asksAs(plain, "OpenAI")); page.text != Staging || !page.private {
		t.Errorf("served is %+v", page)
	}
	if page, _ := p.Page(plain); page.text == Staging || p.IsStaging(plain) {
		t.Errorf("all others are served %+v", page)
	}
}
