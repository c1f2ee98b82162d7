package origin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestOperatorOfVirtualRequests has that of the witness, whoever caused them: what an
// operator is served must not become the copy for all.
func TestOperatorOfVirtualRequests(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "http://a.test/robots.txt", nil)
	for caused, as := range map[string]Witness{"Google": {}, "": {Operator: "Microsoft"}, "OpenAI": {Operator: "Microsoft", UserAgent: "bingbot"}} {
		r := r.WithContext(WithOperator(r.Context(), caused))
		virtual := virtualRequest(r, policy.Key{Host: "a.test"}, as, outsider{addr: outside4})
		if got := OperatorOf(virtual.Context()); got != as.Operator {
			t.Errorf("caused by %q, read as %q: the operator is %q", caused, as.Operator, got)
		}
	}
	if got := OperatorOf(context.Background()); got != "" {
		t.Errorf("of nobody: %q", got)
	}
}
