package policy

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Severity says how much a finding matters to the owner of the file.
type Severity uint8

// The severities, least first.
const (
	Info    Severity = iota // read as meant, but worth knowing
	Warning                 // crawlers can read it differently than intended
	Error                   // not read at all
)

// String returns info, warning or error.
func (s Severity) String() string {
	return [...]string{"info", "warning", "error"}[s]
}

// Code names a kind of finding. Codes are stable and safe to use as a label.
type Code string

// Findings of the parser. RFC 9309 section 2.2 defines the format, and section 2.5 the size
// limit.
const (
	TooLarge         Code = "too-large"           // longer than MaxSize; what follows is not read
	LineCut          Code = "line-cut"            // the line that the cut split was dropped
	LineTooLong      Code = "line-too-long"       // 8,192 bytes or more, which some crawlers cut
	UTF16            Code = "utf-16"              // the file is UTF-16, nothing was read
	NotText          Code = "not-text"            // a NUL byte ends a line
	ByteOrderMark    Code = "byte-order-mark"     // a whole or partial UTF-8 BOM was skipped
	HTML             Code = "html"                // the file is a web page without a rule
	NoKey            Code = "no-key"              // not of the form key: value
	MissingColon     Code = "missing-colon"       // two words that Google reads as key and value
	MisspeltKey      Code = "misspelt-key"        // a known misspelling that Google accepts
	UnknownKey       Code = "unknown-key"         // a key that nobody defined
	RuleOutsideGroup Code = "rule-outside-group"  // allow or disallow before any user-agent
	RuleWithoutSlash Code = "rule-without-slash"  // starts with neither / nor *, so it matches nothing
	DollarInside     Code = "dollar-inside"       // $ before the end is an ordinary character
	EmptyName        Code = "empty-user-agent"    // names nobody
	NameList         Code = "user-agent-list"     // several names in one line, of which the first is read
	NamePattern      Code = "user-agent-pattern"  // * in a name is not a wildcard
	RepeatedGroup    Code = "repeated-group"      // the same name in two places: merged
	GroupWithoutRule Code = "group-without-rules" // allows everything
	AmbiguousGroup   Code = "ambiguous-group"     // crawlers disagree about who the rules are for
)

// Codes returns all codes of the parser.
func Codes() []Code {
	return []Code{TooLarge, LineCut, LineTooLong, UTF16, NotText, ByteOrderMark, HTML, NoKey,
		MissingColon, MisspeltKey, UnknownKey, RuleOutsideGroup, RuleWithoutSlash, DollarInside,
		EmptyName, NameList, NamePattern, RepeatedGroup, GroupWithoutRule, AmbiguousGroup}
}

// Finding is a problem in a robots.txt.
type Finding struct {
	Code     Code     // what kind it is, for programs
	Severity Severity // how much it matters
	Line     int      // counted from 1; 0 where the finding is about the whole file
	Message  string   // the problem and the remedy in one or two sentences
}

// String formats the finding in one line.
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s [%s]", f.Severity, f.Message, f.Code)
	}
	return fmt.Sprintf("line %d: %s: %s [%s]", f.Line, f.Severity, f.Message, f.Code)
}

// maxFindings is the maximum number of findings of a file.
const maxFindings = 200

// quoted bounds a piece of the file for use in a message.
func quoted(s string) string { return text.Quote(s, 60) }
