package site

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"
)

func TestTargetOf(t *testing.T) {
	parsed := func(text string) *url.URL {
		u, err := url.ParseRequestURI(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for _, tc := range []struct {
		name   string
		r      *http.Request // as net/http makes it
		target string
		noPath bool
	}{
		{"origin form", &http.Request{Method: "GET", RequestURI: "/%70?a", URL: parsed("/%70?a")}, "/%70?a", false},
		{"absolute form", &http.Request{Method: "GET", RequestURI: "http://a.test/p", URL: parsed("http://a.test/p")}, "http://a.test/p", false},
		{"a request that never was on a wire", &http.Request{Method: "GET", URL: parsed("/%70?a")}, "/%70?a", false},
		{"CONNECT", &http.Request{Method: "CONNECT", RequestURI: "a.test:443", URL: &url.URL{Host: "a.test:443"}}, "/", true},
		{"CONNECT with a path", &http.Request{Method: "CONNECT", RequestURI: "/p", URL: parsed("/p")}, "/p", false},
		{"CONNECT with a host and a path", &http.Request{Method: "CONNECT", RequestURI: "a.test:443/p", URL: &url.URL{Host: "a.test:443", Path: "/p"}}, "/p", false},
		{"CONNECT for a WebSocket over HTTP/2", &http.Request{Method: "CONNECT", RequestURI: "/p", URL: parsed("/p")}, "/p", false},
		{"OPTIONS *", &http.Request{Method: "OPTIONS", RequestURI: "*", URL: parsed("*")}, "*", true},
		{"OPTIONS with a path", &http.Request{Method: "OPTIONS", RequestURI: "/p", URL: parsed("/p")}, "/p", false},
		{"a scheme and no slash", &http.Request{Method: "GET", RequestURI: "x:public/y?a", URL: parsed("x:public/y?a")}, "x:public/y?a", false},
		{"a scheme and no slash that never was on a wire", &http.Request{Method: "GET", URL: parsed("x:public/y?a")}, "x:public/y?a", false},
		{"GET *", &http.Request{Method: "GET", RequestURI: "*", URL: parsed("*")}, "*", false},
	} {
		if target, noPath := RequestTarget(OriginalRequest(tc.r)), HasNoPath(tc.r); target != tc.target || noPath != tc.noPath {
			t.Errorf("%s: target %q, without path %t; want %q, %t", tc.name, target, noPath, tc.target, tc.noPath)
		}
	}
}

func TestUserAgentOf(t *testing.T) {
	for _, tc := range []struct {
		fields []string
		want   string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{""}, ""},
		{[]string{"a", "b/1"}, "a, b/1"},
		{[]string{"", "b/1"}, ", b/1"},
	} {
		if got := RequestUserAgent(&http.Request{Header: http.Header{"User-Agent": tc.fields}}); got != tc.want {
			t.Errorf("%q is %q, want %q", tc.fields, got, tc.want)
		}
	}
}

func TestUserAgentOfBrand(t *testing.T) {
	for _, tc := range []struct {
		brands []string
		want   string
	}{
		{nil, "a/1"},
		{[]string{`"Chromium";v="148", "Google Chrome";v="148"`}, "a/1"},
		{[]string{`"Lightpanda";v="1"`}, "a/1 Lightpanda"},
		{[]string{`"Chromium";v="148"`, `"Lightpanda";v="1"`}, "a/1 Lightpanda"},
	} {
		header := http.Header{"User-Agent": {"a/1"}, "Sec-Ch-Ua": tc.brands}
		if got := RequestUserAgent(&http.Request{Header: header}); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.brands, got, tc.want)
		}
	}
	header := http.Header{"Sec-Ch-Ua": {`"Lightpanda";v="1"`}}
	if got := RequestUserAgent(&http.Request{Header: header}); got != "" {
		t.Errorf("without a User-Agent: %q", got)
	}
}

func TestIsIncluded(t *testing.T) {
	connected := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{})
	field := http.Header{"Caddy-Templates-Include": {"1"}}
	for _, tc := range []struct {
		name   string
		ctx    context.Context
		header http.Header
		want   bool
	}{
		{"a request of templates", t.Context(), field, true},
		{"one of a client that says so", connected, field, false},
		{"one of a client", connected, nil, false},
		{"one of nobody", t.Context(), nil, false},
	} {
		if got := IsTemplateInclude((&http.Request{Header: tc.header}).WithContext(tc.ctx)); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}
