package ledger

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// Sample is one disallowed request, kept as an example.
type Sample struct {
	At             int64          `json:"at"`
	Host           string         `json:"host,omitempty"`
	Name           string         `json:"name,omitempty"`
	Method         string         `json:"method"`
	Path           string         `json:"path"`
	Rule           Rule           `json:"rule"`
	Action         judge.Action   `json:"action"`
	Network        netip.Prefix   `json:"network"`
	UserAgent      string         `json:"agent"`
	FetchedVersion FetchedVersion `json:"known"`
}

// FetchedVersion says which version of robots.txt a crawler had fetched before a disallowed
// request: never any, an old version, or the current version.
type FetchedVersion uint8

// These are the values of FetchedVersion.
const (
	NeverFetched   FetchedVersion = iota // The crawler has not fetched robots.txt.
	OldVersion                           // The crawler has fetched an earlier version than the one that decided.
	CurrentVersion                       // The crawler has fetched the version by which the request was judged.
	numFetchedVersions
)

var fetchedVersionWords = [numFetchedVersions]string{"never", "old", "current"}

// String returns "never", "old" or "current".
func (k FetchedVersion) String() string { return fetchedVersionWords[min(k, numFetchedVersions-1)] }

// MarshalText implements [encoding.TextMarshaler].
func (k FetchedVersion) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *FetchedVersion) UnmarshalText(text []byte) error {
	i := slices.Index(fetchedVersionWords[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown fetched version %.40q; want one of %v", text, fetchedVersionWords)
	}
	*k = FetchedVersion(i)
	return nil
}
