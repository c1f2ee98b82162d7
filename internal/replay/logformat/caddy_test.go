package logformat

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestCaddyLinesBesideOthers parses lines with one parser, which caches the previous line, and with
// a new parser each. The results are equal.
func TestCaddyLinesBesideOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	any := func(of ...string) string { return of[random.IntN(len(of))] }
	line := func() string {
		var header []string
		for _, name := range []string{"Accept", "User-Agent", "Referer", "Cookie"} {
			if random.IntN(3) > 0 {
				header = append(header, fmt.Sprintf(`"%s":%s`, name, any(`["a"]`, `["a","b"]`, `["a\"]"]`, `[ "a" ]`, `[]`, `"a"`, `["Bot/1.0"`, `["a",["b"]]`, `null`, `7`)))
			}
		}
		random.Shuffle(len(header), func(i, j int) { header[i], header[j] = header[j], header[i] })
		request := []string{
			`"client_ip":"192.0.2.7"`, `"uri":` + any(`"/a"`, `"/a\"b"`, `"/a\\"`, `{"x":1}`), `"method":` + any(`"GET"`, `"PO\u0053T"`),
			any(`"host":"example.com"`, `"hos":"x"`, `"h\"ost":"x"`, `"host" : "example.com"`, `"":0`),
			`"headers":{` + strings.Join(header, any(",", " , ")) + `}`, `"tls":` + any(`{"proto":"h2"}`, `{"proto":"h2","x":[{}]}`, `{"proto":"h2}"}`, `[1]`, `{`),
		}
		if random.IntN(4) == 0 {
			random.Shuffle(len(request), func(i, j int) { request[i], request[j] = request[j], request[i] })
		}
		text := fmt.Sprintf(`{"ts":%d.5,"logger":"http.log.access",%s"request":{%s},"size":%d,"status":%s,"resp_headers":%s}`, random.IntN(9), any("", ` "extra" :[1,2], `, `"request":7,`),
			strings.Join(request[random.IntN(3):], ","), random.IntN(9), any("200", "404", `"200"`), any(`{}`, `{"Server":["Caddy"]}`, `{"Server":["Caddy"],"Vary":["a"]}`, `{"S":"\\"}`))
		if random.IntN(8) == 0 {
			text = text[:random.IntN(len(text))]
		}
		return text
	}
	var same jsonParser
	requests := 0
	for i := range 20000 {
		text := []byte(line())
		var want, got Record
		wantWhat, wantWhy := new(jsonParser).Parse(bytes.Clone(text), &want)
		gotWhat, gotWhy := same.Parse(text, &got)
		if gotWhat != wantWhat || gotWhy != wantWhy || !reflect.DeepEqual(got, want) {
			t.Fatalf("line %d, %s:\n%v %q %+v,\nby itself %v %q %+v", i, text, gotWhat, gotWhy, got, wantWhat, wantWhy, want)
		}
		if gotWhat == Request {
			requests++
		}
	}
	if requests < 1000 {
		t.Errorf("%d requests were read, which says little", requests)
	}
}

// TestGuarded recognises responses of a robots_guard in Caddy's log.
func TestGuarded(t *testing.T) {
	var p jsonParser
	for guard, want := range map[string]bool{
		`{"verdict":"disallowed","action":"blocked","line":2}`:                       true,
		` { "action" : "slowed" } `:                                                  true,
		`{"verdict":"disallowed","action":"logged"}`:                                 false,
		`{"verdict":"allowed","action":"none","crawler":"x\",\"action\":\"blocked"}`: false,
		`{"crawler":"blocked","of":{"action":"blocked"}}`:                            false,
		`{}`: false, `null`: false, `"blocked"`: false,
	} {
		for range 2 { // the second time with a cached line
			var r Record
			line := `{"ts":1,"logger":"http.log.access.log0","request":{"uri":"/"},"status":429,"robots_guard":` + guard + `}`
			if what, why := p.Parse([]byte(line), &r); what != Request || r.AnsweredByGuard != want {
				t.Errorf("%s: %d %s, %v, want %v", guard, what, why, r.AnsweredByGuard, want)
			}
		}
	}
	var r Record
	for _, cut := range []string{`{"action"`, `{"action":"blocked"`, `{"action":`} {
		if what, _ := p.Parse([]byte(`{"request":{"uri":"/"},"status":429,"robots_guard":`+cut), &r); what != Malformed {
			t.Errorf("%s is read as %d", cut, what)
		}
	}
}

// TestObjectsElsewhere parses lines with Caddy's objects in unusual places.
func TestObjectsElsewhere(t *testing.T) {
	var p jsonParser
	for _, line := range []string{
		`{"headers":{"User-Agent":["x"]},"request":{"uri":"/a","request":{"uri":"/b"},"robots_guard":{"action":"blocked"}},"status":200}`,
		`{"request":{"uri":"/a","headers":null},"status":200,"headers":1}`,
		`{"robots_guard":[{"action":"blocked"}],"request":{"uri":"/a","action":"blocked"},"status":200,"action":"blocked"}`,
	} {
		for range 2 { // the second time with a cached line
			var r Record
			if what, why := p.Parse([]byte(line), &r); what != Request || string(r.Target) != "/a" || r.UserAgent != nil || r.AnsweredByGuard {
				t.Errorf("%s: %d %s, target %q, User-Agent %q, %v", line, what, why, r.Target, r.UserAgent, r.AnsweredByGuard)
			}
		}
	}
}
