package logformat

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// readHeaders returns the User-Agent that a parser finds in a request header, and whether the line
// is valid.
func readHeaders(p *jsonParser, headers string) (userAgent string, ok bool) {
	var r Record
	what, _ := p.Parse([]byte(`{"request":{"uri":"/a","headers":`+headers+`},"status":200}`), &r)
	return string(r.UserAgent), what == Request
}

// compareWithJSON compares the parser with encoding/json. It returns false if encoding/json
// disagrees about the type of the line.
func compareWithJSON(t *testing.T, headers string) bool {
	t.Helper()
	var want map[string][]string
	if json.Unmarshal([]byte(headers), &want) != nil || strings.Contains(headers, `\u`) {
		return false
	}
	if slices.Contains(want["User-Agent"], "") || countKeys(headers, "User-Agent") > 1 {
		return false
	}
	userAgent, ok := readHeaders(new(jsonParser), headers)
	if !ok || replaced(userAgent) != strings.Join(want["User-Agent"], ", ") {
		t.Fatalf("%s: read %q, %v", headers, userAgent, ok)
	}
	return true
}

// countKeys counts the occurrences of a key in an object.
func countKeys(object, key string) (n int) {
	d := json.NewDecoder(strings.NewReader(object))
	_, _ = d.Token() // the brace
	for d.More() {
		if token, _ := d.Token(); token == key {
			n++
		}
		var value json.RawMessage
		_ = d.Decode(&value)
	}
	return n
}

// TestOddHeaders parses headers with duplicate keys and with irregular spaces. The last duplicate
// with a value wins.
func TestOddHeaders(t *testing.T) {
	for headers, want := range map[string]string{
		`{"User-Agent":["a"],"User-Agent":["b"]}`:          "b",
		`{"User-Agent":["a"],"User-Agent":[],"A":["x"]}`:   "a",
		`{"User-Agent":["a"],"A":["x"],"User-Agent":null}`: "a",
		`{"User-Agent" :["a"]}`:                            "a",
		`{"User-Agent": ["a"]}`:                            "a",
		`{"A":["x"], "User-Agent":["a"]}`:                  "a",
	} {
		if got, ok := readHeaders(new(jsonParser), headers); got != want || !ok {
			t.Errorf("%s: %q, %v, want %q", headers, got, ok, want)
		}
	}
}

// TestHeadersBesideJSON combines parts that could hide the end of an object or the place of a key.
func TestHeadersBesideJSON(t *testing.T) {
	parts := []string{`]}`, `","User-Agent`, `","Referer","`, `{`, `}`, `[`, `]`, `,`, `:`, `\"`, `\\`, `User-Agent`, `Referer`, ` `, `a`, `\"User-Agent\":[\"b\"]`, `\"]}`}
	random := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		var b strings.Builder
		for range random.IntN(4) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		return b.String()
	}
	read, flat := 0, 0
	for range 60000 {
		space := ""
		if random.IntN(8) == 0 {
			space = " "
		}
		var members []string
		for _, key := range []string{"User-Agent", "Referer", "A" + text(), text()} {
			if random.IntN(3) == 0 {
				continue
			}
			values := `"` + text() + `"`
			if random.IntN(4) == 0 {
				values += "," + space + `"` + text() + `"`
			}
			if random.IntN(16) == 0 {
				values = ""
			}
			members = append(members, `"`+key+`"`+space+`:`+space+`[`+space+values+space+`]`)
		}
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		headers := "{" + space + strings.Join(members, space+","+space) + space + "}"
		if !compareWithJSON(t, headers) {
			continue
		}
		read++
		if c := (jsonCursor{data: []byte(headers)}); c.skipFlat() {
			flat++
		}
	}
	if read < 15000 || flat < 1500 || read-flat < 1500 {
		t.Errorf("%d were compared, of which %d are skipped as a whole", read, flat)
	}
}

// FuzzHeaders compares parsed request headers with encoding/json.
func FuzzHeaders(f *testing.F) {
	f.Add(`{"Accept":["*/*"],"User-Agent":["x \"y\"","z"],"Referer":["https://a.example/"]}`)
	f.Add(`{"A":["]}"],"User-Agent":["x"]}`)
	f.Add(`{"A":["a","]}"],"User-Agent" : [ "x" ] }`)
	f.Fuzz(func(t *testing.T, headers string) { compareWithJSON(t, headers) })
}
