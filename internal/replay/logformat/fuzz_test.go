package logformat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzLine parses any line with every parser. No line causes a panic, changes the line, affects a
// later result, or yields a field longer than the line.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a\x22 HTTP/1.1" 200 5 "-" "x\"y"`,
		`a.example:80 192.0.2.1 - - [21/Nov/2026:15:36:53 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"`,
		`{"ts":1795275413.5,"request":{"uri":"/a","method":"GET","headers":{"User-Agent":["x\u0022"]}},"status":200}`,
		`{"RequestPath":"/a?b","StartUTC":"2026-11-21T15:36:53Z","request_User-Agent":"x"}`, `{"a":}`,
		`{"msec":1795275413.712,"request":"GET /a HTTP/1.1","http_user_agent":"x"}`,
		`"\`, "{\"a\":\"\\",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, format := range slices.Concat(textFormats, jsonFormats[:]) {
			p := format.NewParser()
			var r Record
			before := string(line)
			what, why := p.Parse(line, &r)
			if (why != "") != (what == Malformed) {
				t.Fatalf("%s: outcome %d, %q", format.Name, what, why)
			}
			for _, part := range [][]byte{r.Method, r.Target, r.Host, r.UserAgent, r.Client} {
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

// FuzzJSON compares the cursor with encoding/json for lines of nginx.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"request_uri":"/a\u00fc\ud83d\ude00\n\"","http_user_agent":"x","a":[{"b":"]}"}],"c":null,"d":1e5}`))
	f.Add([]byte(` { "request_uri" : "/\/" } `))
	f.Fuzz(func(t *testing.T, line []byte) {
		var want struct {
			URI   *string `json:"request_uri"`
			Agent *string `json:"http_user_agent"`
		}
		if json.Unmarshal(line, &want) != nil || want.URI == nil || want.Agent == nil || len(*want.URI) == 0 || (*want.URI)[0] != '/' {
			return
		}
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(line, &fields)
		if fields["request_uri"] == nil || fields["http_user_agent"] == nil || hasOtherFields(fields) {
			return // encoding/json ignores the case of keys
		}
		for key := range fields {
			if key != "request_uri" && strings.EqualFold(key, "request_uri") || key != "http_user_agent" && strings.EqualFold(key, "http_user_agent") || strings.ContainsRune(key, '\ufffd') {
				return
			}
		}
		if bytes.Count(line, []byte(`"request_uri"`)) != 1 || bytes.Count(line, []byte(`"http_user_agent"`)) != 1 || escapedKey(line) {
			return
		}
		var p jsonParser
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

// hasOtherFields reports whether a key names the time, the target, the User-Agent or a field of
// Caddy's log.
func hasOtherFields(fields map[string]json.RawMessage) bool {
	for key := range fields {
		switch f := fieldForLineKey([]byte(key)); f {
		case timeField, caddyTimeField, requestField, guardField, traefikTargetField:
			return true
		case targetField, agentField:
			if key != "request_uri" && key != "http_user_agent" {
				return true
			}
		}
	}
	return false
}

// escapedKey reports whether a key of an object has escapes. The parser compares keys without
// decoding.
func escapedKey(line []byte) bool {
	c := jsonCursor{data: line}
	c.consume('{')
	for {
		key, more, ok := c.readKey()
		if !more || !ok {
			return false
		}
		if bytes.IndexByte(key, '\\') >= 0 {
			return true
		}
		c.readValue()
	}
}
