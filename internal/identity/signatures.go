package identity

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// signatureVar is the request variable for the result of verifying the request's
// signature. A second verification would fail as a replay.
const signatureVar = "robots_guard.signed"

// verifySignature verifies the signature of a request, or returns the result of an earlier call for
// the request.
func (c *Checker) verifySignature(r *http.Request) botauth.Result {
	if known, ok := SignatureResult(r); ok {
		return known
	}
	original := site.OriginalRequest(r)
	result := c.Signatures.Load().Check(botauth.Request{
		Method: original.Method, Scheme: site.SchemeOf(site.IsSecure(r, site.IsTrustedProxy(r))), Authority: r.Host, Target: site.RequestTarget(original), Header: r.Header,
	})
	c.OnSignature(result.Reason)
	if check := c.Logger.Check(zap.DebugLevel, "signature checked"); check != nil {
		check.Write(zap.Stringer("signature", result.Reason), zap.String("why", result.Explain()), zap.String("advice", result.Reason.Advice()),
			zap.String("host", text.Truncate(r.Host, site.MaxHost)))
	}
	caddyhttp.SetVar(r.Context(), signatureVar, result)
	return result
}

// SignatureResult returns the result of verifying the signature of a request. ok is false if no
// signature was verified.
func SignatureResult(r *http.Request) (result botauth.Result, ok bool) {
	if r.Header["Signature-Input"] == nil {
		return result, false
	}
	result, ok = caddyhttp.GetVar(r.Context(), signatureVar).(botauth.Result)
	return result, ok
}

// signatureVerifier verifies the signatures of signing agents. It logs when an agent's key
// directory becomes unusable or usable.
type signatureVerifier struct {
	*botauth.Verifier

	onDirectoryFetch func(result string) // onDirectoryFetch gets the result of each fetch of a key directory.

	mu     sync.Mutex
	logger *zap.Logger // logger is the logger of the configuration that was loaded last.
	// lastResults has the last result of reading the directory of an agent: directoryRead or
	// directoryFailed.
	lastResults map[string]string
}

// These are the results of fetching a key directory.
const (
	directoryRead   = "read"
	directoryFailed = "failed"
)

// Destruct implements caddy.Destructor.
func (s *signatureVerifier) Destruct() error {
	s.Close()
	return nil
}

// AcquireSignatureVerifier returns a verifier for the signatures of a registry's crawlers, and
// releases it when ctx is done. The verifier remembers used nonces, so configurations with the same
// signing agents share a verifier. onFetch gets the result of each fetch of a key directory, "read"
// or "failed". A shared verifier calls only the onFetch with which it was created.
func (s *SharedState) AcquireSignatureVerifier(ctx context.Context, registry *uaident.Registry, logger *zap.Logger, onFetch func(result string)) (*botauth.Verifier, error) {
	agents, err := SigningAgents(registry)
	if err != nil {
		return nil, err
	}
	var agentList []string
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		agentList = append(agentList, agent, agents[agent])
	}
	poolKey := strings.Join(agentList, " ")
	pooled, _, err := s.signatureVerifiers.LoadOrNew(poolKey, func() (caddy.Destructor, error) {
		verifier := &signatureVerifier{lastResults: make(map[string]string), onDirectoryFetch: onFetch}
		var err error
		verifier.Verifier, err = botauth.New(botauth.Options{Agents: agents, UserAgent: site.GuardUserAgent, OnFetched: verifier.recordDirectoryFetch})
		return verifier, err
	})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _, _ = s.signatureVerifiers.Delete(poolKey) }) // Destruct never returns an error.
	verifier := pooled.(*signatureVerifier)
	verifier.mu.Lock()
	verifier.logger = logger
	verifier.mu.Unlock()
	return verifier.Verifier, nil
}

// SignatureVerifierCount returns the number of signature verifiers in use.
func (s *SharedState) SignatureVerifierCount() (n int) {
	s.signatureVerifiers.Range(func(_, _ any) bool { n++; return true })
	return n
}

// SigningKeyCounts returns the number of usable keys of each signing agent. During a reload, two
// verifiers may know the same agent.
func (s *SharedState) SigningKeyCounts() map[string]int {
	keys := make(map[string]int)
	s.signatureVerifiers.Range(func(_, value any) bool {
		if s, ok := value.(*signatureVerifier); ok && s.Verifier != nil {
			for _, d := range s.Directories() {
				keys[d.Agent] = max(keys[d.Agent], d.KeyCount)
			}
		}
		return true
	})
	return keys
}

// recordDirectoryFetch passes the result of fetching an agent's key directory to onDirectoryFetch.
// It logs the result if it is the first for the agent, or differs from the previous result.
func (s *signatureVerifier) recordDirectoryFetch(agent string, err error) {
	result := directoryRead
	if err != nil {
		result = directoryFailed
	}
	s.onDirectoryFetch(result)
	s.mu.Lock()
	previous, logger := s.lastResults[agent], s.logger
	s.lastResults[agent] = result
	s.mu.Unlock()
	if previous == result || logger == nil {
		return
	}
	for _, d := range s.Directories() {
		if d.Agent != agent {
			continue
		}
		fields := []zap.Field{zap.String("agent", agent), zap.String("operator", d.Operator), zap.Int("keys", d.KeyCount)}
		if err != nil {
			logger.Warn("the key directory of a signing agent cannot be used; the next message comes when the key directory can be used", append(fields, zap.Time("next_attempt", d.NextFetch), zap.Error(err))...)
		} else {
			logger.Info("key directory of a signing agent read", fields...)
		}
	}
}

// SigningAgents returns the signing agents of a registry's crawlers, and maps each agent to its
// operator. It fails if crawlers of two operators have the same agent, because the owner of a
// signature would be unclear.
func SigningAgents(registry *uaident.Registry) (map[string]string, error) {
	agents := make(map[string]string)
	firstCrawler := make(map[string]uaident.Crawler)
	for _, c := range registry.Crawlers() {
		agent, ok := botauth.NormalizeOrigin(c.Verification.WebBotAuth)
		if !ok || c.Operator == "" {
			continue
		}
		if operator, ok := agents[agent]; ok && operator != c.Operator {
			other := firstCrawler[agent]
			return nil, fmt.Errorf("crawlers %s (of the operator %s) and %s (of %s) have the same signing agent %s, and a signature cannot be both operators'; "+
				"if one operator runs both crawlers, name this operator in the option operator of crawler", other.Token, operator, c.Token, c.Operator, agent)
		}
		if _, ok := agents[agent]; !ok {
			agents[agent], firstCrawler[agent] = c.Operator, c
		}
	}
	return agents, nil
}
