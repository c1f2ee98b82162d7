package managed

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Everybody is the name of the group for crawlers that no other group names.
const Everybody = "*"

// Rule says what some crawlers may fetch.
type Rule struct {
	ID    string   // is told in the text, in one line
	For   []string // product tokens, classes and "*"
	Allow bool     // false for disallow
	Paths []string // patterns of RFC 9309 section 2.2.2; none for the whole site
	// Delay is the value of Crawl-delay; a rule with one is about nothing else.
	Delay string
}

// Plan is what a site's owner wants in its robots.txt beside what the base says.
// It is immutable.
type Plan struct {
	asked      map[string]*wish // by folded name
	order      []string         // the names of asked in the order of the text
	bystanders []chain
	sitemaps   []string
	lines      []string
	hosts      bool // some text has a hostPlaceholder
}

// wish is what the rules say about one crawler, or about all that no group names.
type wish struct {
	name    string // as it stands in the text
	crawler *uaident.Crawler
	ids     []string
	whole   string   // the line that stands for the whole site, "" without
	paths   []string // lines
	delay   string   // a line, "" without
}

// NewPlan returns a plan. Its errors say which rule or line is wrong.
func NewPlan(registry *uaident.Registry, rules []Rule, sitemaps, lines []string) (*Plan, error) {
	p := &Plan{asked: make(map[string]*wish), sitemaps: sitemaps, lines: lines}
	for i := range rules {
		if err := p.add(registry, &rules[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", rules[i].ID, err)
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	slices.Sort(p.order)
	p.findBystanders(registry)
	return p, nil
}

// IsEmpty reports whether the plan leaves every base as it is.
func (p *Plan) IsEmpty() bool { return len(p.asked)+len(p.sitemaps)+len(p.lines) == 0 }

func (p *Plan) add(registry *uaident.Registry, r *Rule) error {
	names, err := namesOf(registry, r.For)
	if err != nil {
		return err
	}
	for _, path := range r.Paths {
		if err := checkPath(path); err != nil {
			return err
		}
	}
	for _, name := range names {
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
		if err := w.add(r); err != nil {
			return err
		}
	}
	return nil
}

// add takes a rule into the wish.
func (w *wish) add(r *Rule) error {
	if !slices.Contains(w.ids, r.ID) {
		w.ids = append(w.ids, r.ID)
	}
	if r.Delay != "" {
		line := "Crawl-delay: " + r.Delay
		if w.delay != "" && w.delay != line {
			return fmt.Errorf("%s has two delays; keep one", w.name)
		}
		w.delay = line
		return nil
	}
	if len(r.Paths) == 0 {
		line := lineOf(r.Allow, "/")
		if w.whole != "" && w.whole != line {
			return fmt.Errorf("%s is both allowed and disallowed the whole site; remove one", w.name)
		}
		w.whole = line
		return nil
	}
	for _, path := range r.Paths {
		line := lineOf(r.Allow, path)
		if slices.Contains(w.paths, lineOf(!r.Allow, path)) {
			return fmt.Errorf("%s is both allowed and disallowed %s; remove one", w.name, path)
		}
		if !slices.Contains(w.paths, line) {
			w.paths = append(w.paths, line)
		}
	}
	return nil
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
	for _, w := range p.asked {
		texts = append(texts, w.paths...)
	}
	for _, s := range texts {
		rest := strings.ReplaceAll(s, hostPlaceholder, "")
		p.hosts = p.hosts || len(rest) < len(s)
		if i := strings.Index(rest, "{http."); i >= 0 {
			return fmt.Errorf("%q has a placeholder other than {host}; the text is the same for all who ask this host", s)
		}
	}
	return nil
}

// hostPlaceholder is what {host} stands for in a Caddyfile.
const hostPlaceholder = "{http.request.host}"

func checkLine(s string) error {
	if s == "" || strings.ContainsAny(s, "\r\n\x00") {
		return fmt.Errorf("%q is not one line of text", s)
	}
	return nil
}

// checkPath tells what is wrong with the pattern of a rule.
func checkPath(path string) error {
	switch {
	case path == "" || path[0] != '/' && path[0] != '*':
		return fmt.Errorf("path %q begins with neither / nor *, so it would match nothing", path)
	case strings.ContainsAny(path, "\r\n\x00"):
		return fmt.Errorf("path %q is not one line of text", path)
	case strings.Contains(path, "#"):
		return fmt.Errorf("path %q has a #, which begins a comment; write %%23", path)
	case strings.Trim(path, " \t") != path:
		return fmt.Errorf("path %q has a space at its end, which no crawler reads; write %%20", path)
	}
	return nil
}

// namesOf returns the product tokens that words stand for, each once. A class
// stands for the crawlers of that class: one with several purposes has the class of
// its main one, so that ai_training has no search engine.
func namesOf(registry *uaident.Registry, words []string) (names []string, err error) {
	if len(words) == 0 {
		return nil, errors.New("name whom it is for: a product token, a class such as ai_training, or *")
	}
	for _, word := range words {
		if word == Everybody {
			names = append(names, word)
			continue
		}
		if class, ok := uaident.ParseClass(word); ok {
			before := len(names)
			for _, c := range registry.Crawlers() {
				if c.Class == class && class != uaident.Browser {
					names = append(names, c.Token)
				}
			}
			if len(names) == before {
				return nil, fmt.Errorf("no known crawler is of class %s", word)
			}
			continue
		}
		token, meant := strings.CutPrefix(word, judge.MeantToken)
		if c := registry.Lookup(token); c != nil {
			token = c.Token
		} else if !meant {
			return nil, unknown(registry, word)
		}
		if err := checkName(token); err != nil {
			return nil, err
		}
		names = append(names, token)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return slices.CompactFunc(names, strings.EqualFold), nil
}

func unknown(registry *uaident.Registry, word string) error {
	hint := "the classes are " + judge.ClassWords()
	if likely := judge.Likely(registry, word, false); len(likely) > 0 {
		hint = "did you mean " + strings.Join(likely, " or ") + "?"
	}
	return fmt.Errorf("%q is no class and no known crawler; %s (for a new crawler of that name write %s)", word, hint, judge.MeantToken+word)
}

// checkName tells whether a group can have this name.
func checkName(token string) error {
	if token == "" || strings.ContainsAny(token, "\r\n\x00#:*,/") || strings.Trim(token, " \t") != token {
		return fmt.Errorf("%q can be no product token", token)
	}
	return nil
}
