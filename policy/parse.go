package policy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// MaxSize is the number of bytes of a robots.txt that Parse reads: 500 KiB, the minimum in RFC 9309
// section 2.5 and Google's limit.
const MaxSize = 500 * 1024

// longLineLength is the length in bytes from which Parse reports a line as too long. Google's
// parser cuts lines at 16,663 bytes, so that a rule disallows more than intended. Other parsers cut
// earlier.
const longLineLength = 8192

// Parse parses the body of a robots.txt. Any bytes are accepted. Invalid lines are skipped, and
// [Robots.Findings] reports them. The body is copied.
//
// A caller that limits the size of a body must pass at least [MaxSize]+1 bytes of a longer file.
// Parse then drops the line that the limit splits, because half a line can be "Disallow: /".
func Parse(body []byte) *Robots {
	p := parser{robots: new(Robots)}
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		p.report(UTF16, Error, 0, "the file is UTF-16 and no crawler can read UTF-16; save the file as UTF-8")
		return p.finishFile()
	}
	kept := body
	if len(body) > MaxSize {
		kept = p.truncateToMaxSize(body)
	}
	p.robots.text = string(kept)
	text := p.skipByteOrderMark(p.robots.text)
	if len(text) <= maxBufferedSize {
		t := parseBufferPool.Get().(*parseBuffers)
		t.assignTo(p.robots)
		p.readLines(text)
		t.copyTo(p.robots)
		parseBufferPool.Put(t)
	} else {
		p.robots.rules = make([]rule, 0, estimateRules(text))
		p.readLines(text)
	}
	if p.usedLenientSyntax {
		p.robots.withStrictKeys = parseWithStrictKeys(p.robots, text)
	}
	return p.finishFile()
}

// estimateRules returns a number of rules that a file can have at most, to allocate memory once. A
// rule needs at least seven bytes, including its line end.
func estimateRules(text string) int {
	return min(strings.Count(text, "\n")+strings.Count(text, "\r")+1, len(text)/len("allow:\n")+1)
}

// parser parses a file line by line into robots.
type parser struct {
	robots                 *Robots
	lineNumber             int32
	isGroupOpen            bool  // isGroupOpen is true if the last group accepts more user-agent lines.
	hasExtensionAfterAgent bool  // An extension line followed the last user-agent line.
	hasUsageAfterAgent     bool  // A Content-Usage line followed the last user-agent line.
	firstUsageAgent        int32 // This is the first user-agent line that the next Content-Usage line applies to.
	hasNUL                 bool  // hasNUL is true if the file has a NUL byte.
	// strictKeys ignores misspelled keys and missing colons. It reports nothing, because the first
	// pass has reported all.
	strictKeys        bool
	usedLenientSyntax bool // The file has a line that only the lenient interpretation accepts.
}

// truncateToMaxSize returns the whole lines in the first MaxSize bytes of a longer file, and
// reports findings about the rest.
func (p *parser) truncateToMaxSize(body []byte) []byte {
	p.report(TooLarge, Error, 0, "the file has more than 500 KiB; crawlers ignore the rest; shorten the file or move the most important groups to the top")
	if isLineEnd(body[MaxSize-1]) || isLineEnd(body[MaxSize]) {
		return body[:MaxSize]
	}
	end := bytes.LastIndexAny(body[:MaxSize], "\r\n") + 1
	p.report(LineSplitByLimit, Warning, int32(countLineEnds(body[:end]))+1, "the limit of 500 KiB splits this line, so the line is ignored: a cut rule can disallow far more than the whole rule")
	return body[:end]
}

// skipByteOrderMark returns text without a UTF-8 byte order mark at its start. A partial mark is
// also removed, as in Google's parser.
func (p *parser) skipByteOrderMark(text string) string {
	const mark = "\xef\xbb\xbf"
	n := 0
	for n < len(mark) && n < len(text) && text[n] == mark[n] {
		n++
	}
	if n > 0 {
		p.report(ByteOrderMark, Info, 1, "the file starts with a byte order mark; some crawlers then ignore the first line; save the file without the mark")
	}
	return text[n:]
}

// readLines parses the lines of a file. A line ends with LF, CR or CRLF.
func (p *parser) readLines(text string) {
	// The next CR and # are searched only after they are passed, so that a file with one kind
	// of line end is not searched for the other at every line.
	lf, cr, comment := -1, -1, -1
	p.hasNUL = strings.IndexByte(text, 0) >= 0
	for pos := 0; pos < len(text); {
		if lf < pos {
			lf = indexByteFrom(text, pos, '\n')
		}
		if cr < pos {
			cr = indexByteFrom(text, pos, '\r')
		}
		if comment < pos {
			comment = indexByteFrom(text, pos, '#')
		}
		end := min(lf, cr)
		p.lineNumber++
		p.readLine(text[pos:end], comment-pos)
		pos = end + 1
		if end == cr && lf == cr+1 {
			pos++
		}
	}
}

// cutAtNUL returns the part of a line before its first NUL byte, and reports a finding if the line
// has one.
func (p *parser) cutAtNUL(s string) string {
	i := strings.IndexByte(s, 0)
	if i < 0 {
		return s
	}
	p.report(ContainsNUL, Warning, p.lineNumber, "a NUL byte ends this line; save the file as plain UTF-8 text")
	return s[:i]
}

// readLine parses one line without its line end. comment is the index of the next # in the file,
// counted from the start of the line, so it can be beyond the line.
func (p *parser) readLine(s string, comment int) {
	if len(s) >= longLineLength {
		p.report(LineTooLong, Warning, p.lineNumber, "this line is longer than 8,191 bytes; some crawlers cut it and then obey a different rule")
	}
	if p.hasNUL {
		s = p.cutAtNUL(s)
	}
	if s = trimSpace(s[:min(comment, len(s))]); s == "" {
		return
	}
	var name, value string
	i := strings.IndexByte(s, ':')
	colon := i > 0 // A key is before the colon.
	if colon {
		name, value = s[:i], s[i+1:]
	} else {
		var ok bool
		if name, value, ok = splitTwoWords(s); !ok {
			p.report(LineWithoutKey, Warning, p.lineNumber, "%s is not of the form key: value, so the line is ignored", s)
			return
		}
	}
	name, value = trimSpace(name), trimSpace(value)
	k, misspelt := lookupKey(name)
	switch {
	case k == keyUnknown && !colon:
		p.report(LineWithoutKey, Warning, p.lineNumber, "%s is not of the form key: value, so the line is ignored", s)
		return
	case k == keyUnknown:
		p.report(UnknownKey, Info, p.lineNumber, "%s is not a key that crawlers know, so the line is ignored", name)
		return
	case !colon:
		p.report(MissingColon, Warning, p.lineNumber, "a colon is missing after %s, and hardly any crawler but Google's reads the line without it", name)
	case misspelt:
		p.report(MisspeltKey, Warning, p.lineNumber, "%s is misspelt, and hardly any crawler but Google's reads it; correct the spelling", name)
	}
	if !colon || misspelt {
		if p.strictKeys {
			return
		}
		p.usedLenientSyntax = true
	}
	p.storeLine(k, name, value)
	if k == keyGroupExtension && colon {
		p.addDelay(name, value)
	}
}

// storeLine stores a line with the kind k. name is the key as written.
func (p *parser) storeLine(k lineKind, name, value string) {
	switch k {
	case keyUserAgent:
		p.addUserAgent(value)
	case keyAllow, keyDisallow:
		p.addRule(k == keyAllow, value)
	case keySitemap, keyFileExtension:
		if k == keySitemap {
			p.robots.addSitemap(value)
		}
		p.robots.records = append(p.robots.records, Record{Key: name, Value: value, Line: int(p.lineNumber), Group: -1})
	case keyGroupExtension:
		p.hasExtensionAfterAgent = true
		switch {
		case len(p.robots.groups) == 0:
		case strings.EqualFold(name, ContentUsage):
			p.hasUsageAfterAgent = true
			p.robots.contentUsages = append(p.robots.contentUsages, contentUsage{int32(len(p.robots.records)), p.firstUsageAgent, int32(len(p.robots.agents))})
		case strings.EqualFold(name, ContentSignal):
			p.robots.contentSignals = append(p.robots.contentSignals, int32(len(p.robots.records)))
		}
		p.robots.records = append(p.robots.records, Record{Key: name, Value: value, Line: int(p.lineNumber), Group: len(p.robots.groups) - 1})
	}
}

// addUserAgent adds a user-agent line to the open group, or opens a group.
func (p *parser) addUserAgent(name string) {
	r := p.robots
	if !p.isGroupOpen || p.hasUsageAfterAgent {
		p.hasUsageAfterAgent, p.firstUsageAgent = false, int32(len(r.agents))
	}
	if !p.isGroupOpen {
		firstAgent, firstRule := int32(len(r.agents)), int32(len(r.rules))
		r.groups = append(r.groups, group{agentFrom: firstAgent, splitAt: firstAgent, agentTo: firstAgent, ruleFrom: firstRule, ruleTo: firstRule})
		p.isGroupOpen = true
	} else if p.hasExtensionAfterAgent {
		r.groups[len(r.groups)-1].splitAt = int32(len(r.agents))
		r.hasAmbiguousGroup = true
		p.report(AmbiguousGroup, Warning, p.lineNumber, "a line such as Crawl-delay is between this and the previous user-agent line, so crawlers disagree whether both names have the same rules; repeat the rules for each name, or move that line below the user-agent lines")
	}
	p.hasExtensionAfterAgent = false
	r.agents = append(r.agents, agent{name: name, line: p.lineNumber, group: int32(len(r.groups) - 1)})
	r.groups[len(r.groups)-1].agentTo++
	p.checkName(name)
}

// checkName reports a finding for a user-agent line with an invalid name.
func (p *parser) checkName(name string) {
	switch {
	case name == "":
		p.report(EmptyAgentName, Warning, p.lineNumber, "this user-agent line has no name; write a product token, or * for all crawlers")
	case isWildcardName(name):
	case name[0] == '*' || strings.IndexByte(name[:len(name)-1], '*') >= 0:
		p.report(WildcardInAgentName, Warning, p.lineNumber, "* is not a wildcard in %s; name each product token in a line of its own", name)
	case strings.IndexByte(name, ',') >= 0:
		p.report(SeveralAgentNames, Warning, p.lineNumber, "only the first name in %s is read; give each its own user-agent line", name)
	}
}

// addRule adds an allow or disallow line to the last group. The next user-agent line opens another
// group.
func (p *parser) addRule(allow bool, path string) {
	r := p.robots
	if len(r.groups) == 0 {
		p.report(RuleOutsideGroup, Error, p.lineNumber, "this rule comes before the first user-agent line and applies to no crawler; write User-agent: * above it")
		return
	}
	p.isGroupOpen, p.hasExtensionAfterAgent = false, false
	switch {
	case path == "":
	case path[0] != '/' && path[0] != '*':
		p.report(RuleWithoutSlash, Error, p.lineNumber, "%s does not start with / or *, so the rule matches no URL; write the path from the root of the site", path)
	case strings.IndexByte(path[:len(path)-1], '$') >= 0:
		p.report(DollarBeforeEnd, Info, p.lineNumber, "$ is an ordinary character except at the end of a rule")
	}
	r.rules = append(r.rules, rule{path: path, line: p.lineNumber, group: int32(len(r.groups) - 1), allow: allow})
	r.groups[len(r.groups)-1].ruleTo++
}

// finishFile reports findings about the whole file, sorts the tables and returns the file.
func (p *parser) finishFile() *Robots {
	r := p.robots
	if len(r.rules) == 0 && looksLikeHTML(r.text) {
		// Findings about single lines of a web page are useless.
		r.findings = slices.DeleteFunc(r.findings, func(f Finding) bool { return f.Line > 0 })
		r.unreportedFindings = 0
		p.report(HTML, Error, 0, "this is a web page, not a robots.txt, so nothing is disallowed; let the server answer 404 or send a text file")
	}
	p.checkGroups()
	slices.Sort(r.sitemaps)
	r.sitemaps = slices.Compact(r.sitemaps)
	if cap(r.rules) > len(r.rules)+len(r.rules)/16 {
		r.rules = slices.Clip(slices.Clone(r.rules))
	}
	slices.SortStableFunc(r.findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	r.buildAgentIndex()
	return r
}

// report adds a finding, or only counts it if there are too many. Each %s in the message is
// replaced by one of the excerpts of the file, quoted.
func (p *parser) report(code Code, severity Severity, line int32, message string, excerpts ...string) {
	if p.strictKeys {
		return
	}
	r := p.robots
	if len(r.findings) == maxFindings {
		r.unreportedFindings++
		return
	}
	for _, piece := range excerpts {
		message = strings.Replace(message, "%s", quoteExcerpt(piece), 1)
	}
	r.findings = append(r.findings, Finding{Code: code, Severity: severity, Line: int(line), Message: message})
}
