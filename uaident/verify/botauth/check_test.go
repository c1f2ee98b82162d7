package botauth

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*signing)
		want   Reason
	}{
		{"a valid signature", func(s *signing) {}, Verified},

		// Parameters.
		{"no tag", func(s *signing) { s.param("tag", "") }, NoSignature},
		{"other tag", func(s *signing) { s.param("tag", `"http-message-signatures-directory"`) }, NoSignature},
		{"tag in capitals", func(s *signing) { s.param("tag", `"Web-Bot-Auth"`) }, NoSignature},
		{"tag as a Token", func(s *signing) { s.param("tag", `web-bot-auth`) }, NoSignature},
		{"no created", func(s *signing) { s.param("created", "") }, MissingParameter},
		{"no expires", func(s *signing) { s.param("expires", "") }, MissingParameter},
		{"no keyid", func(s *signing) { s.param("keyid", "") }, MissingParameter},
		{"no alg", func(s *signing) { s.param("alg", "") }, Verified},
		{"no nonce", func(s *signing) { s.param("nonce", "") }, Verified},
		{"an unknown parameter", func(s *signing) { s.param("x", "1.5") }, Verified},
		{"created is not an Integer", func(s *signing) { s.param("created", `"1"`) }, Malformed},
		{"expires is a Date", func(s *signing) { s.param("expires", fmt.Sprintf("@%d", start.Add(time.Hour).Unix())) }, Malformed},
		{"keyid is a Token", func(s *signing) { s.param("keyid", "abc") }, Malformed},
		{"nonce is a Byte Sequence", func(s *signing) { s.param("nonce", ":AAAA:") }, Malformed},
		{"alg is a Token", func(s *signing) { s.param("alg", "ed25519") }, Malformed},
		{"alg is of another key type", func(s *signing) { s.param("alg", `"ecdsa-p256-sha256"`) }, UnsupportedAlgorithm},
		{"alg is a shared secret", func(s *signing) { s.param("alg", `"hmac-sha256"`) }, UnsupportedAlgorithm},

		// Times.
		{"expires this second", func(s *signing) { s.created(start.Add(-time.Hour)); s.expires(start) }, Expired},
		{"expires in a second", func(s *signing) { s.created(start.Add(-time.Hour)); s.expires(start.Add(time.Second)) }, Verified},
		{"without a nonce, created five minutes ago", func(s *signing) { s.param("nonce", ""); s.created(start.Add(-5 * time.Minute)) }, Verified},
		{"without a nonce, created longer ago", func(s *signing) { s.param("nonce", ""); s.created(start.Add(-5*time.Minute - time.Second)) }, NonceMissing},
		{"an empty nonce, created longer ago", func(s *signing) { s.param("nonce", `""`); s.created(start.Add(-time.Hour)) }, NonceMissing},
		{"with a nonce, created longer ago", func(s *signing) { s.created(start.Add(-5*time.Minute - time.Second)) }, Verified},
		{"created within the skew", func(s *signing) { s.created(start.Add(time.Minute)) }, Verified},
		{"created beyond the skew", func(s *signing) { s.created(start.Add(61 * time.Second)) }, NotYetValid},
		{"lifetime of a day", func(s *signing) { s.expires(start.Add(24 * time.Hour)) }, Verified},
		{"lifetime of more than a day", func(s *signing) { s.expires(start.Add(24*time.Hour + time.Second)) }, LifetimeTooLong},
		{"expires before it was created", func(s *signing) { s.expires(start.Add(-time.Second)) }, Malformed},
		{"extreme times", func(s *signing) { s.param("created", "-99999999999999"); s.param("expires", "999999999999999") }, LifetimeTooLong},

		// The key and the signed content.
		{"another key's signature", func(s *signing) { s.key = testKey("other") }, Mismatch},
		{"another key's keyid", func(s *signing) { s.param("keyid", fmt.Sprintf("%q", keyID(testKey("other")))) }, KeyUnknown},
		{"other host", func(s *signing) { s.request.Authority = "www.example.org" }, Mismatch},
		{"other port", func(s *signing) { s.request.Authority += ":8443" }, Mismatch},
		{"default port", func(s *signing) { s.request.Authority += ":443" }, Verified},
		{"another scheme's default port", func(s *signing) { s.request.Authority += ":80" }, Mismatch},
		{"changes of uncovered parts", func(s *signing) { s.request.Method, s.request.Target = "POST", "/else" }, Verified},

		// Required components.
		{"@authority not covered", func(s *signing) { s.components, s.lines = s.components[1:], s.lines[1:] }, NotCovered},
		{"@target-uri in its place", func(s *signing) {
			s.components[0], s.lines[0] = `"@target-uri"`, `"@target-uri": https://www.example.com/page?q=1`
		}, Verified},
		{"@authority of another message", func(s *signing) { s.components[0] = `"@authority";req` }, NotCovered},
		{"signature-agent not covered", func(s *signing) { s.components, s.lines = s.components[:1], s.lines[:1] }, NotCovered},
		{"nothing covered", func(s *signing) { s.components, s.lines = nil, nil }, NotCovered},

		// Supported components.
		{"all derived components", func(s *signing) {
			s.cover(`"@method"`, "GET")
			s.cover(`"@target-uri"`, "https://www.example.com/page?q=1")
			s.cover(`"@scheme"`, "https")
			s.cover(`"@request-target"`, "/page?q=1")
			s.cover(`"@path"`, "/page")
			s.cover(`"@query"`, "?q=1")
		}, Verified},
		{"no query", func(s *signing) { s.request.Target = "/page"; s.cover(`"@query"`, "?") }, Verified},
		{"an empty query", func(s *signing) { s.request.Target = "/page?"; s.cover(`"@query"`, "?") }, Verified},
		{"an absolute target", func(s *signing) {
			s.request.Target = "https://www.example.com?q=1"
			s.cover(`"@path"`, "/")
			s.cover(`"@query"`, "?q=1")
			s.cover(`"@target-uri"`, "https://www.example.com?q=1")
		}, Verified},
		{"the target of another host", func(s *signing) { // possible in :path of HTTP/2
			s.request.Target = "https://www.example.org/page?q=1"
			s.components[0], s.lines[0] = `"@target-uri"`, `"@target-uri": https://www.example.org/page?q=1`
		}, Mismatch},
		{"the target of another port", func(s *signing) {
			s.request.Target = "https://www.example.com:8443/"
			s.cover(`"@target-uri"`, "https://www.example.com:8443/")
		}, Mismatch},
		{"a target of another host that names this one", func(s *signing) {
			s.request.Target = "https://www.example.com@www.example.org/"
			s.cover(`"@target-uri"`, "https://www.example.com@www.example.org/")
		}, Mismatch},
		{"an absolute target in capitals", func(s *signing) {
			s.request.Target = "HTTPS://WWW.example.com:443/"
			s.cover(`"@target-uri"`, "HTTPS://WWW.example.com:443/")
		}, Verified},
		{"a covered path that changed", func(s *signing) { s.cover(`"@path"`, "/page"); s.request.Target = "/Page?q=1" }, Mismatch},
		{"a covered method that changed", func(s *signing) { s.cover(`"@method"`, "GET"); s.request.Method = "HEAD" }, Mismatch},
		{"a field", func(s *signing) { s.cover(`"accept"`, "text/html") }, Verified},
		{"a field that changed", func(s *signing) { s.cover(`"accept"`, "text/html"); s.request.Header.Set("Accept", "*/*") }, Mismatch},
		{"a field of several lines", func(s *signing) {
			s.request.Header["X-Lines"] = []string{"  a, b\t", "", "c "}
			s.cover(`"x-lines"`, "a, b, , c")
		}, Verified},
		{"an empty field", func(s *signing) { s.request.Header["X-Empty"] = []string{""}; s.cover(`"x-empty"`, "") }, Verified},
		{"the Host field", func(s *signing) { s.cover(`"host"`, "www.example.com") }, Verified},
		{"a missing field", func(s *signing) { s.cover(`"x-absent"`, "") }, ComponentAbsent},
		{"a field with a line break", func(s *signing) { s.request.Header["X"] = []string{"a\n\"x-b\": c"}; s.cover(`"x"`, "a\n\"x-b\": c") }, Malformed},

		// Components that are not supported.
		{"@query-param", func(s *signing) { s.cover(`"@query-param";name="q"`, "1") }, UnsupportedComponent},
		{"@status", func(s *signing) { s.cover(`"@status"`, "200") }, UnsupportedComponent},
		{"sf", func(s *signing) { s.cover(`"accept";sf`, "text/html") }, UnsupportedComponent},
		{"bs", func(s *signing) { s.cover(`"accept";bs`, ":dGV4dC9odG1s:") }, UnsupportedComponent},
		{"key of another field", func(s *signing) { s.cover(`"accept";key="a"`, "text/html") }, UnsupportedComponent},
		{"@path of OPTIONS *", func(s *signing) { s.request.Target = "*"; s.cover(`"@path"`, "*") }, UnsupportedComponent},
		{"@target-uri of OPTIONS *", func(s *signing) { s.request.Target = "*"; s.cover(`"@target-uri"`, "https://www.example.com") }, UnsupportedComponent},

		// Invalid components.
		{"the same component twice", func(s *signing) { s.cover(`"accept"`, "text/html"); s.cover(`"accept"`, "text/html") }, Malformed},
		{"upper case", func(s *signing) { s.cover(`"Accept"`, "text/html") }, Malformed},
		{"name is a Token", func(s *signing) { s.cover(`accept`, "text/html") }, Malformed},
		{"empty name", func(s *signing) { s.cover(`""`, "") }, Malformed},
		{"too many components", func(s *signing) {
			for i := range MaxComponents {
				s.request.Header[fmt.Sprintf("X-%d", i)] = []string{"v"}
				s.cover(fmt.Sprintf(`"x-%d"`, i), "v")
			}
		}, TooLarge},
		{"base too long", func(s *signing) {
			half := strings.Repeat("a", MaxBase/2)
			s.request.Header["X-A"], s.request.Header["X-B"] = []string{half}, []string{half}
			s.cover(`"x-a"`, half)
			s.cover(`"x-b"`, half)
		}, TooLarge},
		{"component too long", func(s *signing) {
			s.request.Header.Set("Accept", strings.Repeat("a", MaxBase))
			s.cover(`"accept"`, "")
		}, TooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, s := warm(t), newSigning()
			test.change(&s)
			expect(t, f.Check(s.sign()), test.want)
			if f.origins.fetches.Load() > 1 {
				t.Error("the directory was fetched again")
			}
		})
	}
}
