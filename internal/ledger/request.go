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

// Other is the name of everything that has no name of its own in the ledger:
// sites that the configuration does not name, and crawlers that neither the
// registry nor a robots.txt names.
const Other = judge.OtherName

// Request is a request of a crawler, as the ledger takes note of it. Nothing
// that it refers to is kept.
type Request struct {
	At time.Time
	// Site is a host that the configuration names, or Other.
	Site string
	// Host is the host that the request was for, where the site stands for
	// several; "" where it is the site.
	Host string
	// Shared says that the site stands for hosts that clients choose. Of their
	// files no lines are counted.
	Shared bool
	// Token is a name that the registry or the robots.txt spells, or Other.
	Token string
	// Name is what a client calls itself whose Token is a name that it shares
	// with others, "" for those with a token of their own.
	Name string
	// Named says that the site's robots.txt names the crawler.
	Named    bool
	Class    uaident.Class
	Identity verify.State
	Verdict  judge.Verdict
	Action   judge.Action
	// WouldBlock says that the request passed and enforce would have blocked it.
	WouldBlock bool
	// Against says that it was allowed and that the robots.txt states a preference
	// against the use that the crawler's class fetches for.
	Against bool
	// Slowed says that it was answered in place of the site since it came too early;
	// Action is what would have been done about it otherwise.
	Slowed    bool
	Method    string
	Target    string // as requested
	UserAgent string
	// Lasting says that the UserAgent refers to nothing else, so that it may be kept as it is.
	Lasting bool
	// Network is the network that the request came from, as addr.Network has it.
	Network netip.Prefix
	Rule    Rule
	// GroupLine is the line of the user-agent line by which the group was
	// chosen; 0 if none was.
	GroupLine int
	// Since is when the version was first read.
	Since time.Time
}

// Rule is the rule that decided about a request. Without a rule its Line is 0,
// without a robots.txt its Version is zero.
type Rule struct {
	Version Version `json:"version"`
	Line    int     `json:"line"`
	Text    string  `json:"rule"`  // such as "Disallow: /private/"
	Group   string  `json:"group"` // the user-agent line of its group
}

// Version is the SHA-256 of a robots.txt. The zero Version stands for none.
type Version [sha256.Size]byte

// String returns v in hexadecimal, "" for the zero Version.
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
		return fmt.Errorf("%.80q is no SHA-256", text)
	}
	_, err := hex.Decode(v[:], text)
	return err
}

// Bounds of what is kept of a request, in bytes.
const (
	maxTarget = 200
	maxAgent  = 256
	maxRule   = 160
	maxToken  = 64
	maxMethod = 16
)

// own bounds a string and gives it memory of its own.
func own(s string, most int) string { return strings.Clone(text.Cut(s, most)) }
