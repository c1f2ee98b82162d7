package expect

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Case is one expectation about access to a URL, or about a preference for that URL.
type Case struct {
	Name      string `json:"name"` // for the report
	File      string `json:"file"`
	Line      int    `json:"line"`
	Token     string `json:"token,omitempty"`      // the exact product token, if there is no User-Agent
	UserAgent string `json:"user_agent,omitempty"` // identified in the same way as by the server
	URL       string `json:"url"`
	Expected  string `json:"expected"` // Allow, Disallow, or a preference such as train-ai=n
}

// Expected values of a case about access.
const (
	Allow    = "allow"
	Disallow = "disallow"
)

// Access returns the value for a URL that a crawler may or may not fetch.
func Access(allowed bool) string {
	if allowed {
		return Allow
	}
	return Disallow
}

// Preference returns the label of the expected preference, such as train-ai. ok is false for a case
// about access.
func (c *Case) Preference() (label string, ok bool) {
	label, _, ok = strings.Cut(c.Expected, "=")
	return label, ok
}

// maxLine is the maximum length of a table line, in bytes.
const maxLine = 1 << 20

// Read reads a table with one expectation per line. A line is a JSON object or three fields
// separated by white space. Read skips empty lines and lines that begin with #. The error names the
// file and the line of each invalid expectation.
//
// A JSON object has "user_agent" or "token", "url", and "expect". It may have "name". The value of
// "expect" is allow, disallow, or a preference such as train-ai=n.
//
// The three fields are the User-Agent or product token, the URL, and the expected value. A
// User-Agent with a space must be in quotes. A single word without a slash or parenthesis is a
// product token.
func Read(file string, r io.Reader) ([]Case, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), maxLine)
	var cases []Case
	var errs []error
	number := 0
	for in.Scan() {
		number++
		line := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		c, err := readLine(line)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, number, err))
			if len(errs) == 10 {
				break
			}
			continue
		}
		c.File, c.Line = file, number
		c.Name = cmp.Or(c.Name, fmt.Sprintf("%s %s %s", cmp.Or(c.Token, c.UserAgent), c.Expected, c.URL))
		cases = append(cases, c)
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		errs = append(errs, fmt.Errorf("%s:%d: the line has more than %d bytes; is this a table of cases?", file, number+1, maxLine))
	case err != nil:
		errs = append(errs, fmt.Errorf("%s: %w", file, err))
	case len(cases) == 0 && len(errs) == 0:
		errs = append(errs, fmt.Errorf("%s: the file has no cases; write lines such as: Googlebot /private/ disallow", file))
	}
	return cases, errors.Join(errs...)
}

func readLine(line string) (Case, error) {
	if line[0] == '{' {
		return readJSON(line)
	}
	fields, err := splitFields(line)
	switch {
	case err != nil:
		return Case{}, err
	case len(fields) != 3:
		return Case{}, fmt.Errorf("%d fields instead of three: the User-Agent (in quotes if it has a space), the URL, and allow, disallow or a preference such as train-ai=n", len(fields))
	}
	c := Case{URL: fields[1]}
	if strings.ContainsAny(fields[0], " /()") || fields[0] == "" {
		c.UserAgent = fields[0]
	} else {
		c.Token = fields[0]
	}
	return c, c.expect(fields[2])
}

func readJSON(line string) (Case, error) {
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
	c := Case{Token: row.Token, URL: row.URL, Name: row.Name}
	switch {
	case row.UserAgent != nil && row.Token != "":
		return c, errors.New(`both "user_agent" and "token" are given; leave out one`)
	case row.UserAgent != nil:
		c.UserAgent = *row.UserAgent
	case row.Token == "":
		return c, errors.New(`neither "user_agent" nor "token" is given`)
	}
	return c, c.expect(row.Expect)
}

// expect sets the expected access or preference, and checks the URL.
func (c *Case) expect(word string) error {
	switch strings.ToLower(word) {
	case "allow", "allowed":
		c.Expected = Allow
	case "disallow", "disallowed":
		c.Expected = Disallow
	default:
		if !strings.Contains(word, "=") {
			return fmt.Errorf("%.60q is not allow, disallow or a preference such as train-ai=n", word)
		}
		if err := checkPreference(word); err != nil {
			return err
		}
		c.Expected = word
	}
	return c.checkURL()
}

// checkPreference returns an error for an invalid preference.
func checkPreference(preference string) error {
	label, value, _ := strings.Cut(preference, "=")
	for _, use := range policy.Uses() {
		if label != use.String() {
			continue
		}
		if slices.Contains([]string{policy.PreferenceYes.String(), policy.PreferenceNo.String(), policy.PreferenceUnknown.String()}, value) {
			return nil
		}
		return fmt.Errorf("the value of %s is %.60q; write y, n or unknown", label, value)
	}
	if draft := policy.FormerLabel(label); draft != "" {
		return fmt.Errorf("%.60q is a label from %s; the current labels are train-ai, ai-use and search", label, draft)
	}
	return fmt.Errorf("%.60q is not a preference; write train-ai, ai-use or search, followed by =y, =n or =unknown", preference)
}

// checkURL returns an error for an invalid URL.
func (c *Case) checkURL() error {
	if !strings.HasPrefix(c.URL, "/") && !strings.Contains(c.URL, "://") {
		return fmt.Errorf("%.60q is neither a URL nor a path that begins with /", c.URL)
	}
	return nil
}

// splitFields splits a line at white space. A field may be in double quotes. In quotes, a backslash
// escapes a quote or a backslash.
func splitFields(line string) (fields []string, err error) {
	for line != "" {
		if line[0] != '"' {
			i := strings.IndexAny(line, " \t")
			if i < 0 {
				i = len(line)
			}
			fields = append(fields, line[:i])
			line = strings.TrimLeft(line[i:], " \t")
			continue
		}
		var field strings.Builder
		i := 1
		for ; i < len(line) && line[i] != '"'; i++ {
			if line[i] == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\') {
				i++
			}
			field.WriteByte(line[i])
		}
		if i >= len(line) {
			return nil, errors.New("a quote is not closed")
		}
		if i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
			return nil, errors.New("a quote has to end a field")
		}
		fields = append(fields, field.String())
		line = strings.TrimLeft(line[i+1:], " \t")
	}
	return fields, nil
}
