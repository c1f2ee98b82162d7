package logformat

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzLine feeds every parser: no line makes one panic, keep anything or claim
// more than there is.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a\x22 HTTP/1.1" 200 5 "-" "x\"y"`,
		`a.example:80 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`,
		`{"ts":1795275413.5,"request":{"uri":"/a","method":"GET","headers":{"User-Agent":["x\u0022"]}},"status":200}`,
		`{"ClientRequestURI":"/a?b","EdgeStartTimestamp":"2026-11-21T15:36:53Z"}`, `{"a":}`,
		"2026-11-21 15:36:53 192.0.2.1 GET /a b Mozilla/5.0+(x;++http://x) 200",
		"2026-11-21\t15:36:53\t192.0.2.1\tGET\t/a\tb%20\tx%2520y\t200",
		"#Fields: date time", `"\`, "{\"a\":\"\\", "1795275413.712\t/a",
	} {
		f.Add([]byte(line))
	}
	formats := append([]*Format(nil), knownFormats...)
	for _, name := range []string{"w3c", "cloudfront", "$msec\t$request_uri", `%{sec}t "%r" %{Host}i "%{User-Agent}i"`} {
		format, err := Parse(name)
		if err != nil {
			f.Fatal(err)
		}
		formats = append(formats, format)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, format := range formats {
			p := format.Parser()
			if w3c, ok := p.(*w3cParser); ok {
				w3c.take([]byte("#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query cs(User-Agent) sc-status"))
			}
			var r Record
			before := string(line)
			what, why := p.Parse(line, &r)
			if (why != "") != (what == Malformed) {
				t.Fatalf("%s: outcome %d, %q", format.Name, what, why)
			}
			for _, part := range [][]byte{r.Method, r.Target, r.Host, r.Port, r.UserAgent, r.Client} {
				if len(part) > len(line)+1 {
					t.Fatalf("%s: %q is longer than the line", format.Name, part)
				}
			}
			if what == Request && len(r.Target) > 0 && r.Target[0] != '/' && !strings.Contains(string(r.Target), "://") {
				t.Fatalf("%s: target %q", format.Name, r.Target)
			}
			if string(line) != before {
				t.Fatalf("%s changed the line", format.Name)
			}
			first := r.parsed()
			if again, _ := p.Parse(line, &r); again != what || what == Request && r.parsed() != first {
				t.Fatalf("%s: another result the second time", format.Name)
			}
		}
	})
}

// FuzzJSON compares the cursor with encoding/json: what that takes for a
// Cloudflare record is read the same.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"ClientRequestURI":"/a\u00fc\ud83d\ude00\n\"","ClientRequestUserAgent":"x","a":[{"b":"]}"}],"c":null,"d":1e5}`))
	f.Add([]byte(` { "ClientRequestURI" : "/\/" } `))
	f.Fuzz(func(t *testing.T, line []byte) {
		var want struct {
			URI   *string `json:"ClientRequestURI"`
			Agent *string `json:"ClientRequestUserAgent"`
		}
		if json.Unmarshal(line, &want) != nil || want.URI == nil || want.Agent == nil || len(*want.URI) == 0 || (*want.URI)[0] != '/' {
			return
		}
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(line, &fields)
		if fields["ClientRequestURI"] == nil || fields["ClientRequestUserAgent"] == nil || fields["EdgeStartTimestamp"] != nil {
			return // keys in another case, which encoding/json takes
		}
		for key := range fields {
			if key != "ClientRequestURI" && strings.EqualFold(key, "ClientRequestURI") || key != "ClientRequestUserAgent" && strings.EqualFold(key, "ClientRequestUserAgent") || strings.ContainsRune(key, '\ufffd') {
				return
			}
		}
		if bytes.Count(line, []byte(`"ClientRequestURI"`)) != 1 || bytes.Count(line, []byte(`"ClientRequestUserAgent"`)) != 1 || escapedKey(line) {
			return
		}
		var p cloudflareParser
		var r Record
		what, why := p.Parse(line, &r)
		if what != Request {
			t.Fatalf("%q: %d, %s", line, what, why)
		}
		if got := replaced(string(r.Target)); got != *want.URI {
			t.Errorf("%q: target %q, want %q", line, got, *want.URI)
		}
		if got := replaced(string(r.UserAgent)); got != *want.Agent && *want.Agent != "" {
			t.Errorf("%q: User-Agent %q, want %q", line, got, *want.Agent)
		}
	})
}

// escapedKey reports whether a key of an object has escapes: here keys are
// compared as they are written.
func escapedKey(line []byte) bool {
	c := jsonCursor{b: line}
	c.object()
	for {
		key, more, ok := c.key()
		if !more || !ok {
			return false
		}
		if bytes.IndexByte(key, '\\') >= 0 {
			return true
		}
		c.value()
	}
}
