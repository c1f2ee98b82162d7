package explain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Case is a test case for a robots.txt: a client, a URL, and the expected verdict or preference.
type Case struct {
	Name      string `json:"name"` // Name is the name of the case in the report.
	File      string `json:"file"`
	Line      int    `json:"line"`
	Token     string `json:"token,omitempty"`      // Token is the exact product token, if there is no User-Agent.
	UserAgent string `json:"user_agent,omitempty"` // UserAgent is identified in the same way as by the server.
	URL       string `json:"url"`
	Expected  string `json:"expected"` // Expected is Allow, Disallow, or a preference, for example train-ai=n.
}

// These are the expected values of a case about access.
const (
	Allow    = "allow"
	Disallow = "disallow"
)

// FormatAccess returns Allow if allowed is true, otherwise Disallow.
func FormatAccess(allowed bool) string {
	if allowed {
		return Allow
	}
	return Disallow
}

// ReadCases reads a table with one test case per line. A line is a JSON object or three fields
// separated by white space. Empty lines and lines with a leading # are skipped. The error names the
// file and the line of each of the first ten invalid cases. A table without cases is an error.
//
// A JSON object has "user_agent" or "token", "url", and "expect". It may have "name". The value of
// "expect" is allow, disallow, or a preference, for example train-ai=n.
//
// The three fields are the User-Agent or product token, the URL, and the expected value. A
// User-Agent with a space must be in quotes. A single word without a slash or parenthesis is a
// product token.
func ReadCases(file string, table []byte) ([]Case, error) {
	var cases []Case
	var errs []error
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(table), "\ufeff")) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		c, err := parseCase(line)
		if err != nil {
			if errs = append(errs, fmt.Errorf("%s:%d: %w", file, number, err)); len(errs) == 10 {
				break
			}
			continue
		}
		c.File, c.Line = file, number
		c.Name = cmp.Or(c.Name, fmt.Sprintf("%s %s %s", cmp.Or(c.Token, c.UserAgent), c.Expected, c.URL))
		cases = append(cases, c)
	}
	if len(cases) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s: the file has no cases; write lines such as: Googlebot /private/ disallow", file))
	}
	return cases, errors.Join(errs...)
}

func parseCase(line string) (Case, error) {
	if line[0] == '{' {
		return parseJSONCase(line)
	}
	fields, err := splitFields(line)
	switch {
	case err != nil:
		return Case{}, err
	case len(fields) != 3:
		return Case{}, fmt.Errorf("%d fields instead of three: the User-Agent (in quotes if it has a space), the URL, and allow, disallow or a preference, for example train-ai=n", len(fields))
	}
	c := Case{URL: fields[1]}
	if strings.ContainsAny(fields[0], " /()") || fields[0] == "" {
		c.UserAgent = fields[0]
	} else {
		c.Token = fields[0]
	}
	return c, c.setExpected(fields[2])
}

func parseJSONCase(line string) (Case, error) {
	var row struct {
		UserAgent *string `json:"user_agent"`
		Token     string  `json:"token"`
		URL       string  `json:"url"`
		Expect    string  `json:"expect"`
		Name      string  `json:"name"`
	}
	dec := json.NewDecoder(strings.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&row); err != nil {
		return Case{}, fmt.Errorf("not a JSON object with user_agent or token, url, expect and name: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Case{}, errors.New("text after the JSON object; write each case in its own line")
	}
	c := Case{Token: row.Token, URL: row.URL, Name: row.Name}
	switch {
	case row.UserAgent != nil && row.Token != "":
		return c, errors.New(`both "user_agent" and "token" are given; leave out one`)
	case row.UserAgent != nil:
		c.UserAgent = *row.UserAgent
	case row.Token == "":
		return c, errors.New(`neither "user_agent" nor "token" is given; give one`)
	}
	return c, c.setExpected(row.Expect)
}

// setExpected sets Expected to the parsed word. setExpected returns an error for an unknown word,
// and if c.URL is neither a URL nor a path.
func (c *Case) setExpected(word string) error {
	switch strings.ToLower(word) {
	case "allow", "allowed":
		c.Expected = Allow
	case "disallow", "disallowed":
		c.Expected = Disallow
	default:
		if !isPreference(word) {
			return fmt.Errorf("%.60q is not allow, disallow or a preference; write train-ai, ai-use or search, followed by =y, =n or =unknown", word)
		}
		c.Expected = word
	}
	if !strings.HasPrefix(c.URL, "/") && !strings.Contains(c.URL, "://") {
		return fmt.Errorf("%.60q is neither a URL nor a path that begins with /", c.URL)
	}
	return nil
}

// isPreference reports whether a word is a preference such as train-ai=n.
func isPreference(word string) bool {
	label, value, _ := strings.Cut(word, "=")
	isLabel := slices.ContainsFunc(policy.AllUses(), func(u policy.Use) bool { return u.String() == label })
	return isLabel && slices.Contains([]string{policy.PreferenceYes.String(), policy.PreferenceNo.String(), policy.PreferenceUnknown.String()}, value)
}

// splitFields splits a line into fields at white space. A field in double quotes may contain
// spaces, and escapes as in Go.
func splitFields(line string) (fields []string, err error) {
	for line != "" {
		end := strings.IndexAny(line+" ", " \t")
		field := line[:end]
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, errors.New("a quote is not closed, or has an unknown escape")
			}
			end = len(quoted)
			field, _ = strconv.Unquote(quoted) // This never fails for a quoted prefix.
		}
		fields = append(fields, field)
		line = strings.TrimLeft(line[end:], " \t")
	}
	return fields, nil
}

// CaseResult is the result of a test case.
type CaseResult struct {
	Case
	Passed bool   `json:"ok"` // Passed is true if Actual is the expected value.
	Actual string `json:"got"`
	// DecisiveLine is the deciding line of robots.txt, or the reason why there is none.
	DecisiveLine string `json:"because"`
	Note         string `json:"note,omitempty"` // Note is a remark about the identification of the client.
}

// Request returns the request that the case describes.
func (c *Case) Request() Request {
	return Request{UserAgent: c.UserAgent, Token: c.Token, URL: c.URL}
}

// Judge returns the verdict of a robots.txt on the case. Passed stays false, see [CaseReport.Add].
// The overlay has the crawler names that only the robots.txt defines.
func (c *Case) Judge(robots *policy.Robots, overlay *uaident.Overlay) CaseResult {
	v := (&Site{Registry: uaident.Default()}).Judge(robots, overlay, c.Request())
	r := CaseResult{Case: *c, Actual: FormatAccess(v.Allowed)}
	label, _, isPreference := strings.Cut(c.Expected, "=")
	switch {
	case isPreference:
		preference, because := v.findPreference(label)
		r.Actual, r.DecisiveLine = label+"="+preference.String(), because
	case v.reason == judge.ReasonAmbiguous:
		r.DecisiveLine = v.reason.String()
	case v.Rule != "":
		r.DecisiveLine = fmt.Sprintf("%s in line %d of group %s", v.Rule, v.Line, v.Group)
	case v.reason == judge.ReasonNoRule:
		r.DecisiveLine = "no rule of group " + v.Group + " matches"
	case v.reason == judge.ReasonClass, v.reason == judge.ReasonBrowser:
		r.DecisiveLine = "class " + v.Class + " is not judged"
	default:
		r.DecisiveLine = v.reason.String()
	}
	return r
}

// findPreference returns the preference for a use, such as train-ai, and the lines that state it,
// in words.
func (v *Verdict) findPreference(label string) (preference policy.Preference, statedBy string) {
	use := slices.IndexFunc(policy.AllUses(), func(u policy.Use) bool { return u.String() == label })
	if v.Verdict != judge.Allowed.String() {
		return policy.PreferenceUnknown, "preferences do not apply to a URL that is " + v.Verdict
	}
	for _, line := range v.statements {
		preference = preference.Combine(line.Preferences[use])
	}
	var lines []string
	for _, line := range v.statements {
		if preference == policy.PreferenceUnknown || line.Preferences[use] == preference {
			lines = append(lines, fmt.Sprintf("%s in line %d", line.Source, line.Line))
		}
	}
	if len(lines) == 0 {
		return preference, "no line has a preference for the URL"
	}
	return preference, strings.Join(lines[:min(len(lines), 10)], ", ")
}

// CaseReport has the results of all test cases.
type CaseReport struct {
	Passed int          `json:"passed"`
	Failed int          `json:"failed"`
	Cases  []CaseResult `json:"cases"`
}

// Add adds a result, and sets its Passed by comparing Actual with Expected.
func (r *CaseReport) Add(result CaseResult) {
	if result.Passed = result.Actual == result.Expected; result.Passed {
		r.Passed++
	} else {
		r.Failed++
	}
	r.Cases = append(r.Cases, result)
}

// WriteText writes the report in the Test Anything Protocol, version 13. WriteText ignores errors
// of the writer, which a [text.Terminal] stores.
func (r *CaseReport) WriteText(w io.Writer) {
	fmt.Fprintf(w, "TAP version 13\n1..%d\n", len(r.Cases))
	escape := strings.NewReplacer(`\`, `\\`, "#", `\#`) // A # could start a directive such as TODO.
	for i, c := range r.Cases {
		word := "ok"
		if !c.Passed {
			word = "not ok"
		}
		fmt.Fprintf(w, "%s %d - %s\n", text.Colorize(w, word), i+1, escape.Replace(text.Printable(c.Name)))
		if !c.Passed {
			fmt.Fprintf(w, "  ---\n  at: %q\n  expected: %s\n  got: %s\n  because: %q\n  ...\n", fmt.Sprintf("%s:%d", c.File, c.Line), c.Expected, c.Actual, c.DecisiveLine)
		}
		if c.Note != "" {
			fmt.Fprintf(w, "# %s\n", text.Printable(c.Note))
		}
	}
}
