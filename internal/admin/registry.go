package admin

import "github.com/robotsguard/caddy-robots-guard/internal/report"

// RegistryPath is the path of the state of the registry that the configuration names:
//
//	GET /robots_guard/registry
//	GET /robots_guard/registry/proposals
//
// The responses are a [RegistryReport] and [Proposals].
const RegistryPath = "/robots_guard/registry"

// RegistryReport is the response to a request for the state of the crawler registry.
type RegistryReport struct {
	Registry *report.RegistryStatus `json:"registry"` // Registry is null if the configuration names none.
}

// Proposals are the names of unregistered clients that the registry could contain: robots first,
// then by frequency.
type Proposals struct {
	Proposals []report.RegistryProposal `json:"proposals"`
}
