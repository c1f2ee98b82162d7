package policy

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Severity is how important a finding is for the owner of the file.
type Severity uint8

// The severities in ascending order.
const (
	Info    Severity = iota // crawlers read the line as intended, but the owner should know something
	Warning                 // some crawlers can read the line differently than intended
	Error                   // crawlers ignore the line or the file
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

// Findings of the parser. RFC 9309 section 2.2 defines the format, and section 2.5 the size
// limit.
const (
	TooLarge            Code = "too-large"           // longer than MaxSize; the rest is ignored
	LineSplitByLimit    Code = "line-cut"            // the line that the cut split was dropped
	LineTooLong         Code = "line-too-long"       // 8,192 bytes or more, which some crawlers cut
	UTF16               Code = "utf-16"              // the file is UTF-16 and was not parsed
	ContainsNUL         Code = "not-text"            // a NUL byte ends a line
	ByteOrderMark       Code = "byte-order-mark"     // a whole or partial UTF-8 BOM was skipped
	HTML                Code = "html"                // the file is a web page without a rule
	LineWithoutKey      Code = "no-key"              // not of the form key: value
	MissingColon        Code = "missing-colon"       // two words that Google reads as key and value
	MisspeltKey         Code = "misspelt-key"        // a known misspelling that Google accepts
	UnknownKey          Code = "unknown-key"         // an undefined key
	RuleOutsideGroup    Code = "rule-outside-group"  // allow or disallow before any user-agent
	RuleWithoutSlash    Code = "rule-without-slash"  // starts with neither / nor *, so it matches nothing
	DollarBeforeEnd     Code = "dollar-inside"       // $ before the end is an ordinary character
	EmptyAgentName      Code = "empty-user-agent"    // an empty name
	SeveralAgentNames   Code = "user-agent-list"     // several names in one line; only the first is used
	WildcardInAgentName Code = "user-agent-pattern"  // * in a name is not a wildcard
	RepeatedGroup       Code = "repeated-group"      // the same name in two groups, which are merged
	GroupWithoutRule    Code = "group-without-rules" // allows everything
	AmbiguousGroup      Code = "ambiguous-group"     // crawlers disagree about the clients of the rules
)

// Codes returns the codes of all findings that Parse can report.
func Codes() []Code {
	return []Code{TooLarge, LineSplitByLimit, LineTooLong, UTF16, ContainsNUL, ByteOrderMark, HTML, LineWithoutKey,
		MissingColon, MisspeltKey, UnknownKey, RuleOutsideGroup, RuleWithoutSlash, DollarBeforeEnd,
		EmptyAgentName, SeveralAgentNames, WildcardInAgentName, RepeatedGroup, GroupWithoutRule, AmbiguousGroup}
}

// Finding is a problem in a robots.txt.
type Finding struct {
	Code     Code     // the kind, for programs
	Severity Severity // the importance
	Line     int      // counted from 1; 0 for the whole file
	Message  string   // the problem and the remedy in one or two sentences
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
