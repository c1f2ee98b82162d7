// Package registryfile parses, writes and compares crawler registries in JSON. The built-in
// registry of package uaident is compiled from such a file, which [uaident.JSON] returns.
//
// docs/registry.schema.json is the schema of the format.
package registryfile

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// These are bounds of a registry file.
const (
	MaxBytes    = 4 << 20
	MaxCrawlers = 3000
	maxName     = 100 // maxName is the maximum number of bytes of a token, alias or operator.
	maxText     = 500 // maxText is the maximum number of bytes of any other string.
	maxList     = 64  // maxList is the maximum number of strings in a list.
	maxErrors   = 50  // maxErrors is the maximum number of reported errors.
)

// File is the content of a registry file, which contains all crawlers of a registry or only some.
type File struct {
	// Date is the date of the file, such as 2026-11-23, or "".
	Date string
	// Crawlers are the registry entries in the order of the file.
	Crawlers []uaident.Crawler
}

// Merge returns a registry with the entries of base and f. An entry of f replaces each entry of
// base whose token is the token or an alias of the entry of f.
func (f *File) Merge(base *uaident.Registry) (*uaident.Registry, error) {
	registry, err := base.WithCrawlers(f.Crawlers...)
	if err != nil {
		return nil, fmt.Errorf("cannot merge the registry into the built-in registry: %w", err)
	}
	return registry, nil
}
