package replay

import (
	"bytes"
	"hash/maphash"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// cachedIdentity is the identity of a User-Agent under a version of the robots.txt.
type cachedIdentity struct {
	userAgent []byte
	hash      uint64
	version   int32
	isUsed    bool

	isBrowser     bool
	client        uaident.Identity // refers to userAgent
	groupCache    judge.GroupCache // for the rules of the version
	crawlerNumber int32
}

// Bounds of the cache of identities: the number of User-Agents, and their length in bytes.
const (
	maxIdentities     = 2048
	maxCachedAgentLen = 512
)

// identify returns the claimed identity of a User-Agent. The result is valid until the next call.
func (w *worker) identify(userAgent []byte) *cachedIdentity {
	if len(userAgent) > maxCachedAgentLen {
		who := &w.identities[maxIdentities]
		w.identifyByVersion(who, unsafeString(userAgent))
		return who
	}
	hash := maphash.Bytes(w.seed, userAgent)
	who := &w.identities[hash%maxIdentities]
	if who.isUsed && who.hash == hash && who.version == int32(w.version) && (who.isBrowser || bytes.Equal(who.userAgent, userAgent)) {
		return who
	}
	who.userAgent = append(who.userAgent[:0], userAgent...)
	who.hash, who.version, who.isUsed = hash, int32(w.version), true
	w.identifyByVersion(who, unsafeString(who.userAgent))
	return who
}

// identifyByVersion identifies a User-Agent by the registry and the names in the current version, as the handler
// does.
func (w *worker) identifyByVersion(who *cachedIdentity, userAgent string) {
	current := &w.versions[w.version]
	who.client = current.settings.Identify(w.registry, userAgent, current.overlay)
	who.groupCache = judge.GroupCache{}
	if who.isBrowser = who.client.Class == uaident.Browser; who.isBrowser {
		return
	}
	name := current.settings.KnownName(&judge.Request{Client: who.client, GroupCache: &who.groupCache}, current.robots)
	if name == "" {
		name = otherName
	}
	who.crawlerNumber = w.crawlers.numberOf(crawlerKey{name, who.client.Class})
}

// judgeRequest sets w.result to the verdict of a version about the request in the record.
func (w *worker) judgeRequest(who *cachedIdentity, current *datedVersion) {
	q := w.judgeRequestOf(who)
	current.settings.Judge(&q, judge.Rules{Robots: current.robots}, &w.scratch, &w.result)
}

// judgeRequestOf converts the record into a request.
func (w *worker) judgeRequestOf(who *cachedIdentity) judge.Request {
	r := &w.record
	return judge.Request{
		Client: who.client, Method: methodOf(r.Method), Target: unsafeString(r.Target),
		Path: unsafeString(w.pathOf(r.Target)), GroupCache: &who.groupCache,
	}
}
