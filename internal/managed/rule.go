package managed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Everybody is the name of the group for crawlers that no other group names.
const Everybody = "*"

// Rule says what some crawlers may fetch.
type Rule struct {
	ID    string   `json:"id"`              // is told in the text, in one line
	For   []string `json:"for,omitempty"`   // product tokens, classes and "*"
	Allow bool     `json:"allow,omitempty"` // false for disallow
	Paths []string `json:"paths,omitempty"` // patterns of RFC 9309 section 2.2.2; none for the whole site
	// Delay is the value of Crawl-delay; a rule with one is about nothing else.
	Delay string `json:"crawl_delay,omitempty"`
	// Usage and Signal are the values of Content-Usage and Content-Signal, such as
	// "/blog train-ai=n"; a rule with one is about nothing else. Where For is empty
	// they are about all crawlers.
	Usage  string `json:"content_usage,omitempty"`
	Signal string `json:"content_signal,omitempty"`
	Window
	// Hosts are those that the rule is for, in lower case and without ports;
	// *.example.com stands for every name with one label more. None for all.
	Hosts []string `json:"hosts,omitempty"`
	// Reason, Owner and Ticket say why it is there; they are not published.
	Reason string `json:"reason,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Ticket string `json:"ticket,omitempty"`
	List   string `json:"list,omitempty"` // the name of the list that it is from, "" for none
	At     string `json:"-"`              // where it stands, such as Caddyfile:12, "" if that is not known

	names      []string    // the product tokens that For stands for
	preference *preference // that Usage or Signal says
}

// RuleError says what is wrong with a rule.
type RuleError struct {
	Rule string // its ID
	At   string // where it stands, "" if that is not known
	Err  error
}

// Error tells which rule, and not where it stands.
func (e *RuleError) Error() string { return e.Rule + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *RuleError) Unwrap() error { return e.Err }

// Plan is what a site's owner wants in its robots.txt beside what the base says.
// It is immutable.
type Plan struct {
	asked      map[string]*wish // by folded name
	order      []string         // the names of asked in the order of the text
	bystanders []chain
	everywhere []*Rule // preferences about all crawlers
	sitemaps   []string
	lines      []string
	hosts      bool // some text has a hostPlaceholder
}

// wish is what the rules say about one crawler, or about all that no group names.
type wish struct {
	name    string // as it stands in the text
	crawler *uaident.Crawler
	rules   []*Rule
	ids     []string
	whole   string   // the line that stands for the whole site, "" without
	paths   []string // lines
	delay   string   // a line, "" without
	prefers []preference
	said    map[string]bool // ids and paths, once there are many
}

// newPlan returns the plan of rules that are compiled and do not contradict each
// other.
func newPlan(names *names, rules []*Rule, sitemaps, lines []string) (*Plan, error) {
	p := &Plan{asked: make(map[string]*wish), sitemaps: sitemaps, lines: lines}
	for _, r := range rules {
		p.add(names.registry, r)
	}
	p.addEverywhere()
	if err := p.check(); err != nil {
		return nil, err
	}
	slices.Sort(p.order)
	p.findBystanders(names.chains)
	return p, nil
}

// IsEmpty reports whether the plan leaves every base as it is.
func (p *Plan) IsEmpty() bool { return len(p.asked)+len(p.sitemaps)+len(p.lines) == 0 }

func (p *Plan) add(registry *uaident.Registry, r *Rule) {
	if len(r.For) == 0 {
		p.everywhere = append(p.everywhere, r)
	}
	for _, name := range r.names {
		folded := strings.ToLower(name)
		w := p.asked[folded]
		if w == nil {
			w = &wish{name: name}
			if name != Everybody {
				w.crawler = registry.Lookup(name)
			}
			p.asked[folded] = w
			p.order = append(p.order, folded)
		}
		w.add(r)
	}
}

// addEverywhere takes the preferences about all crawlers into the * group, as far as
// no rule about that group alone says otherwise.
func (p *Plan) addEverywhere() {
	w := p.asked[Everybody]
	if w == nil && len(p.everywhere) > 0 {
		w = &wish{name: Everybody}
		p.asked[Everybody] = w
		p.order = append(p.order, Everybody)
	}
	for _, r := range p.everywhere {
		if rest := r.preference.without(w.prefers); len(rest.says) > 0 {
			if w.rules = append(w.rules, r); !w.has(w.ids, r.ID) {
				w.ids = append(w.ids, r.ID)
			}
			w.prefers = append(w.prefers, rest)
		}
	}
}

// add takes a rule into the wish.
func (w *wish) add(r *Rule) {
	w.rules = append(w.rules, r)
	if !w.has(w.ids, r.ID) {
		w.ids = append(w.ids, r.ID)
	}
	switch {
	case r.Delay != "":
		w.delay = "Crawl-delay: " + r.Delay
	case r.preference != nil:
		w.prefers = append(w.prefers, *r.preference)
	case len(r.Paths) == 0:
		w.whole = lineOf(r.Allow, "/")
	}
	for _, path := range r.Paths {
		if line := lineOf(r.Allow, path); !w.has(w.paths, line) {
			w.paths = append(w.paths, line)
		}
	}
}

// has reports whether something to be added is among what was said before.
func (w *wish) has(before []string, s string) bool {
	const few = 16
	if len(before) < few {
		return slices.Contains(before, s)
	}
	if w.said == nil {
		w.said = make(map[string]bool)
		for _, said := range slices.Concat(w.ids, w.paths) {
			w.said[said] = true
		}
	}
	known := w.said[s]
	w.said[s] = true
	return known
}

func lineOf(allow bool, path string) string {
	if allow {
		return "Allow: " + path
	}
	return "Disallow: " + path
}

// check looks at what is written into the text as it is.
func (p *Plan) check() error {
	for _, s := range p.sitemaps {
		if err := checkLine(s); err != nil {
			return fmt.Errorf("sitemap: %w", err)
		}
		if !strings.Contains(s, "://") {
			return fmt.Errorf("sitemap %q is no whole URL; begin it with https://", s)
		}
	}
	for _, s := range p.lines {
		if err := checkLine(s); err != nil {
			return fmt.Errorf("line: %w", err)
		}
		robots := policy.Parse([]byte("User-agent: *\n" + s + "\n"))
		records := robots.Records()
		if len(robots.Names()) > 1 || robots.RuleCount() > 0 || len(records) == 1 && records[0].Group >= 0 {
			return fmt.Errorf("line %q is about the crawlers of a group; write a rule for it, such as disallow GPTBot", s)
		}
	}
	texts := slices.Concat(p.sitemaps, p.lines)
	for _, s := range texts {
		if err := checkPlaceholders(s); err != nil {
			return err
		}
	}
	for _, w := range p.asked {
		texts = append(texts, slices.Concat(w.paths, linesOf(w.prefers))...)
	}
	p.hosts = slices.ContainsFunc(texts, dependsOnHost)
	return nil
}

// checkPlaceholders tells which placeholder cannot stand in a text.
func checkPlaceholders(s string) error {
	rest := atHost(s, "")
	for _, begin := range otherPlaceholders {
		switch {
		case !strings.Contains(rest, begin):
		case begin == "{env.":
			return fmt.Errorf("%q has a placeholder other than {host}; an environment variable is written as {$NAME} in a Caddyfile", s)
		default:
			return fmt.Errorf("%q has a placeholder other than {host}; all clients of a host get the same file", s)
		}
	}
	return nil
}

// otherPlaceholders are how those of Caddy begin: nobody wants to publish one as it stands.
// A path may have other braces.
var otherPlaceholders = []string{"{http.", "{env.", "{file.", "{system.", "{time."}

// hostPlaceholder is what {host} stands for in a Caddyfile.
const hostPlaceholder = "{http.request.host}"

// shortPlaceholder stands for the same where no Caddyfile is read: in JSON, and in lists
// of rules.
const shortPlaceholder = "{host}"

func checkLine(s string) error {
	if s == "" || strings.ContainsAny(s, "\r\n\x00") {
		return fmt.Errorf("%q is more than one line", s)
	}
	return nil
}

// checkPath tells what is wrong with the pattern of a rule.
func checkPath(path string) error {
	switch {
	case path == "" || path[0] != '/' && path[0] != '*':
		return fmt.Errorf("path %q begins with neither / nor *, so it would match nothing", path)
	case strings.ContainsAny(path, "\r\n\x00"):
		return fmt.Errorf("path %q is more than one line", path)
	case strings.Contains(path, "#"):
		return fmt.Errorf("path %q has a #, which begins a comment; write %%23", path)
	case strings.Trim(path, " \t") != path:
		return fmt.Errorf("path %q has a space at its end, which no crawler reads; write %%20", path)
	}
	return checkPlaceholders(path)
}

func dependsOnHost(s string) bool {
	return strings.Contains(s, hostPlaceholder) || strings.Contains(s, shortPlaceholder)
}

// atHost returns what a text says at a host.
func atHost(s, host string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, hostPlaceholder, host), shortPlaceholder, host)
}

// asWritten returns a text with the placeholder as people write it.
func asWritten(s string) string { return strings.ReplaceAll(s, hostPlaceholder, shortPlaceholder) }
