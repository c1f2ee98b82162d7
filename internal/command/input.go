package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// robotsInput is a robots.txt that a command was given.
type robotsInput struct {
	name string // as it was given, - for standard input
	body []byte // at most policy.MaxSize+1 bytes
	site string // scheme and host of a URL, "" for a file
	// missing says that the server of the URL answers that there is none, which
	// restricts nothing; status is its answer.
	missing bool
	status  int
}

// readInput reads what an argument stands for: a file, a URL, of which
// /robots.txt is taken where it has no path, or - for standard input.
func (c *Config) readInput(ctx context.Context, stdin io.Reader, name string) (in robotsInput, err error) {
	in.name = name
	switch {
	case name == "-":
		in.body, err = io.ReadAll(io.LimitReader(stdin, policy.MaxSize+1))
		if err != nil {
			return in, fmt.Errorf("cannot read standard input: %w", err)
		}
	case isURL(name):
		err = in.fetch(ctx, c)
	default:
		in.body, err = readRobotsFile(name)
	}
	if err == nil && isBinary(in.body) {
		err = fmt.Errorf("%s is a binary file; give a robots.txt", name)
	}
	return in, err
}

// readVersions reads a directory with versions of a robots.txt, or those of
// several hosts, or one text from a file or a URL, whose site it then returns.
func (c *Config) readVersions(ctx context.Context, name string) (versions []replay.Version, site string, err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		versions, err = replay.ReadVersions(name)
		return versions, "", err
	}
	in, err := c.readInput(ctx, nil, name)
	if err == nil {
		_, err = in.rules()
	}
	if err != nil {
		return nil, "", err
	}
	return []replay.Version{{Name: in.name, Body: in.body}}, in.site, nil
}

// schemed matches what begins with a scheme, and not with a host and its port.
var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[^0-9]`)

// checkTarget looks whether what is to be judged can be: a URL, even one that no server
// should be asked for, or a path.
func checkTarget(target string) error {
	if strings.HasPrefix(target, "/") {
		return nil
	}
	if scheme, _, _ := strings.Cut(target, ":"); strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") {
		return checkHost(target)
	}
	if schemed.MatchString(target) {
		return nil
	}
	return fmt.Errorf("%q is neither a URL such as https://example.com/page nor a path that begins with /", target)
}

// checkHost looks whether a URL of the web has a host. What stands behind that may be anything.
func checkHost(target string) error {
	authority := addr.Authority(target)
	u, err := url.Parse("http://" + authority)
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%q is not a URL: %w; write it as https://example.com/page", target, wrong.Err)
	}
	if err == nil && u.Hostname() == "" {
		return fmt.Errorf("%q names no host; write it as https://example.com/page", target)
	}
	return err
}

// ownRobots returns where the robots.txt of a URL's own site stands.
func ownRobots(rawURL string) (string, error) {
	if addr.Authority(rawURL) == "" {
		return "", fmt.Errorf("%q names no site; give the robots.txt with --robots", rawURL)
	}
	root := strings.Index(rawURL, "://") + len("://")
	if end := strings.IndexAny(rawURL[root:], "/?#"); end >= 0 {
		rawURL = rawURL[:root+end]
	}
	return rawURL + "/robots.txt", nil
}

// rules returns what is forbidden. It fails for a web page in place of a
// robots.txt, and for UTF-16: these restrict nothing, which nobody means who asks.
func (in *robotsInput) rules() (*policy.Robots, error) {
	robots := policy.Parse(in.body)
	findings, _ := robots.Findings()
	for _, f := range findings {
		switch f.Code {
		case policy.HTML:
			return nil, fmt.Errorf("%s is a web page and no robots.txt; give the URL or the file of the robots.txt", in.name)
		case policy.UTF16:
			return nil, fmt.Errorf("%s is UTF-16, which no crawler can read; save it as UTF-8", in.name)
		}
	}
	return robots, nil
}

// noteOn tells that a text has lines, and none that a robots.txt has.
func (in *robotsInput) noteOn(robots *policy.Robots) string {
	findings, _ := robots.Findings()
	isOther := func(f policy.Finding) bool { return f.Code == policy.NoKey || f.Code == policy.UnknownKey }
	if len(robots.Groups())+len(robots.Records()) > 0 || !slices.ContainsFunc(findings, isOther) {
		return ""
	}
	return in.name + " has no line of a robots.txt, so it allows everything; give a robots.txt"
}

// fetch reads a URL.
func (in *robotsInput) fetch(ctx context.Context, c *Config) error {
	u, err := url.Parse(in.name)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%s is not a URL; write it as https://example.com/robots.txt", in.name)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/robots.txt"
	}
	in.name, in.site = u.String(), u.Scheme+"://"+u.Host
	ctx, cancel := context.WithTimeout(ctx, 2*c.FetchTimeout)
	defer cancel()
	answer := origin.NewURL(in.name, "", true).Fetch(ctx, nil) // whoever types a URL may well reach it
	in.status = answer.Status
	switch answer.Meaning() {
	case policy.Rules:
		in.body = answer.Body
		return nil
	case policy.Unavailable:
		in.missing = true
		return nil
	}
	if answer.Err != nil {
		return fmt.Errorf("cannot read %s: %s", in.name, report.Why(answer.Err))
	}
	return fmt.Errorf("cannot read %s: the server answers %d; try again later or give a copy as a file", in.name, answer.Status)
}

// readRobotsFile reads the beginning of a file of this machine, which may be a pipe.
func readRobotsFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s; check the name, or give a URL or - for standard input", name)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; give the file in it, such as %s", name, filepath.Join(name, "robots.txt"))
	}
	body, err := readMost(name, policy.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return body, nil
}

// readMost reads a file that may be a pipe, and one byte more than most of a longer one.
func readMost(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s; check the name", name)
	} else if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close()
		return nil, fmt.Errorf("%s is a directory; give a file in it", name)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// isBinary reports whether a file is no text: many of its first bytes are
// control characters. One NUL or two, and UTF-16 with its mark, are left to the
// parser, which tells more about them.
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

// isURL reports whether an argument is a URL rather than a file or a path.
func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// robotsFiles reads the robots.txt for each of several URLs, each file once.
type robotsFiles struct {
	config *Config
	stdin  io.Reader
	known  map[string]*policy.Robots
	note   string // a remark about the first file that deserves one
}

// of returns the robots.txt with this name, or that of the URL's own site for "".
func (f *robotsFiles) of(ctx context.Context, name, u string) (*policy.Robots, error) {
	if name == "" {
		var err error
		if name, err = ownRobots(u); err != nil {
			return nil, err
		}
	}
	if robots := f.known[name]; robots != nil {
		return robots, nil
	}
	in, err := f.config.readInput(ctx, f.stdin, name)
	if err != nil {
		return nil, err
	}
	robots, err := in.rules()
	if err == nil {
		f.known[name], f.note = robots, cmp.Or(f.note, in.noteOn(robots))
	}
	return robots, err
}
