package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// robotsFile is a robots.txt that an argument or flag of a command names.
type robotsFile struct {
	name string // name is the argument. The argument - means standard input.
	body []byte // body has at most policy.MaxSize+1 bytes.
	site string // site is the scheme and host of a URL, or "" for a file.
	// isMissing means that the status of the response, for example 404, says that there is no
	// robots.txt, so nothing is restricted. status is the HTTP status, or 0 without a response.
	isMissing bool
	status    int
	rules     *policy.Robots // The method [robotsFile.parse] sets rules.
	note      string         // note says that the file restricts nothing, or is "". The method parse sets it.
}

// readInput reads a robots.txt from a file, from a URL, or from standard input for -. A URL without
// a path means its /robots.txt.
func (c *Config) readInput(ctx context.Context, stdin io.Reader, name string) (in *robotsFile, err error) {
	in = &robotsFile{name: name}
	if isURL(name) {
		err = in.fetch(ctx, c)
	} else {
		in.body, err = readFile(stdin, name, policy.MaxSize)
	}
	if err == nil && isBinary(in.body) {
		err = fmt.Errorf("%s is a binary file; give a robots.txt", name)
	}
	return in, err
}

// readVersions returns the versions of a robots.txt in a directory, for one host or several hosts,
// or the only version in a file or at a URL. site is the scheme and host of the URL, otherwise "".
func (c *Config) readVersions(ctx context.Context, name string) (versions []replay.Version, site string, err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		versions, err = replay.ReadVersions(name)
		return versions, "", err
	}
	in, err := c.readInput(ctx, nil, name)
	if err == nil {
		err = in.parse()
	}
	if err != nil {
		return nil, "", err
	}
	return []replay.Version{{Name: in.name, Body: in.body}}, in.site, nil
}

// checkURLOrPath returns an error if an argument is neither a path nor a URL. A URL may have any
// scheme, and characters that are invalid in a URL.
func checkURLOrPath(target string) error {
	scheme, rest, _ := strings.Cut(target, ":")
	isPort := strings.IndexAny(rest, "0123456789") == 0
	switch isHTTP := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"); {
	case strings.HasPrefix(target, "/"), isHTTP && addr.AuthorityOfURL(target) != "", !isHTTP && rest != "" && !isPort:
		return nil
	}
	return fmt.Errorf("%q is neither a URL such as https://example.com/page nor a path that begins with /", target)
}

// parse sets rules and note from the body. A web page or UTF-16 is an error, because such a file
// restricts no crawler, which is a mistake.
func (in *robotsFile) parse() error {
	in.rules = policy.Parse(in.body)
	findings, _ := in.rules.Findings()
	other := false // The file has lines that are not lines of a robots.txt.
	for _, f := range findings {
		switch f.Code {
		case policy.HTML:
			return fmt.Errorf("%s is a web page, not a robots.txt; give the URL or the file of the robots.txt", in.name)
		case policy.UTF16:
			return fmt.Errorf("%s is UTF-16, which no crawler can read; save the file as UTF-8", in.name)
		case policy.LineWithoutKey, policy.UnknownKey:
			other = true
		}
	}
	switch {
	case in.isMissing:
		in.note = fmt.Sprintf("%s responds with status %d, so there is no robots.txt and nothing is restricted", in.name, in.status)
	case other && len(in.rules.Groups())+len(in.rules.Records()) == 0:
		in.note = in.name + " has no line of a robots.txt, so it allows everything; give a robots.txt"
	}
	return nil
}

// fetch sets the body, the status and the site by fetching the URL in name.
func (in *robotsFile) fetch(ctx context.Context, c *Config) error {
	u, err := url.Parse(in.name)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%s is not a URL; write https://example.com/robots.txt", in.name)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/robots.txt"
	}
	in.name, in.site = u.String(), u.Scheme+"://"+u.Host
	ctx, cancel := context.WithTimeout(ctx, 2*c.FetchTimeout)
	defer cancel()
	// Private addresses are allowed, because the user chose the URL.
	answer := site.NewURLSource(in.name, "", true).Fetch(ctx, nil)
	in.status = answer.Status
	switch answer.AccessResult() {
	case policy.Successful:
		in.body = answer.Body
		return nil
	case policy.Unavailable:
		in.isMissing = true
		return nil
	}
	if answer.Err != nil {
		return fmt.Errorf("cannot read %s: %s", in.name, report.DescribeError(answer.Err))
	}
	return fmt.Errorf("cannot read %s: the server answers %d; try again later, or save the file and give its name", in.name, answer.Status)
}

// readFile reads at most maxSize+1 bytes of a file or pipe, or of standard input for -.
func readFile(stdin io.Reader, name string, maxSize int64) ([]byte, error) {
	if name == "-" {
		body, err := io.ReadAll(io.LimitReader(stdin, maxSize+1))
		if err != nil {
			return nil, fmt.Errorf("cannot read standard input: %w", err)
		}
		return body, nil
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("file %s not found; check the name", name)
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; give a file in the directory", name)
	}
	return io.ReadAll(io.LimitReader(file, maxSize+1))
}

// isBinary reports whether more than 5 % of the first 4 KiB are control characters. UTF-16 is not
// binary, because parse reports it.
func isBinary(body []byte) bool {
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		return false
	}
	start := body[:min(len(body), 4096)]
	controls := 0
	for _, c := range start {
		if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(c)) {
			controls++
		}
	}
	return controls > 4 && controls*20 > len(start)
}

// isURL reports whether an argument begins with http:// or https://. Other arguments are file
// names.
func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// robotsReader reads and parses the robots.txt files for a command. It reads each file once.
type robotsReader struct {
	config *Config
	cmd    *cobra.Command
	files  map[string]*robotsFile
}

func newRobotsReader(config *Config, cmd *cobra.Command) *robotsReader {
	return &robotsReader{config, cmd, make(map[string]*robotsFile)}
}

// read returns the parsed robots.txt from a file, a URL, or standard input for -. A web page or
// UTF-16 is an error, because such a file restricts no crawler.
func (r *robotsReader) read(name string) (*robotsFile, error) {
	if file := r.files[name]; file != nil {
		return file, nil
	}
	file, err := r.config.readInput(r.cmd.Context(), r.cmd.InOrStdin(), name)
	if err == nil {
		err = file.parse()
	}
	if err != nil {
		return nil, err
	}
	r.files[name] = file
	return file, nil
}

// printNotes prints the notes about the files to standard error, except notes that a file does not
// exist.
func (r *robotsReader) printNotes() {
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if file := r.files[name]; file.note != "" && !file.isMissing {
			printNote(r.cmd.ErrOrStderr(), "note", file.note)
		}
	}
}
