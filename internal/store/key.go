package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// root is the directory of everything that is stored.
const root = "robots_guard/v1"

// The kinds of values, which are also the directories of an instance.
const (
	kindPolicies = "policies"
	kindBases    = "bases"
	kindCopies   = "copies"
	kindReaders  = "readers"
	kindChanges  = "changes"
	kindLists    = "lists"
	kindLedger   = "ledger"
	kindAlerts   = "alerts"
	kindRates    = "rates"
)

// quarantine is the directory of an instance for values that cannot be used.
const quarantine = "set_aside"

var kinds = [...]string{kindPolicies, kindBases, kindCopies, kindReaders, kindChanges, kindLists, kindLedger, kindAlerts, kindRates}

// Kinds returns the names of the kinds of values.
func Kinds() []string { return slices.Clone(kinds[:]) }

// The suffixes of the names of values. That of the ledger keeps versions of this
// product from its values that know no ledger.
const (
	suffixJSON   = ".json"
	suffixLedger = ".ledger"
)

// key is a key of ours.
type key struct{ instance, kind, name string }

// String returns the key as the storage knows it.
func (k key) String() string { return root + "/" + k.instance + "/" + k.kind + "/" + k.name }

// directory returns the key of all values of an instance that are of this kind.
func (k key) directory() string { return root + "/" + k.instance + "/" + k.kind }

// aside returns where a value is kept that cannot be used.
func (k key) aside() key { return key{k.instance, quarantine, k.kind + "-" + k.name} }

// parseKey reads a key from a listing, which may also name directories and what
// others keep.
func parseKey(name string) (k key, ok bool) {
	rest, ok := strings.CutPrefix(name, root+"/")
	k.instance, rest, _ = strings.Cut(rest, "/")
	k.kind, k.name, _ = strings.Cut(rest, "/")
	if !ok || strings.Contains(k.name, "/") {
		return key{}, false
	}
	isJSON, isLedger := strings.HasSuffix(k.name, suffixJSON), strings.HasSuffix(k.name, suffixLedger)
	switch {
	case k.kind == quarantine:
		return k, isJSON || isLedger
	case k.kind == kindLedger:
		return k, isLedger
	}
	return k, isJSON && slices.Contains(kinds[:], k.kind)
}

// shared is the directory of what all instances write: the changes of robots_txt.
const shared = "managed"

// instanceOf returns the instance in a key or directory from a listing, "" if it
// is none of ours.
func instanceOf(name string) string {
	rest, ok := strings.CutPrefix(name, root+"/")
	if instance, _, _ := strings.Cut(rest, "/"); ok && instance != shared {
		return instance
	}
	return ""
}

// siteName returns the name of what is stored about a site.
func siteName(site policy.Key) string { return hashName(site.Quoted(), suffixJSON) }

// siteSum stands for a site.
type siteSum [sha256.Size]byte

func sumOf(site policy.Key) siteSum { return sha256.Sum256([]byte(site.Quoted())) }

// hashName returns a name that stands for a text of any form.
func hashName(text, suffix string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) + suffix
}
