package caddymodule

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

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// signedByVar is the request variable that keeps who signed the request: a
// signature cannot be verified twice, for then it would be a replay.
const signedByVar = "robots_guard.signed_by"

// signedBy returns the operator that signed a request, "" if none did for sure.
func (a *App) signedBy(r *http.Request) (operator string) {
	ctx := r.Context()
	if known, ok := caddyhttp.GetVar(ctx, signedByVar).(string); ok {
		return known
	}
	original := originalRequest(r)
	result := a.signatures.Check(botauth.Request{
		Method: original.Method, Scheme: schemeOf(isSecure(r, isTrustedProxy(r))), Authority: r.Host, Target: targetOf(original), Header: r.Header,
	})
	sharedMetrics().signed(result.Reason)
	if result.State == botauth.Valid {
		operator = result.Operator
	}
	caddyhttp.SetVar(ctx, signedByVar, operator)
	return operator
}

// signaturePool holds verifiers of signatures by the agents whose signatures
// count. They remember what was signed, so they live on while that does not
// change.
var signaturePool = caddy.NewUsagePool()

// signatures is a verifier of signatures, with what its owner was told.
type signatures struct {
	*botauth.Verifier

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

// provisionSignatures sets up the verifier of signatures.
func (a *App) provisionSignatures(ctx caddy.Context) error {
	if a.Verify == nil || !a.Verify.WebBotAuth {
		return nil
	}
	agents, err := agentsOf(a.registry)
	if err != nil {
		return err
	}
	var key []string
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		key = append(key, agent, agents[agent])
	}
	name := strings.Join(key, " ")
	pooled, _, err := signaturePool.LoadOrNew(name, func() (caddy.Destructor, error) {
		s := &signatures{told: make(map[string]string)}
		var err error
		s.Verifier, err = botauth.New(botauth.Options{Agents: agents, UserAgent: guardUserAgent, Fetched: s.fetched})
		return s, err
	})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _, _ = signaturePool.Delete(name) }) // Destruct returns no error
	s := pooled.(*signatures)
	s.mu.Lock()
	s.logger = a.logger
	s.mu.Unlock()
	a.signatures = s.Verifier
	return nil
}

// fetched counts a fetch of an agent's key directory, and tells the owner of the
// first one that fails, and of the first one after that which does not.
func (s *signatures) fetched(agent string, err error) {
	says := directoryRead
	if err != nil {
		says = directoryFailed
	}
	sharedMetrics().directories.WithLabelValues(says).Inc()
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
			logger.Warn("the key directory of a signing agent cannot be used; this is told once, until it can be", append(fields, zap.Time("next_attempt", d.Next), zap.Error(err))...)
		} else {
			logger.Info("key directory of a signing agent read", fields...)
		}
	}
}

// agentsOf returns the agents that sign for the crawlers of a registry, with
// their operators. It fails if an agent would sign for two of them: whose
// requests are they?
func agentsOf(registry *uaident.Registry) (map[string]string, error) {
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
