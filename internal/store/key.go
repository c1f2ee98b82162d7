package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// rootDir is the storage directory of all values.
const rootDir = "robots_guard/v1"

// quarantineDir is the name of an instance's directory for invalid values.
const quarantineDir = "set_aside"

// basePrefix is the name prefix for bases of composed robots.txt files.
const basePrefix = "base-"

// The suffixes of the names of values.
const (
	suffixJSON   = ".json"
	suffixLedger = ".ledger"
)

// key is the key of a value.
type key struct{ instance, kind, name string }

// String returns the key in the storage.
func (k key) String() string { return rootDir + "/" + k.instance + "/" + k.kind + "/" + k.name }

// directory returns the directory of the values of an instance and kind.
func (k key) directory() string { return rootDir + "/" + k.instance + "/" + k.kind }

// quarantineKey returns the key to which an invalid value is moved.
func (k key) quarantineKey() key { return key{k.instance, quarantineDir, k.kind + "-" + k.name} }

// parseKey parses a key from a listing. The result is false for directories and for keys of other
// programs.
func parseKey(name string) (k key, ok bool) {
	rest, ok := strings.CutPrefix(name, rootDir+"/")
	k.instance, rest, _ = strings.Cut(rest, "/")
	k.kind, k.name, _ = strings.Cut(rest, "/")
	if !ok || strings.Contains(k.name, "/") {
		return key{}, false
	}
	isJSON, isLedger := strings.HasSuffix(k.name, suffixJSON), strings.HasSuffix(k.name, suffixLedger)
	switch {
	case k.kind == quarantineDir:
		return k, isJSON || isLedger
	case k.kind == kindLedger:
		return k, isLedger
	}
	return k, isJSON && slices.Contains(kindNames[:], k.kind)
}

// sharedDir is the directory of the robots_txt changes. All instances write to this directory.
const sharedDir = "managed"

// instanceOf returns the instance in a listed key or directory. The result is "" if the key does
// not belong to an instance.
func instanceOf(name string) string {
	rest, ok := strings.CutPrefix(name, rootDir+"/")
	if instance, _, _ := strings.Cut(rest, "/"); ok && instance != sharedDir {
		return instance
	}
	return ""
}

// siteName returns the name of a site's value.
func siteName(site policy.Key) string { return hashName(site.UniqueString(), suffixJSON) }

// hashName returns the hash of a string, followed by suffix.
func hashName(text, suffix string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) + suffix
}
