package origin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestHostInLocation puts the host that is asked for into a location.
func TestHostInLocation(t *testing.T) {
	for _, tc := range []struct{ args, key string }{
		{"https://{host}/robots.txt", "https://a.test/robots.txt"},
		{"https://{http.request.host}/robots.txt", "https://a.test/robots.txt"},
		{"http://files.test/{host}/robots-{host}.txt", "http://files.test/a.test/robots-a.test.txt"},
		{"http://10.0.0.5:8080/robots.txt host {host}", "http://10.0.0.5:8080/robots.txt host a.test"},
	} {
		l, err := ParseLocation(strings.Fields(tc.args))
		if err != nil || !l.HasHost() || l.Validate("source", true) != nil {
			t.Errorf("%s: %v, %v", tc.args, err, l.Validate("source", true))
			continue
		}
		_, all := l.Source(true, nil)
		if got := KeyFor(all, "a.test"); got != tc.key || !IsKeyOf(got, all) || IsKeyOf("x"+got, all) || IsKeyOf(got+"x", all) && !strings.HasSuffix(all, HostPlaceholder) {
			t.Errorf("%s: the key is %s, of %s: %t", tc.args, got, all, IsKeyOf(got, all))
		}
		if IsKeyOf(strings.Replace(tc.key, "a.test", "b.test", 1), all) != (strings.Count(tc.key, "a.test") == 1) {
			t.Errorf("%s: two hosts in one key", tc.args)
		}
	}
	for _, args := range []string{"http://a.test/robots.txt host", "http://a.test/robots.txt host b.test c", "file /x host b.test"} {
		if l, err := ParseLocation(strings.Fields(args)); err == nil {
			t.Errorf("%s: %v", args, l)
		}
	}
	for _, host := range []string{"a/b", "u@a", "a?", "a#"} {
		if err := (&Location{URL: "http://a.test/robots.txt", Host: host}).Validate("source", true); err == nil {
			t.Errorf("host %s is taken", host)
		}
	}
	if err := (&Location{File: "/x", Host: "a.test"}).Validate("source", true); err == nil {
		t.Error("a file has a host")
	}
}

// TestPastTheProxy asks an application for the robots.txt of two hosts, as the proxy in
// front of it does.
func TestPastTheProxy(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Forwarded-Proto") != "https" {
			http.Redirect(w, r, "https://"+r.Host+r.URL.Path, http.StatusMovedPermanently)
			return
		}
		_, _ = w.Write([]byte("# " + r.Host + " " + r.Header.Get("X-Forwarded-Host")))
	}))
	t.Cleanup(app.Close)
	source, all := (&Location{URL: app.URL + "/robots.txt", Host: HostPlaceholder}).Source(true, nil)
	for _, host := range []string{"a.test", "b.test"} {
		fetch, ok := source.Prepare(nil, policy.Key{Source: KeyFor(all, host), Forwarded: host})
		if !ok {
			t.Fatal("it cannot be read")
		}
		if a := fetch(t.Context(), nil); a.Err != nil || string(a.Body) != "# "+host+" "+host {
			t.Errorf("%s: %q, %v", host, a.Body, a.Err)
		}
	}
}

// TestHostOfClients reads nothing inside of the network for a host that a client made up.
func TestHostOfClients(t *testing.T) {
	asked := 0
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(inside.Close)
	address := strings.TrimPrefix(inside.URL, "http://")
	read := func(allowPrivate bool, key policy.Key) policy.Answer {
		source, all := (&Location{URL: "http://{host}/robots.txt"}).Source(allowPrivate, nil)
		key.Source = KeyFor(all, address)
		fetch, _ := source.Prepare(nil, key)
		return fetch(context.Background(), nil)
	}
	for name, a := range map[string]policy.Answer{
		"made up":           read(true, policy.Key{Forwarded: address}),
		"made up, public":   read(false, policy.Key{Forwarded: address}),
		"named, but not so": read(false, policy.Key{}),
	} {
		if a.Err == nil || asked != 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for _, key := range []policy.Key{{}, {Forwarded: address, Site: "*.test"}} {
		if a := read(true, key); a.Err != nil {
			t.Error(a.Err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}
