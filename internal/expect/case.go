package expect

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Case is one expectation.
type Case struct {
	UserAgent string // judged as the server does it
	Token     string // judged as exactly that product token, if there is no User-Agent
	URL       string
	Allowed   bool
	Name      string // for the report, "" for one made of the rest
	File      string
	Line      int
}

// Title returns what the case is called in a report.
func (c Case) Title() string {
	if c.Name != "" {
		return c.Name
	}
	who, word := c.Token, "disallow"
	if who == "" {
		who = c.UserAgent
	}
	if c.Allowed {
		word = "allow"
	}
	return fmt.Sprintf("%s %s %s", who, word, c.URL)
}

// maxLine bounds a line of a table, in bytes.
const maxLine = 1 << 20

// Read reads a table. Each line is a JSON object with "user_agent" or "token",
// "url", "expect" ("allow" or "disallow") and, if wanted, "name", or three fields
// separated by white space: the User-Agent or product token, in quotes if it has
// a space in it, the URL, and allow or disallow. Empty lines and those that begin
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
	case len(fields) != 3:
		return Case{}, fmt.Errorf("%d fields instead of three: the User-Agent (in quotes if it has a space), the URL, and allow or disallow", len(fields))
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

// expect sets what is expected and checks the URL.
func (c *Case) expect(word string) error {
	switch strings.ToLower(word) {
	case "allow", "allowed":
		c.Allowed = true
	case "disallow", "disallowed":
	default:
		return fmt.Errorf("%.60q is neither allow nor disallow", word)
	}
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
