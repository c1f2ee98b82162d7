package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestKeyOfHost puts a host into the key of a URL.
func TestKeyOfHost(t *testing.T) {
	for _, tc := range []struct{ url, host, key string }{
		{"https://{host}/robots.txt", "", "https://a.test/robots.txt"},
		{"http://files.test/{host}/robots-{host}.txt", "", "http://files.test/a.test/robots-a.test.txt"},
		{"http://10.0.0.5:8080/robots.txt", "{host}", "http://10.0.0.5:8080/robots.txt host a.test"},
	} {
		all := NewURLSource(tc.url, tc.host, true).Key()
		if got := KeyForHost(all, "a.test"); got != tc.key || !IsKeyOfTemplate(got, all) || IsKeyOfTemplate("x"+got, all) || IsKeyOfTemplate(got+"x", all) && !strings.HasSuffix(all, HostPlaceholder) {
			t.Errorf("%s: the key is %s, of %s: %t", tc.url, got, all, IsKeyOfTemplate(got, all))
		}
		if IsKeyOfTemplate(strings.Replace(tc.key, "a.test", "b.test", 1), all) != (strings.Count(tc.key, "a.test") == 1) {
			t.Errorf("%s: two hosts in one key", tc.url)
		}
	}
}

// TestPastTheProxy fetches the robots.txt of two hosts from an application, as the proxy does.
func TestPastTheProxy(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Forwarded-Proto") != "https" {
			http.Redirect(w, r, "https://"+r.Host+r.URL.Path, http.StatusMovedPermanently)
			return
		}
		_, _ = w.Write([]byte("# " + r.Host + " " + r.Header.Get("X-Forwarded-Host")))
	}))
	t.Cleanup(app.Close)
	source := NewURLSource(app.URL+"/robots.txt", HostPlaceholder, true)
	for _, host := range []string{"a.test", "b.test"} {
		fetch, ok := source.Prepare(nil, policy.Key{Source: KeyForHost(source.Key(), host), ForwardedHost: host})
		if !ok {
			t.Fatal("it cannot be read")
		}
		if a := fetch(t.Context(), nil); a.Err != nil || string(a.Body) != "# "+host+" "+host {
			t.Errorf("%s: %q, %v", host, a.Body, a.Err)
		}
	}
}

// TestHostOfClients checks that an invented host causes no fetch inside the owner's network.
func TestHostOfClients(t *testing.T) {
	asked := 0
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(inside.Close)
	address := strings.TrimPrefix(inside.URL, "http://")
	read := func(allowPrivate bool, key policy.Key) policy.FetchResult {
		source := NewURLSource("http://{host}/robots.txt", "", allowPrivate)
		key.Source = KeyForHost(source.Key(), address)
		fetch, _ := source.Prepare(nil, key)
		return fetch(context.Background(), nil)
	}
	for name, a := range map[string]policy.FetchResult{
		"made up":           read(true, policy.Key{ForwardedHost: address}),
		"made up, public":   read(false, policy.Key{ForwardedHost: address}),
		"named, but not so": read(false, policy.Key{}),
	} {
		if a.Err == nil || asked != 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for _, key := range []policy.Key{{}, {ForwardedHost: address, Site: "*.test"}} {
		if a := read(true, key); a.Err != nil {
			t.Error(a.Err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}
