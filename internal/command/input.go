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

// robotsInput is a robots.txt from the arguments of a command.
type robotsInput struct {
	name string // the argument; - for standard input
	body []byte // at most policy.MaxSize+1 bytes
	site string // scheme and host of a URL; "" for a file
	// missing means that the server responds that the file does not exist, which restricts nothing.
	// status is the status of the response.
	missing bool
	status  int
}

// readInput reads a file, a URL, or standard input for -. A URL without a path means its
// /robots.txt.
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

// readVersions reads a directory with versions of a robots.txt for one or several hosts, or one
// robots.txt from a file or URL. site is the site of the URL.
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

// schemed matches a string with a scheme, but not a host with a port.
var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[^0-9]`)

// checkTarget returns an error if the target is neither a path nor a URL. The URL need not be valid
// for a request.
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

// checkHost returns an error for an http or https URL without a valid host.
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

// ownRobots returns the URL of the robots.txt of a URL's own site.
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

// rules parses the robots.txt. It returns an error for a web page and for UTF-16, since both
// restrict nothing and are mistakes.
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

// noteOn returns a note if the file has lines but no robots.txt lines, or "".
func (in *robotsInput) noteOn(robots *policy.Robots) string {
	findings, _ := robots.Findings()
	isOther := func(f policy.Finding) bool { return f.Code == policy.NoKey || f.Code == policy.UnknownKey }
	if len(robots.Groups())+len(robots.Records()) > 0 || !slices.ContainsFunc(findings, isOther) {
		return ""
	}
	return in.name + " has no line of a robots.txt, so it allows everything; give a robots.txt"
}

// fetch fetches a URL.
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
	answer := origin.NewURL(in.name, "", true).Fetch(ctx, nil) // private addresses are allowed, because the user chose the URL
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

// readRobotsFile reads the beginning of a local file or pipe.
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

// readMost reads at most most+1 bytes of a file or pipe.
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

// isBinary reports whether many of the first bytes are control characters. The parser reports one
// or two NULs and UTF-16 in more detail.
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

// isURL reports whether an argument is a URL, and not a file or path.
func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// robotsFiles reads the robots.txt for several URLs, each file once.
type robotsFiles struct {
	config *Config
	stdin  io.Reader
	known  map[string]*policy.Robots
	note   string // the first note about a file
}

// of returns the robots.txt with this name, or the robots.txt of the URL's own site for "".
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
