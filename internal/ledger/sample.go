package ledger

import (
	"net/netip"

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
type FetchedVersion string

// These are the values of FetchedVersion.
const (
	NeverFetched   FetchedVersion = "never"   // The crawler has not fetched robots.txt.
	OldVersion     FetchedVersion = "old"     // The crawler has fetched an earlier version than the one that decided.
	CurrentVersion FetchedVersion = "current" // The crawler has fetched the version by which the request was judged.
)
