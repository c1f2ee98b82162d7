package managed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Staging is the robots.txt of a staging site. It disallows everything.
const Staging = "# This site is for tests: robots_txt has it as staging.\nUser-agent: *\nDisallow: /\n"

// Compose returns the file that the plan makes from a base for a host. The base may be nil. After an
// error nothing may be published. Crawlers truncate a file that is longer than [policy.MaxSize]. If
// crawlers interpret the base differently, the file could disallow more than intended.
func (p *Plan) Compose(base []byte, host string) ([]byte, error) {
	if len(base) > policy.MaxSize {
		return nil, fmt.Errorf("the base has more than %d bytes, of which crawlers read no more; shorten it", policy.MaxSize)
	}
	if p.IsEmpty() {
		return base, nil
	}
	f := newFile(base)
	c := &composition{plan: p, file: f}
	added := c.groups()
	if c.tooMany {
		return nil, errors.New("the base names too many crawlers above too many lines for a preference about all of them; shorten it")
	}
	for _, s := range p.sitemaps {
		added += "Sitemap: " + s + "\n"
	}
	for _, s := range p.lines {
		added += s + "\n"
	}
	text := f.text()
	version := sha256.Sum256([]byte(text + added))
	text += "\n# Added by robots_txt, version " + hex.EncodeToString(version[:6]) + "\n" + added
	if p.hosts {
		text = atHost(text, host)
	}
	if len(text) > policy.MaxSize {
		return nil, fmt.Errorf("the text would have %d bytes, and crawlers read %d; shorten the base or write fewer rules", len(text), policy.MaxSize)
	}
	if contested(f.robots) {
		if err := c.check(policy.Parse([]byte(text))); err != nil {
			return nil, err
		}
	}
	return []byte(text), nil
}

// composition is the state of one Compose call.
type composition struct {
	plan *Plan
	file *file
	all  []string // lines of the * group
	of   []target // crawlers whose groups change, in file order

	seen, moved int  // lines read and bytes moved by repeat
	tooMany     bool // one of these limits is exceeded
}

// target is a crawler that gets its own group.
type target struct {
	name  string
	names chain
	wish  *wish // nil for a bystander
}

// groups changes the groups of the base, and returns the groups to append.
func (c *composition) groups() string {
	everybody := c.plan.asked[Everybody]
	c.all = c.file.content(c.file.named(Everybody))
	if everybody != nil {
		c.all = everybody.over(c.all)
	}
	c.of = c.targets()
	var blocks []*block
	for _, t := range c.of {
		if own := c.ownGroup(t); own >= 0 {
			c.file.insert(own, slices.Concat([]string{t.wish.comment()}, t.wish.paths, linesOf(t.wish.prefers)))
			continue
		}
		b := &block{comment: "# As before", names: []string{t.name}, lines: c.contentOf(t)}
		if t.wish != nil {
			b.comment = t.wish.comment()
		}
		same := slices.IndexFunc(blocks, func(o *block) bool { return o.comment == b.comment && slices.Equal(o.lines, b.lines) })
		if same >= 0 {
			blocks[same].names = append(blocks[same].names, t.name)
		} else {
			blocks = append(blocks, b)
		}
	}
	for _, t := range c.of { // after all contents were read
		if c.ownGroup(t) < 0 {
			c.file.remove(c.file.named(t.name))
		}
	}
	blocks = append(blocks, c.repeat()...)
	var b strings.Builder
	for _, block := range blocks {
		block.write(&b)
	}
	return b.String()
}

// targets returns the crawlers whose groups change.
func (c *composition) targets() (all []target) {
	for _, folded := range c.plan.order {
		w := c.plan.asked[folded]
		names := w.chain()
		all = append(all, target{w.name, names, w})
		if w.crawler == nil {
			continue
		}
		for _, alias := range w.crawler.Aliases {
			if c.plan.asked[strings.ToLower(alias)] == nil && c.file.robots.Named(alias) {
				all = append(all, target{alias, append(chain{alias}, names...), w})
			}
		}
	}
	for _, names := range c.plan.bystanders {
		if c.plan.follows(names, c.file.robots) {
			all = append(all, target{names[0], names, nil})
		}
	}
	return all
}

// ownGroup returns the group of the base to which the lines of a wish can be added. Only the target
// may use that group. The result is -1 if there is none.
func (c *composition) ownGroup(t target) int {
	if t.wish == nil || t.wish.whole != "" || t.wish.delay != "" {
		return -1
	}
	places := c.file.named(t.name)
	before := c.file.content(places)
	if all := slices.Concat(before, t.wish.paths); len(withoutIdle(all)) < len(all) || !slices.Equal(withoutSaid(before, t.wish.prefers), before) {
		return -1
	}
	return c.file.own(places)
}

// contentOf returns the lines for a target's group.
func (c *composition) contentOf(t target) []string {
	if t.name == Everybody {
		return closed(c.all)
	}
	lines, named := c.all, false
	if policy.IsTraining(t.name) { // inherits nothing from *, and is not a crawler that uses pages
		return closed(t.wish.over(c.file.content(c.file.named(t.name))))
	}
	if places := c.file.obeyed(t.names); places != nil {
		lines, named = c.file.content(places), true
	}
	if t.wish != nil {
		lines = t.wish.over(lines)
	}
	if named || t.wish != nil && t.wish.whole != "" {
		lines = append(lines, c.plan.missing(lines)...)
	}
	return closed(lines)
}

// over returns the lines of a group after a wish was applied.
func (w *wish) over(lines []string) (all []string) {
	switch {
	case w.whole != "":
		all = append(all, w.whole)
	case w.delay != "":
		for _, line := range lines {
			if !hasKey(line, "crawl-delay", "crawldelay") {
				all = append(all, line)
			}
		}
	default:
		all = slices.Clone(lines)
	}
	all = append(withoutSaid(all, w.prefers), w.paths...)
	if w.delay != "" {
		all = append(all, w.delay)
	}
	return withoutIdle(append(all, linesOf(w.prefers)...))
}

// withoutIdle removes disallow rules if an allow rule has the same pattern. The allow rule wins (RFC
// 9309 section 2.2.2), but some parsers use the first rule.
func withoutIdle(lines []string) []string {
	var allowed map[string]bool
	for _, line := range lines {
		if path, ok := valueOf(line, "allow"); ok {
			if allowed == nil {
				allowed = make(map[string]bool)
			}
			allowed[path] = true
		}
	}
	if allowed == nil {
		return lines
	}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		path, ok := valueOf(line, "disallow")
		return ok && path != "" && allowed[path]
	})
}

// valueOf returns the value of a line with a key. ok is false if the line has another key. key must
// be in lower case.
func valueOf(line, key string) (value string, ok bool) {
	before, value, colon := strings.Cut(line, ":")
	if !colon || !strings.EqualFold(strings.Trim(before, "\ufeff \t"), key) {
		return "", false
	}
	return strings.Trim(value, " \t"), true
}

// comment returns comment lines with the rules of a wish, at most about 100 characters each.
func (w *wish) comment() string {
	const width = 100
	var b strings.Builder
	b.WriteByte('#')
	line := 1
	for i, id := range w.ids {
		if i > 0 {
			b.WriteByte(',')
			line++
		}
		if line > 1 && line+len(id) >= width {
			b.WriteString("\n#")
			line = 1
		}
		b.WriteString(" " + id)
		line += 1 + len(id)
	}
	return b.String()
}

// closed adds an empty Disallow to lines without a rule. Otherwise the group would merge with the
// next one.
func closed(lines []string) []string {
	if !slices.ContainsFunc(lines, isRule) {
		return append(slices.Clone(lines), "Disallow:")
	}
	return lines
}

// isRule reports whether every crawler reads a line as a rule.
func isRule(line string) bool { return hasKey(line, "allow", "disallow") }

func hasKey(line string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, ok := valueOf(line, key)
		return ok
	})
}

// block is a group to append.
type block struct {
	comment string
	names   []string
	lines   []string
}

func (k *block) write(b *strings.Builder) {
	b.WriteString(k.comment + "\n")
	for _, name := range k.names {
		b.WriteString("User-agent: " + name + "\n")
	}
	for _, line := range k.lines {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
}
