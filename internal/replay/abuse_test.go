package replay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const (
	robotsTxt = "User-agent: *\nDisallow: /private/\nDisallow: /*?sort=\n\nUser-agent: GPTBot\nDisallow: /\n"
	gptBot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)"
)

var reporter = Contact{Organization: "Example Ltd", Contact: "abuse@example.com", Domain: "example.com"}

// sources returns the sources that an audit finds in a log.
func sources(t *testing.T, log string) []Source {
	t.Helper()
	report, err := Run(t.Context(), Options{
		Logs: []string{"-"}, Stdin: strings.NewReader(log), Sources: true, Workers: 2,
		Versions: []Version{{Name: "robots.txt", Body: []byte(robotsTxt)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report.Sources
}

func line(client string, second int, target, userAgent string) string {
	at := time.Date(2026, 11, 21, 9, 0, second, 0, time.UTC).Format("02/Jan/2006:15:04:05 -0700")
	return fmt.Sprintf("%s - - [%s] \"GET %s HTTP/1.1\" 200 900 \"-\" \"%s\"\n", client, at, target, userAgent)
}

func TestReport(t *testing.T) {
	var log strings.Builder
	for i := range 30 {
		log.WriteString(line("198.51.100.7", i, fmt.Sprintf("/page/%d", i), gptBot))
	}
	log.WriteString(line("198.51.100.7", 40, "/private/x", "NewBot/1.0"))
	log.WriteString(line("198.51.100.8", 41, "/list?sort=1", "NewBot/1.0"))
	log.WriteString(line("198.51.100.8", 42, "/private/y", "NewBot/1.0"))
	log.WriteString(line("198.51.100.8", 43, "/private/y", "OtherBot/1.0"))
	log.WriteString(line("198.51.100.9", 44, "/public", "NewBot/1.0"))
	log.WriteString(line("198.51.100.9", 45, "/private/y", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"))
	log.WriteString(line("198.51.100.9", 46, "/private/y", "curl/8.7.1"))
	log.WriteString(line("10.0.0.1", 47, "/private/y", gptBot))
	log.WriteString(line("203.0.113.0", 48, "/private/y", gptBot))
	all := sources(t, log.String())
	var got []string
	for i := range all {
		r, err := NewAbuseReport(&all[i], reporter)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %d %s", r.Source, r.TotalRequests, r.UserAgent))
		if r.FirstSeen.After(r.LastSeen) || !r.Timestamp.Equal(r.LastSeen) || r.RespectsRobotsTxt || r.Bytes != 900*r.TotalRequests {
			t.Errorf("%+v", r)
		}
		// A claimed name is no proof, so the report names no operator.
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		content, err := r.decodeEvidence(requestsEvidence)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(data), string(content)} {
			if strings.Contains(strings.ReplaceAll(text, "openai.com/gptbot", ""), "OpenAI") {
				t.Errorf("the operator is named: %s", text)
			}
		}
		v, err := VerifyAbuseReport(data, uaident.Default())
		if err != nil || len(v.Errors) > 0 || v.SampleCount != int(min(r.TotalRequests, 10)) {
			t.Errorf("%v, %+v", err, v)
		}
	}
	want := []string{"198.51.100.7 30 " + gptBot, "198.51.100.0/24 3 NewBot/1.0", "198.51.100.8 1 OtherBot/1.0"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if rules := all[1].Rules; len(rules) != 2 || rules[0].Rule != "Disallow: /private/" || rules[0].Requests != 2 || rules[1].Line != 3 {
		t.Errorf("%+v", rules)
	}
}

// TestLongRequests verifies reports about long targets and User-Agents, whose ends decide.
func TestLongRequests(t *testing.T) {
	long := func(n int) string { return strings.Repeat("b", n) }
	for name, tc := range map[string]struct {
		target, userAgent string
		samples           int
	}{
		"a query":                   {"/shop?f=" + long(520) + "&sort=a", "NewBot/1.0", 2},
		"a path":                    {"/" + long(7000) + "/end", "NewBot/1.0", 2},
		"a User-Agent":              {"/private/x", "Mozilla/5.0 (" + strings.Repeat("X11; ", 120) + ") (compatible; NewBot/1.0; +https://new.example/bot)", 2},
		"invalid UTF-8":             {"/caf\xe9/x", "NewBot/1.0", 2},
		"a target beyond the bound": {"/" + long(9000) + "/end", "NewBot/1.0", 1},
		"both at the bound":         {"/private/" + long(8<<10-9), "NewBot/1.0 " + long(8<<10-11), 1},
	} {
		report, err := Run(t.Context(), Options{
			Logs: []string{"-"}, Stdin: strings.NewReader(line("198.51.100.7", 1, tc.target, tc.userAgent) + line("198.51.100.7", 2, "/private/y", tc.userAgent)), Sources: true, Workers: 1,
			Versions: []Version{{Name: "robots.txt", Body: []byte("User-agent: *\nDisallow: /*&sort=\nDisallow: /*/end$\nDisallow: /private/\nDisallow: /caf%E9/\n")}},
		})
		if err != nil || len(report.Sources) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, report.Sources)
		}
		r, err := NewAbuseReport(&report.Sources[0], reporter)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		v, err := VerifyAbuseReport(data, uaident.Default())
		if err != nil || len(v.Errors) > 0 || len(v.Contradictions) > 0 || v.SampleCount != tc.samples || r.TotalRequests != 2 {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
	}
}

// TestVerifyFinds verifies incorrect reports and other files.
func TestVerifyFinds(t *testing.T) {
	s := sources(t, line("198.51.100.7", 1, "/private/x", "NewBot/1.0"))[0]
	changed := func(change func(*AbuseReport)) []byte {
		r, err := NewAbuseReport(&s, reporter)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	attached := func(r *AbuseReport, i int, from, to string) {
		content, err := base64.StdEncoding.DecodeString(r.Evidence[i].Payload)
		if err != nil {
			t.Fatal(err)
		}
		r.Evidence[i] = newEvidence(r.Evidence[i].ContentType, r.Evidence[i].Description, bytes.ReplaceAll(content, []byte(from), []byte(to)))
	}
	for name, tc := range map[string]struct {
		report []byte
		err    string
		wrong  string
	}{
		"no JSON":         {[]byte("x"), "not a report in JSON", ""},
		"another type":    {changed(func(r *AbuseReport) { r.Type = "ddos" }), "not an XARF v4 report of connection/scraping", ""},
		"a changed file":  {changed(func(r *AbuseReport) { r.Evidence[0].Payload = base64.StdEncoding.EncodeToString([]byte("x")) }), "does not match its stated hash", ""},
		"no Base64":       {changed(func(r *AbuseReport) { r.Evidence[0].Payload = "%" }), "not Base64", ""},
		"no file":         {changed(func(r *AbuseReport) { r.Evidence = r.Evidence[1:] }), "is missing", ""},
		"no samples":      {changed(func(r *AbuseReport) { attached(r, 1, "198.51.100.7", "198.51.100.7\x00") }), "cannot be read", ""},
		"an allowed path": {changed(func(r *AbuseReport) { attached(r, 1, "/private/x", "/public/x") }), "", "GET /public/x of \"NewBot/1.0\" is allowed"},
		"a browser": {changed(func(r *AbuseReport) {
			attached(r, 1, "NewBot/1.0", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		}), "", "is exempt"},
		"another address":  {changed(func(r *AbuseReport) { attached(r, 1, "198.51.100.7", "203.0.113.1") }), "", `"203.0.113.1", which is outside source_identifier 198.51.100.7`},
		"another source":   {changed(func(r *AbuseReport) { r.Source = "203.0.113.0/24" }), "", "outside source_identifier 203.0.113.0/24"},
		"its network":      {changed(func(r *AbuseReport) { r.Source = "198.51.100.0/24" }), "", ""},
		"no source":        {changed(func(r *AbuseReport) { r.Source = "x" }), "", `source_identifier "x" is not an address or a network`},
		"an early end":     {changed(func(r *AbuseReport) { r.LastSeen = r.FirstSeen.Add(-time.Second) }), "", "last_seen 2026-11-21T09:00:00Z is before first_seen 2026-11-21T09:00:01Z"},
		"a late sample":    {changed(func(r *AbuseReport) { attached(r, 1, "09:00:01Z", "09:00:02Z") }), "", "is not between first_seen and last_seen"},
		"few requests":     {changed(func(r *AbuseReport) { r.TotalRequests = 0 }), "", "total_requests is 0, but 1 requests are attached"},
		"another rule":     {changed(func(r *AbuseReport) { attached(r, 1, "/private/x", "/list?sort=x") }), "", "which the report does not name"},
		"another line":     {changed(func(r *AbuseReport) { attached(r, 1, `"line": 2`, `"line": 9`) }), "", "which the report does not name"},
		"a milder file":    {changed(func(r *AbuseReport) { attached(r, 0, "Disallow: /private/", "Disallow:") }), "", "is allowed"},
		"a right one":      {changed(func(*AbuseReport) {}), "", ""},
		"one without file": {[]byte(`{"xarf_version":"4.2.0","category":"connection","type":"scraping"}`), "is missing", ""},
	} {
		v, err := VerifyAbuseReport(tc.report, uaident.Default())
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: got %v, want %q", name, err, tc.err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			wrong := append(v.Contradictions, v.Errors...)
			if (tc.wrong == "") != (len(wrong) == 0) || tc.wrong != "" && !strings.Contains(wrong[0], tc.wrong) {
				t.Errorf("%s: got %v, want %q", name, wrong, tc.wrong)
			}
		}
	}
}

func TestParseContact(t *testing.T) {
	if c, err := ParseContact("Example Ltd <abuse@example.com>"); err != nil || c != reporter {
		t.Errorf("%+v, %v", c, err)
	}
	for _, s := range []string{"", "abuse@example.com", "Example", "Example <x>", strings.Repeat("x", 201) + " <a@b.test>"} {
		if _, err := ParseContact(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

// TestSchema validates a hundred reports about all kinds of sources by the schemas of XARF.
func TestSchema(t *testing.T) {
	core, scraping := readSchema(t, "xarf-core.json"), readSchema(t, "connection-scraping.json")
	var log strings.Builder
	for i := range 100 {
		client := fmt.Sprintf("198.51.%d.%d", i, 1+i%200)
		if i%5 == 0 {
			client = fmt.Sprintf("2001:db8:%x::%x", i, i+1)
		}
		for n := range 1 + i%12 {
			if i%7 == 0 {
				client = fmt.Sprintf("198.51.%d.%d", i, 1+n)
			}
			log.WriteString(line(client, n, "/private/"+strings.Repeat("ä\\x22", i*3), []string{gptBot, "NewBot/1.0", "Spider-" + strings.Repeat("x", i*9) + "/1.0 (bot)"}[i%3]))
		}
	}
	all := sources(t, log.String())
	if len(all) != 100 {
		t.Fatalf("%d sources", len(all))
	}
	ids := make(map[string]bool)
	for i := range all {
		r, err := NewAbuseReport(&all[i], reporter)
		if err != nil {
			t.Fatal(err)
		}
		ids[r.ID] = true
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatal(err)
		}
		c := checker{core: core, known: map[string]bool{}}
		for _, wrong := range c.check("report", scraping, scraping, value) {
			t.Errorf("report %d: %s", i, wrong)
		}
		for field := range value.(map[string]any) {
			if !c.known[field] {
				t.Errorf("%s is no field of the schemas", field)
			}
		}
	}
	if len(ids) != 100 {
		t.Errorf("%d IDs of 100 reports", len(ids))
	}
}

// TestSchemaCheckerFinds checks that the checker of TestSchema finds errors.
func TestSchemaCheckerFinds(t *testing.T) {
	core, scraping := readSchema(t, "xarf-core.json"), readSchema(t, "connection-scraping.json")
	s := sources(t, line("198.51.100.7", 1, "/private/x", "NewBot/1.0"))[0]
	for field, value := range map[string]any{
		"xarf_version": "3", "report_id": "x", "timestamp": "yesterday", "category": "content", "protocol": "icmp", "total_requests": 0,
		"reporter": map[string]any{"org": "x"}, "tags": []any{"No tag"}, "description": strings.Repeat("x", 1001), "first_seen": nil,
		"evidence": []any{map[string]any{"content_type": "text/plain", "payload": "", "more": 1}},
	} {
		r, err := NewAbuseReport(&s, reporter)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		if all[field] = value; value == nil {
			delete(all, field)
		}
		data, _ = json.Marshal(all)
		var changed any
		_ = json.Unmarshal(data, &changed)
		c := checker{core: core, known: map[string]bool{}}
		if len(c.check("report", scraping, scraping, changed)) == 0 {
			t.Errorf("%s: %v passes", field, value)
		}
	}
}
