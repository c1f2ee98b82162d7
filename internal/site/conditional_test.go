package site

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// tagged serves a file with validators, at /robots.txt and through /moved.
func tagged(etag, modified string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/robots.txt", http.StatusFound)
			return
		}
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		var at time.Time
		if modified != "" {
			at, _ = http.ParseTime(modified)
		}
		http.ServeContent(w, r, "robots.txt", at, strings.NewReader("User-agent: *\nDisallow: /\n"))
	})
}

const (
	monday  = "Mon, 05 Jan 2026 00:00:00 GMT"
	tuesday = "Tue, 06 Jan 2026 00:00:00 GMT"
)

func TestConditionalReading(t *testing.T) {
	for _, tc := range []struct {
		name, path, etag, modified string
		have                       *policy.Version
		want                       policy.AccessResult
	}{
		{"nothing known", "/robots.txt", `"1"`, monday, nil, policy.Successful},
		{"the same entity tag", "/robots.txt", `"1"`, monday, &policy.Version{ETag: `"1"`}, policy.NotModified},
		{"another entity tag", "/robots.txt", `"2"`, monday, &policy.Version{ETag: `"1"`, LastModified: monday}, policy.Successful},
		{"the same date", "/robots.txt", "", monday, &policy.Version{LastModified: monday}, policy.NotModified},
		{"an older date, of a file that was put back", "/robots.txt", "", monday, &policy.Version{LastModified: tuesday}, policy.Successful},
		{"no validators known", "/robots.txt", `"1"`, monday, &policy.Version{}, policy.Successful},
		{"found elsewhere", "/moved", `"1"`, monday, &policy.Version{ETag: `"1"`}, policy.Successful},
	} {
		t.Run(tc.name, func(t *testing.T) {
			origin := httptest.NewServer(tagged(tc.etag, tc.modified))
			defer origin.Close()
			answer := NewURLSource(origin.URL+tc.path, "", true).Fetch(t.Context(), tc.have)
			if answer.AccessResult() != tc.want {
				t.Fatalf("meaning %s (%v), want %s", answer.AccessResult(), answer.Err, tc.want)
			}
			keeps := answer.Header.Get("ETag") != "" || answer.Header.Get("Last-Modified") != ""
			if keeps != (tc.path == "/robots.txt") {
				t.Errorf("validators are kept: %t", keeps)
			}
		})
	}
}

func TestConditionalVirtualRequest(t *testing.T) {
	pattern := virtualOf(httptest.NewRequest(http.MethodGet, "http://example.com/x", nil))
	u := newAuthority(pattern).urlOfPath("/robots.txt")
	serve := func(conditions http.Header) policy.FetchResult {
		return NewServerSource(false).serveGuardRequest(t.Context(), tagged(`"1"`, ""), pattern, u, conditions)
	}
	if answer := serve(conditionalHeader(&policy.Version{ETag: `"1"`})); answer.AccessResult() != policy.NotModified {
		t.Errorf("meaning %s (%v), want unchanged", answer.AccessResult(), answer.Err)
	}
	if answer := serve(nil); answer.AccessResult() != policy.Successful || len(answer.Body) == 0 {
		t.Errorf("without conditions: meaning %s, %d bytes", answer.AccessResult(), len(answer.Body))
	}
	if pattern.Header.Get("If-None-Match") != "" {
		t.Error("the condition of one request is left in the next")
	}
}

// TestNotModifiedWithoutADate has a site that sends 304 responses, but never a Last-Modified field.
// Its file may be an older file.
func TestNotModifiedWithoutADate(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
		}
	}))
	defer origin.Close()
	answer := NewURLSource(origin.URL+"/robots.txt", "", true).Fetch(t.Context(), policy.NewVersion(policy.FetchResult{
		Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /\n"), Header: http.Header{"Last-Modified": {monday}},
	}, time.Now()))
	if answer.AccessResult() != policy.Successful || answer.Err != nil {
		t.Errorf("meaning %s (%v), want %s", answer.AccessResult(), answer.Err, policy.Successful)
	}
}
