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

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// signedVar is the request variable that keeps what came of checking the
// request's signature: one cannot be verified twice, for then it would be a
// replay.
const signedVar = "robots_guard.signed"

// signed returns what came of checking the signature of a request.
func (c *Checker) signed(r *http.Request) botauth.Result {
	if known, ok := SignatureOf(r); ok {
		return known
	}
	original := request.OriginalRequest(r)
	result := c.Signatures.Load().Check(botauth.Request{
		Method: original.Method, Scheme: request.SchemeOf(request.IsSecure(r, request.IsTrustedProxy(r))), Authority: r.Host, Target: request.TargetOf(original), Header: r.Header,
	})
	c.Signed(result.Reason)
	if check := c.Logger.Check(zap.DebugLevel, "signature checked"); check != nil {
		check.Write(zap.Stringer("signature", result.Reason), zap.String("why", result.Explain()), zap.String("advice", result.Reason.Advice()),
			zap.String("host", text.Cut(r.Host, request.MaxHost)))
	}
	caddyhttp.SetVar(r.Context(), signedVar, result)
	return result
}

// SignatureOf returns what came of checking the signature of a request, false if
// none was checked.
func SignatureOf(r *http.Request) (result botauth.Result, ok bool) {
	if r.Header["Signature-Input"] == nil {
		return result, false
	}
	result, ok = caddyhttp.GetVar(r.Context(), signedVar).(botauth.Result)
	return result, ok
}

// signatures is a verifier of signatures, with what its owner was told.
type signatures struct {
	*botauth.Verifier

	directories func(result string) // is told what came of reading one

	mu     sync.Mutex
	logger *zap.Logger       // of the configuration that was loaded last
	told   map[string]string // of each agent, directoryRead or directoryFailed
}

// What the owner was told of a directory last.
const (
	directoryRead   = "read"
	directoryFailed = "failed"
)

// Destruct implements caddy.Destructor.
func (s *signatures) Destruct() error {
	s.Close()
	return nil
}

// UseSignatures returns a verifier of the signatures by the agents of a registry's
// crawlers, for as long as ctx lasts. It remembers what was signed, so it lives on
// while the agents stay the same. fetched is told what came of reading a directory
// of keys.
func (s *Shared) UseSignatures(ctx context.Context, registry *uaident.Registry, logger *zap.Logger, fetched func(result string)) (*botauth.Verifier, error) {
	agents, err := AgentsOf(registry)
	if err != nil {
		return nil, err
	}
	var key []string
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		key = append(key, agent, agents[agent])
	}
	name := strings.Join(key, " ")
	pooled, _, err := s.signatures.LoadOrNew(name, func() (caddy.Destructor, error) {
		made := &signatures{told: make(map[string]string), directories: fetched}
		var err error
		made.Verifier, err = botauth.New(botauth.Options{Agents: agents, UserAgent: origin.GuardUserAgent, Fetched: made.fetched})
		return made, err
	})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _, _ = s.signatures.Delete(name) }) // Destruct returns no error
	made := pooled.(*signatures)
	made.mu.Lock()
	made.logger = logger
	made.mu.Unlock()
	return made.Verifier, nil
}

// Signers returns how many verifiers of signatures are in use.
func (s *Shared) Signers() (n int) {
	s.signatures.Range(func(_, _ any) bool { n++; return true })
	return n
}

// SigningKeys returns the number of usable keys of each signing agent. While a
// configuration takes over from another, two verifiers may know one.
func (s *Shared) SigningKeys() map[string]int {
	keys := make(map[string]int)
	s.signatures.Range(func(_, value any) bool {
		if s, ok := value.(*signatures); ok && s.Verifier != nil {
			for _, d := range s.Directories() {
				keys[d.Agent] = max(keys[d.Agent], d.Keys)
			}
		}
		return true
	})
	return keys
}

// fetched counts a fetch of an agent's key directory, and tells the owner of the
// first one that fails, and of the first one after that which does not.
func (s *signatures) fetched(agent string, err error) {
	says := directoryRead
	if err != nil {
		says = directoryFailed
	}
	s.directories(says)
	s.mu.Lock()
	before, logger := s.told[agent], s.logger
	s.told[agent] = says
	s.mu.Unlock()
	if before == says || logger == nil {
		return
	}
	for _, d := range s.Directories() {
		if d.Agent != agent {
			continue
		}
		fields := []zap.Field{zap.String("agent", agent), zap.String("operator", d.Operator), zap.Int("keys", d.Keys)}
		if err != nil {
			logger.Warn("the key directory of a signing agent cannot be used; the next message comes when it can be used", append(fields, zap.Time("next_attempt", d.Next), zap.Error(err))...)
		} else {
			logger.Info("key directory of a signing agent read", fields...)
		}
	}
}

// AgentsOf returns the agents that sign for the crawlers of a registry, with
// their operators. It fails if an agent would sign for two of them: whose
// requests are they?
func AgentsOf(registry *uaident.Registry) (map[string]string, error) {
	agents := make(map[string]string)
	first := make(map[string]uaident.Crawler)
	for _, c := range registry.Crawlers() {
		agent, ok := botauth.Origin(c.Verification.WebBotAuth)
		if !ok || c.Operator == "" {
			continue
		}
		if known, ok := agents[agent]; ok && known != c.Operator {
			other := first[agent]
			return nil, fmt.Errorf("crawlers %s (of the operator %s) and %s (of %s) have the same signing agent %s, and a signature cannot be both operators'; "+
				"if one operator runs both crawlers, let the option operator of crawler name it", other.Token, known, c.Token, c.Operator, agent)
		}
		if _, ok := agents[agent]; !ok {
			agents[agent], first[agent] = c.Operator, c
		}
	}
	return agents, nil
}
