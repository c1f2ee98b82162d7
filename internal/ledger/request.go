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

// Other is the common name of all sites outside the configuration, and of all crawlers
// without an entry in the registry or a robots.txt.
const Other = judge.OtherName

// Request is a crawler's request. The ledger does not retain its memory.
type Request struct {
	At time.Time
	// Site is a host of the configuration, or Other.
	Site string
	// Host is the requested host of a site with several hosts, else "".
	Host string
	// HostsFromClients reports whether clients choose the hosts of the site. Lines are not counted for
	// such sites.
	HostsFromClients bool
	// Token is a name of the registry or of the robots.txt, or Other.
	Token string
	// Name is the client's own name if Token is a shared name, else "".
	Name string
	// NamedByRobots reports whether the site's robots.txt names the crawler.
	NamedByRobots bool
	Class         uaident.Class
	Identity      verify.State
	Verdict       judge.Verdict
	Action        judge.Action
	// WouldBlock reports whether the request passed, but would have been blocked by enforce.
	WouldBlock bool
	// AgainstPreference reports whether an allowed request is against a preference of the robots.txt
	// for the use of the crawler's class.
	AgainstPreference bool
	// Slowed reports whether the request was refused as too early. Action is the action of
	// the verdict.
	Slowed    bool
	Method    string
	Target    string // as requested
	UserAgent string
	// MayRetainUserAgent reports whether the memory of UserAgent can be retained.
	MayRetainUserAgent bool
	// Network is the network of the client. See addr.NetworkOfAddr.
	Network netip.Prefix
	Rule    Rule
	// GroupLine is the line of the user-agent line that selected the group, or 0.
	GroupLine int
	// VersionFetched is the time of the first fetch of the version.
	VersionFetched time.Time
}

// at returns the time in Unix milliseconds.
func (q *Request) at() int64 { return q.At.UnixMilli() }

// Rule is the rule that decided a request. Line is 0 without a rule. Version is zero without
// a robots.txt.
type Rule struct {
	Version Version `json:"version"`
	Line    int     `json:"line"`
	Text    string  `json:"rule"`  // for example "Disallow: /private/"
	Group   string  `json:"group"` // user-agent line of the group
}

// Version is the SHA-256 of a robots.txt, or zero.
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

// Maximum lengths of strings, in bytes.
const (
	maxTarget = 200
	maxAgent  = 256
	maxRule   = 160
	maxToken  = 64
	maxMethod = 16
)

// cloneTruncated returns a copy of at most most bytes.
func cloneTruncated(s string, most int) string { return strings.Clone(text.Truncate(s, most)) }
