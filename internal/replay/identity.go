package replay

import (
	"bytes"
	"hash/maphash"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// identity is the identity of a User-Agent under a version of the robots.txt.
type identity struct {
	userAgent []byte
	hash      uint64
	version   int32
	used      bool

	browser bool
	client  uaident.Identity // refers to userAgent
	bound   judge.GroupCache // for the rules of the version
	crawler int32
}

// Bounds of the cache of identities: the number of User-Agents, and their length in bytes.
const (
	maxIdentities     = 2048
	maxCachedAgentLen = 512
)

// identify returns the claimed identity of a User-Agent. The result is valid until the next call.
func (w *worker) identify(userAgent []byte) *identity {
	if len(userAgent) > maxCachedAgentLen {
		who := &w.identities[maxIdentities]
		w.resolve(who, unsafeString(userAgent))
		return who
	}
	hash := maphash.Bytes(w.seed, userAgent)
	who := &w.identities[hash%maxIdentities]
	if who.used && who.hash == hash && who.version == int32(w.version) && (who.browser || bytes.Equal(who.userAgent, userAgent)) {
		return who
	}
	who.userAgent = append(who.userAgent[:0], userAgent...)
	who.hash, who.version, who.used = hash, int32(w.version), true
	w.resolve(who, unsafeString(who.userAgent))
	return who
}

// resolve identifies a User-Agent by the registry and the names in the current version, as the handler
// does.
func (w *worker) resolve(who *identity, userAgent string) {
	current := &w.versions[w.version]
	who.client = current.settings.Identify(w.registry, userAgent, current.overlay)
	who.bound = judge.GroupCache{}
	if who.browser = who.client.Class == uaident.Browser; who.browser {
		return
	}
	name := current.settings.KnownName(&judge.Request{Client: who.client, GroupCache: &who.bound}, current.robots)
	if name == "" {
		name = otherName
	}
	who.crawler = w.crawlers.id(crawlerKey{name, who.client.Class})
}

// judgeRequest sets w.result to the verdict of a version about the request in the record.
func (w *worker) judgeRequest(who *identity, current *version) {
	q := w.requestOf(who)
	current.settings.Judge(&q, judge.Rules{Robots: current.robots}, &w.scratch, &w.result)
}

// requestOf converts the record into a request.
func (w *worker) requestOf(who *identity) judge.Request {
	r := &w.record
	return judge.Request{
		Client: who.client, Method: methodOf(r.Method), Target: unsafeString(r.Target),
		Path: unsafeString(w.pathOf(r.Target)), GroupCache: &who.bound,
	}
}
