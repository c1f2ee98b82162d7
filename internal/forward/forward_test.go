package forward

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// asking returns a request of a trusted proxy with these fields, each in the form "Name: value".
func asking(fields ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:9180/decide", nil)
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Add(name, value)
	}
	vars := map[string]any{caddyhttp.TrustedProxyVarKey: true, caddyhttp.ClientIPVarKey: "192.0.2.7"}
	return r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, vars))
}

// usual returns the fields of most proxies. Fields in more replace those with the same name.
func usual(more ...string) []string {
	fields := []string{"X-Forwarded-Method: GET", "X-Forwarded-Proto: https", "X-Forwarded-Host: a.test", "X-Forwarded-Uri: /x?y"}
	for _, field := range more {
		name, _, _ := strings.Cut(field, ": ")
		for i := range fields {
			if strings.HasPrefix(fields[i], name+":") {
				fields[i] = field
				field = ""
				break
			}
		}
		if field != "" {
			fields = append(fields, field)
		}
	}
	return fields
}

// TestAsked has valid descriptions, in the form of each common proxy.
func TestAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		fields                    []string
		method, target, path, key string
	}{
		"Traefik, Caddy":       {usual(), "GET", "/x?y", "/x", "https://a.test"},
		"nginx":                {[]string{"X-Original-Method: HEAD", "X-Original-URI: /x", "X-Forwarded-Host: a.test", "X-Forwarded-Proto: http"}, "HEAD", "/x", "/x", "http://a.test"},
		"ingress-nginx":        {[]string{"X-Original-Method: GET", "X-Original-URL: https://a.test/x?y"}, "GET", "/x?y", "/x", "https://a.test"},
		"a URL without a path": {[]string{"X-Original-Method: GET", "X-Original-URL: https://a.test?y"}, "GET", "/?y", "/", "https://a.test"},
		"IIS":                  {append(usual(), "X-Original-URL: /x?y"), "GET", "/x?y", "/x", "https://a.test"},
		"said twice":           {append(usual(), "X-Original-URI: /x?y", "X-Original-Method: GET", "X-Original-URL: HTTPS://A.TEST/x?y"), "GET", "/x?y", "/x", "https://a.test"},
		"an empty field":       {append(usual(), "X-Original-URI: "), "GET", "/x?y", "/x", "https://a.test"},
		"a port, a dot":        {usual("X-Forwarded-Host: A.Test.:8443"), "GET", "/x?y", "/x", "https://a.test"},
		"IPv6":                 {usual("X-Forwarded-Host: [::1]:80"), "GET", "/x?y", "/x", "https://[::1]"},
		"WebSocket":            {usual("X-Forwarded-Proto: wss"), "GET", "/x?y", "/x", "https://a.test"},
		"another method":       {usual("X-Forwarded-Method: PROPFIND"), "PROPFIND", "/x?y", "/x", "https://a.test"},
		"absolute":             {usual("X-Forwarded-Uri: http://A.test:80/x?y"), "GET", "http://A.test:80/x?y", "/x", "https://a.test"},
		"no escape":            {usual("X-Forwarded-Uri: /100%/%zz%41?100%"), "GET", "/100%/%zz%41?100%", "/100%/%zzA", "https://a.test"},
		"no text":              {usual("X-Forwarded-Uri: /\xff"), "GET", "/\xff", "/\xff", "https://a.test"},
		"slashes":              {usual("X-Forwarded-Uri: //x//y"), "GET", "//x//y", "//x//y", "https://a.test"},
	} {
		asked, err := DescribedRequest(asking(append(tc.fields, "User-Agent: bingbot")...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		original := site.OriginalRequest(asked)
		key := site.NewHosts(nil).KeyForRequest(asked)
		if original.Method != tc.method || asked.Method != tc.method || site.RequestTarget(original) != tc.target || original.URL.Path != tc.path || key.String() != tc.key {
			t.Errorf("%s: %s %s, path %s, of %s", name, original.Method, site.RequestTarget(original), original.URL.Path, key)
		}
		if key.ForwardedHost != "" || site.RequestUserAgent(asked) != "bingbot" || site.ClientAddr(asked).String() != "192.0.2.7" {
			t.Errorf("%s: forwarded %q by %q at %s", name, key.ForwardedHost, site.RequestUserAgent(asked), site.ClientAddr(asked))
		}
		if asked.Header.Get(originalURL)+asked.Header.Get(forwardedURI) != "" {
			t.Errorf("%s: the description is left in the header: %v", name, asked.Header)
		}
	}
}

// TestAskedWithoutPath has requests without a path, such as OPTIONS *.
func TestAskedWithoutPath(t *testing.T) {
	for _, fields := range [][]string{usual("X-Forwarded-Method: OPTIONS", "X-Forwarded-Uri: *"), usual("X-Forwarded-Method: CONNECT", "X-Forwarded-Uri: a.test:443")} {
		asked, err := DescribedRequest(asking(fields...))
		if err != nil || !site.HasNoPath(asked) {
			t.Errorf("%v: %v", fields, err)
		}
	}
}

// TestAskedBadly has descriptions that no proxy should send, but clients might.
func TestAskedBadly(t *testing.T) {
	for name, tc := range map[string]struct {
		fields []string
		reason Reason
	}{
		"nothing":                {nil, MissingField},
		"no method":              {usual("X-Forwarded-Method: "), MissingField},
		"no scheme":              {usual("X-Forwarded-Proto: "), MissingField},
		"no host":                {usual("X-Forwarded-Host: "), MissingField},
		"no target":              {usual("X-Forwarded-Uri: "), MissingField},
		"two methods":            {append(usual(), "X-Forwarded-Method: GET"), RepeatedField},
		"two schemes":            {append(usual(), "X-Forwarded-Proto: https"), RepeatedField},
		"two hosts":              {append(usual(), "X-Forwarded-Host: b.test"), RepeatedField},
		"two targets":            {append(usual(), "X-Forwarded-Uri: /"), RepeatedField},
		"a list of hosts":        {usual("X-Forwarded-Host: b.test, a.test"), MalformedField},
		"a list of schemes":      {usual("X-Forwarded-Proto: https,http"), MalformedField},
		"a list of methods":      {usual("X-Forwarded-Method: GET, POST"), MalformedField},
		"another target":         {append(usual(), "X-Original-URI: /robots.txt"), ContradictingFields},
		"another method":         {append(usual(), "X-Original-Method: POST"), ContradictingFields},
		"the same in lower case": {append(usual(), "X-Original-Method: get"), ContradictingFields},
		"another URL":            {append(usual(), "X-Original-URL: https://b.test/x?y"), ContradictingFields},
		"another scheme in it":   {append(usual(), "X-Original-URL: http://a.test/x?y"), ContradictingFields},
		"another target in it":   {append(usual(), "X-Original-URL: https://a.test/x"), ContradictingFields},
		"another path":           {append(usual(), "X-Original-URL: /robots.txt"), ContradictingFields},
		"a URL in a URL":         {[]string{"X-Original-Method: GET", "X-Original-URL: https://a.testhttp://b.test/x"}, MalformedField},
		"absolute, another host": {usual("X-Forwarded-Uri: http://b.test/x"), ContradictingFields},
		"absolute, a user":       {usual("X-Forwarded-Uri: http://u@a.test/x"), MalformedField},
		"absolute, FTP":          {usual("X-Forwarded-Uri: ftp://a.test/x"), ContradictingFields},
		"absolute, no host":      {usual("X-Forwarded-Uri: http:///x"), MalformedField},
		"a scheme alone":         {usual("X-Forwarded-Uri: x:private/"), MalformedField},
		"no slash":               {usual("X-Forwarded-Uri: private/"), MalformedField},
		"GET *":                  {usual("X-Forwarded-Uri: *"), MalformedField},
		"CONNECT":                {usual("X-Forwarded-Method: CONNECT", "X-Forwarded-Uri: a b"), MalformedField},
		"a fragment":             {usual("X-Forwarded-Uri: /x#y"), MalformedField},
		"a space":                {usual("X-Forwarded-Uri: /x y"), MalformedField},
		"a tab":                  {usual("X-Forwarded-Uri: /x\ty"), MalformedField},
		"a control":              {usual("X-Forwarded-Uri: /x\x00y"), MalformedField},
		"a line":                 {usual("X-Forwarded-Uri: /x\r\ny"), MalformedField},
		"too long":               {usual("X-Forwarded-Uri: /" + strings.Repeat("x", maxTargetBytes)), MalformedField},
		"a long host":            {usual("X-Forwarded-Host: " + strings.Repeat("x", 300)), MalformedField},
		"a path for a host":      {usual("X-Forwarded-Host: a.test/x"), MalformedField},
		"credentials":            {usual("X-Forwarded-Host: u@a.test"), MalformedField},
		"a placeholder":          {usual("X-Forwarded-Host: {env.HOME}"), MalformedField},
		"an escape":              {usual("X-Forwarded-Host: a%2etest"), MalformedField},
		"a colon":                {usual("X-Forwarded-Host: a.test:"), MalformedField},
		"no port":                {usual("X-Forwarded-Host: a.test:http"), MalformedField},
		"a port alone":           {usual("X-Forwarded-Host: :80"), MalformedField},
		"dots":                   {usual("X-Forwarded-Host: .."), MalformedField},
		"two ports":              {usual("X-Forwarded-Host: a:1:2"), MalformedField},
		"bare IPv6":              {usual("X-Forwarded-Host: ::1"), MalformedField},
		"another protocol":       {usual("X-Forwarded-Proto: gopher"), MalformedField},
		"no method but text":     {usual("X-Forwarded-Method: <GET>"), MalformedField},
	} {
		asked, err := DescribedRequest(asking(tc.fields...))
		var found *Problem
		switch {
		case !errors.As(err, &found):
			t.Errorf("%s: %v, %v", name, asked, err)
		case found.Reason != tc.reason || found.Status() != http.StatusBadRequest || len(found.Error()) > 400:
			t.Errorf("%s: %s, want %s: %v", name, found.Reason, tc.reason, found)
		}
	}
}

// TestAbsoluteTargetErrors checks that the error for an absolute target names the wrong part.
func TestAbsoluteTargetErrors(t *testing.T) {
	for _, tc := range []struct{ target, want string }{
		{"http://b.test/x", "the target http://b.test/x has another host than a.test"},
		{"ftp://a.test/x", "the target ftp://a.test/x has another scheme than http and https"},
		{"ftp://b.test/x", "the target ftp://b.test/x has another scheme than http and https"},
	} {
		if _, err := DescribedRequest(asking(usual("X-Forwarded-Uri: " + tc.target)...)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.target, err, tc.want)
		}
	}
}

// TestAskedByOthers has a client that sends a description itself.
func TestAskedByOthers(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, field := range usual() {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Set(name, value)
	}
	_, err := DescribedRequest(r)
	var found *Problem
	if !errors.As(err, &found) || found.Reason != UntrustedProxy || found.Status() != http.StatusInternalServerError {
		t.Errorf("got %v", err)
	}
}

// TestReasons checks that each reason has a word.
func TestReasons(t *testing.T) {
	seen := make(map[string]bool)
	for _, reason := range AllReasons() {
		seen[reason.String()] = true
	}
	if len(seen) != numReasons {
		t.Errorf("%v", seen)
	}
}
