package replay

import (
	"bytes"
	"hash/maphash"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// cachedIdentity is the crawler or browser that a User-Agent claims to be. It depends on the
// version of the robots.txt, which can define crawler names.
type cachedIdentity struct {
	userAgent []byte
	hash      uint64
	version   int32
	isUsed    bool

	isBrowser     bool
	client        uaident.Identity // client refers to userAgent.
	groupCache    judge.GroupCache // groupCache is for the rules of the version.
	crawlerNumber int32
}

// These are bounds of the cache of identities: the number of User-Agents, and their length in
// bytes.
const (
	maxIdentities     = 2048
	maxCachedAgentLen = 512
)

// identify returns the crawler or browser that a User-Agent claims to be. The result is valid until
// the next call.
func (w *worker) identify(userAgent []byte) *cachedIdentity {
	if len(userAgent) > maxCachedAgentLen {
		who := &w.identities[maxIdentities]
		w.identifyUncached(who, unsafeString(userAgent))
		return who
	}
	hash := maphash.Bytes(w.seed, userAgent)
	who := &w.identities[hash%maxIdentities]
	if who.isUsed && who.hash == hash && who.version == int32(w.version) && (who.isBrowser || bytes.Equal(who.userAgent, userAgent)) {
		return who
	}
	who.userAgent = append(who.userAgent[:0], userAgent...)
	who.hash, who.version, who.isUsed = hash, int32(w.version), true
	w.identifyUncached(who, unsafeString(who.userAgent))
	return who
}

// identifyUncached sets the fields of who for a User-Agent. It uses the registry and the crawler
// names in the current version of the robots.txt, as the handler does.
func (w *worker) identifyUncached(who *cachedIdentity, userAgent string) {
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
	who.crawlerNumber = w.crawlers.assignNumber(crawlerKey{name, who.client.Class})
}

// judgeRequest sets w.result to the result of judging the current request by a version of the
// robots.txt.
func (w *worker) judgeRequest(who *cachedIdentity, current *datedVersion) {
	q := w.newJudgeRequest(who)
	current.settings.Judge(&q, judge.Rules{Robots: current.robots}, &w.scratch, &w.result)
}

// newJudgeRequest converts w.record into a request for package judge.
func (w *worker) newJudgeRequest(who *cachedIdentity) judge.Request {
	r := &w.record
	return judge.Request{
		Client: who.client, Method: methodText(r.Method), Target: unsafeString(r.Target),
		Path: unsafeString(w.decodePath(r.Target)), GroupCache: &who.groupCache,
	}
}
