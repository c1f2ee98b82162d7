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

// basePrefix begins the names of the values with base files, to which robots_txt adds rules.
const basePrefix = "base-"

// These are the suffixes of the names of values.
const (
	suffixJSON   = ".json"
	suffixLedger = ".ledger"
)

// key is the parsed key of a stored value. String returns the key in the storage.
type key struct{ instance, kind, name string }

// String returns the key in the storage.
func (k key) String() string { return rootDir + "/" + k.instance + "/" + k.kind + "/" + k.name }

// directory returns the storage directory for the values of the instance and kind of k.
func (k key) directory() string { return rootDir + "/" + k.instance + "/" + k.kind }

// quarantineKey returns the key to which the value of k is moved if it is invalid.
func (k key) quarantineKey() key { return key{k.instance, quarantineDir, k.kind + "-" + k.name} }

// parseKey parses a key that the storage has listed. ok is false for a directory and for a key of
// another program.
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

// sharedDir is the directory with the changes of managed robots.txt files, which all instances
// write.
const sharedDir = "managed"

// parseInstance returns the instance to which a listed key or directory belongs, or "".
func parseInstance(name string) string {
	rest, ok := strings.CutPrefix(name, rootDir+"/")
	if instance, _, _ := strings.Cut(rest, "/"); ok && instance != sharedDir {
		return instance
	}
	return ""
}

// siteValueName returns the name under which a site's value is stored.
func siteValueName(site policy.Key) string { return hashName(site.UniqueString(), suffixJSON) }

// hashName returns the SHA-256 of text in hexadecimal, followed by suffix.
func hashName(text, suffix string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) + suffix
}
