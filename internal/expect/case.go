package expect

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Case is one expectation: of whether a URL may be fetched, or of what is stated about
// the use of what is found there.
type Case struct {
	UserAgent string // judged as the server does it
	Token     string // judged as exactly that product token, if there is no User-Agent
	URL       string
	Allowed   bool
	// About is the label of a category of use, such as train-ai, and Stated what is
	// expected about it; "" for an expectation of access.
	About  string
	Stated policy.Preference
	Name   string // for the report, "" for one made of the rest
	File   string
	Line   int
}

// Title returns what the case is called in a report.
func (c Case) Title() string {
	if c.Name != "" {
		return c.Name
	}
	who := c.Token
	if who == "" {
		who = c.UserAgent
	}
	return fmt.Sprintf("%s %s %s", who, c.says(c.Allowed, c.Stated), c.URL)
}

// says puts what the case is about into a word: an access or a preference.
func (c Case) says(allowed bool, stated policy.Preference) string {
	switch {
	case c.About != "":
		return c.About + "=" + stated.String()
	case allowed:
		return "allow"
	}
	return "disallow"
}

// maxLine bounds a line of a table, in bytes.
const maxLine = 1 << 20

// Read reads a table. Each line is a JSON object with "user_agent" or "token",
// "url", "expect" (allow, disallow, or a preference such as train-ai=n) and, if
// wanted, "name", or three fields separated by white space: the User-Agent or product
// token, in quotes if it has a space in it, the URL, and what is expected. A preference
// may also be written as "expect preference train-ai=n for /x", which is about *, and
// with "as GPTBot" behind it about that crawler. Empty lines and those that begin
// with # are skipped. A single word is a product token, unless it has a slash or
// a bracket in it, which no token has. The error names file and line of
// everything that cannot be read.
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
		cases = append(cases, c)
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		errs = append(errs, fmt.Errorf("%s:%d: the line has more than %d bytes; is this a table of cases?", file, number+1, maxLine))
	case err != nil:
		errs = append(errs, fmt.Errorf("%s: %w", file, err))
	case len(cases) == 0 && len(errs) == 0:
		errs = append(errs, fmt.Errorf("%s: there is no case in it; write lines such as: Googlebot /private/ disallow", file))
	}
	return cases, errors.Join(errs...)
}

func readLine(line string) (Case, error) {
	if line[0] == '{' {
		return readJSON(line)
	}
	fields, err := split(line)
	switch {
	case err != nil:
		return Case{}, err
	case len(fields) > 1 && fields[0] == "expect" && fields[1] == "preference":
		return readPreference(fields[2:])
	case len(fields) != 3:
		return Case{}, fmt.Errorf("%d fields instead of three: the User-Agent (in quotes if it has a space), the URL, and allow, disallow or a preference such as train-ai=n", len(fields))
	}
	c := Case{URL: fields[1]}
	c.setWho(fields[0])
	return c, c.expect(fields[2])
}

// setWho tells a User-Agent from a product token.
func (c *Case) setWho(who string) {
	if strings.ContainsAny(who, " /()") || who == "" {
		c.UserAgent = who
	} else {
		c.Token = who
	}
}

// readPreference reads what stands behind "expect preference".
func readPreference(fields []string) (c Case, err error) {
	switch {
	case len(fields) == 3 && fields[1] == "for":
		c.Token = "*"
	case len(fields) == 5 && fields[1] == "for" && fields[3] == "as":
		c.setWho(fields[4])
	default:
		return c, errors.New("write it as: expect preference train-ai=n for /x, with as GPTBot behind it for one crawler")
	}
	c.URL = fields[2]
	if err := c.expectPreference(fields[0]); err != nil {
		return c, err
	}
	return c, c.checkURL()
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
		return Case{}, fmt.Errorf("no JSON object with user_agent or token, url, expect and name: %w", err)
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

// expect sets what is expected, an access or a preference, and checks the URL.
func (c *Case) expect(word string) error {
	switch strings.ToLower(word) {
	case "allow", "allowed":
		c.Allowed = true
	case "disallow", "disallowed":
	default:
		if !strings.Contains(word, "=") {
			return fmt.Errorf("%.60q is neither allow nor disallow, nor a preference such as train-ai=n", word)
		}
		if err := c.expectPreference(word); err != nil {
			return err
		}
	}
	return c.checkURL()
}

// expectPreference sets what is expected to be stated.
func (c *Case) expectPreference(preference string) error {
	label, says, _ := strings.Cut(preference, "=")
	for _, use := range policy.Uses() {
		if label != use.String() {
			continue
		}
		c.About = label
		for _, c.Stated = range []policy.Preference{policy.PreferenceYes, policy.PreferenceNo, policy.PreferenceUnknown} {
			if says == c.Stated.String() {
				return nil
			}
		}
		return fmt.Errorf("the value of %s is y, n or unknown, and not %.60q", label, says)
	}
	if draft := policy.FormerLabel(label); draft != "" {
		return fmt.Errorf("%.60q is a label that %s had last; those of today are train-ai, ai-use and search", label, draft)
	}
	return fmt.Errorf("%.60q is not a preference; write train-ai, ai-use or search, with =y, =n or =unknown behind it", preference)
}

// checkURL looks whether the URL can be one.
func (c *Case) checkURL() error {
	if !strings.HasPrefix(c.URL, "/") && !strings.Contains(c.URL, "://") {
		return fmt.Errorf("%.60q is neither a URL nor a path that begins with /", c.URL)
	}
	return nil
}

// split splits a line at white space; a field may stand in double quotes, in
// which a backslash stands before a quote or a backslash.
func split(line string) (fields []string, err error) {
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
