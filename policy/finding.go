package policy

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Severity is how important a finding is for the owner of the file.
type Severity uint8

// These are the severities in ascending order.
const (
	// Info means that crawlers read the line as intended, but that the owner should know something.
	Info    Severity = iota
	Warning          // Warning means that some crawlers can read the line differently than intended.
	Error            // Error means that crawlers ignore the line or the file.
)

// String returns "info", "warning" or "error".
func (s Severity) String() string {
	return [...]string{"info", "warning", "error"}[s]
}

// MarshalText implements [encoding.TextMarshaler].
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Severity) UnmarshalText(text []byte) error {
	for *s = Info; *s <= Error; *s++ {
		if s.String() == string(text) {
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q", text)
}

// Code is the kind of a finding, such as "missing-colon". Codes do not change between versions, and
// metrics use them as labels.
type Code string

// These are the findings of the parser. RFC 9309 section 2.2 defines the format, and section 2.5
// the size limit.
const (
	TooLarge            Code = "too-large"           // The file is longer than MaxSize. The rest is ignored.
	LineSplitByLimit    Code = "line-cut"            // The line that the size limit splits was dropped.
	LineTooLong         Code = "line-too-long"       // The line has 8,192 bytes or more. Some crawlers cut it.
	UTF16               Code = "utf-16"              // The file is UTF-16 and was not parsed.
	ContainsNUL         Code = "not-text"            // A NUL byte ends a line.
	ByteOrderMark       Code = "byte-order-mark"     // A whole or partial UTF-8 BOM was skipped.
	HTML                Code = "html"                // The file is a web page without a rule.
	LineWithoutKey      Code = "no-key"              // The line does not have the form "key: value".
	MissingColon        Code = "missing-colon"       // The line has two words that Google reads as key and value.
	MisspeltKey         Code = "misspelt-key"        // The key is a known misspelling that Google accepts.
	UnknownKey          Code = "unknown-key"         // The key is not defined.
	RuleOutsideGroup    Code = "rule-outside-group"  // An allow or disallow line precedes the first user-agent line.
	RuleWithoutSlash    Code = "rule-without-slash"  // The rule starts with neither / nor *, so it matches nothing.
	DollarBeforeEnd     Code = "dollar-inside"       // A $ before the end is an ordinary character.
	EmptyAgentName      Code = "empty-user-agent"    // The name is empty.
	SeveralAgentNames   Code = "user-agent-list"     // The line has several names. Only the first is used.
	WildcardInAgentName Code = "user-agent-pattern"  // A * in a name is not a wildcard.
	RepeatedGroup       Code = "repeated-group"      // Two groups have the same name. They are merged.
	GroupWithoutRule    Code = "group-without-rules" // The group allows everything.
	AmbiguousGroup      Code = "ambiguous-group"     // Crawlers disagree about the clients of the rules.
)

// Codes returns the codes of all findings that Parse can report.
func Codes() []Code {
	return []Code{TooLarge, LineSplitByLimit, LineTooLong, UTF16, ContainsNUL, ByteOrderMark, HTML, LineWithoutKey,
		MissingColon, MisspeltKey, UnknownKey, RuleOutsideGroup, RuleWithoutSlash, DollarBeforeEnd,
		EmptyAgentName, SeveralAgentNames, WildcardInAgentName, RepeatedGroup, GroupWithoutRule, AmbiguousGroup}
}

// Finding is a problem in a robots.txt.
type Finding struct {
	Code     Code     // Code is the kind of the finding, for programs.
	Severity Severity // Severity is the importance of the finding.
	Line     int      // Line is counted from 1. It is 0 for the whole file.
	Message  string   // Message has the problem and the remedy in one or two sentences.
}

// String returns the line, severity, message and code in one line of text.
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s [%s]", f.Severity, f.Message, f.Code)
	}
	return fmt.Sprintf("line %d: %s: %s [%s]", f.Line, f.Severity, f.Message, f.Code)
}

// maxFindings is the maximum number of findings of a file.
const maxFindings = 200

// quoteExcerpt quotes a piece of the file for a message, and shortens a long piece.
func quoteExcerpt(s string) string { return text.Quote(s, 60) }
