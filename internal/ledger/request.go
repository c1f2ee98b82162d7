package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Other is the common name of all sites outside the configuration. It is also the name of all
// crawlers that neither the registry nor a robots.txt names, and of the sites and crawlers for
// which the ledger has no room.
const Other = judge.OtherName

// Request is a crawler's request with the decision of the guard.
type Request struct {
	At time.Time
	// Site is a host of the configuration, or Other.
	Site string
	// Host is the requested host if the site has several hosts, else "".
	Host string
	// HostsFromClients reports whether clients can invent host names of the site. The ledger counts
	// no lines of robots.txt for such sites.
	HostsFromClients bool
	// Token is the crawler's name in the registry or in the robots.txt, or a name that several
	// clients share, such as Other.
	Token string
	// Name is the client's own name if clients share the Token, else "".
	Name string
	// NamedByRobots reports whether the site's robots.txt names the crawler.
	NamedByRobots bool
	Class         uaident.Class
	Identity      verify.State
	Verdict       judge.Verdict
	Action        judge.Action
	// WouldBlock reports whether the guard let the request pass, but would have blocked it in the
	// mode enforce.
	WouldBlock bool
	// AgainstPreference reports whether robots.txt allows the request, but states a preference
	// against the crawler's use of the content, such as training.
	AgainstPreference bool
	// Slowed reports whether the request was refused because it came too early after the previous
	// one. Action still is the action of the verdict.
	Slowed    bool
	Method    string
	Target    string // Target is the request target as sent.
	UserAgent string
	// MayRetainUserAgent reports whether the ledger may keep UserAgent without copying it.
	MayRetainUserAgent bool
	// Network is the client's network. See addr.NetworkOfAddr.
	Network netip.Prefix
	Rule    Rule
	// GroupLine is the line number of the User-agent line by which the crawler's group was
	// selected, or 0.
	GroupLine int
	// VersionFetchedAt is the time at which the guard first fetched the version of robots.txt that
	// decided.
	VersionFetchedAt time.Time
}

// unixMilli returns the time of the request in Unix milliseconds.
func (q *Request) unixMilli() int64 { return q.At.UnixMilli() }

// Rule is the rule of a robots.txt that decided a request. Line is 0 if no rule matched. Version is
// zero if there is no robots.txt.
type Rule struct {
	Version Version `json:"version"`
	Line    int     `json:"line"`
	Text    string  `json:"rule"`  // Text is the rule, for example "Disallow: /private/".
	Group   string  `json:"group"` // Group is the name in the User-agent line of the group, or "".
}

// Version is the SHA-256 of a robots.txt. Zero means no robots.txt.
type Version [sha256.Size]byte

// String returns v in hexadecimal, or "" for the zero Version.
func (v Version) String() string {
	if v == (Version{}) {
		return ""
	}
	return hex.EncodeToString(v[:])
}

// MarshalText implements [encoding.TextMarshaler].
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Version) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = Version{}
		return nil
	}
	if len(text) != 2*len(v) {
		return fmt.Errorf("%.80q is not a SHA-256", text)
	}
	_, err := hex.Decode(v[:], text)
	return err
}

// These are maximum lengths of strings, in bytes.
const (
	maxTargetBytes    = 200
	maxUserAgentBytes = 256
	maxRuleBytes      = 160
	maxTokenBytes     = 64
	maxMethodBytes    = 16
)

// cloneTruncated returns a copy of s, shortened to at most maxBytes bytes.
func cloneTruncated(s string, maxBytes int) string { return strings.Clone(text.Truncate(s, maxBytes)) }
