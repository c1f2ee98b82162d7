package publish

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestInventedHostsAreQuiet checks that hosts that only clients name do not fill the log.
func TestInventedHostsAreQuiet(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	p := publisherOf(t)
	p.Logger = zap.New(core)
	long := &policy.Version{Robots: policy.Parse([]byte(strings.Repeat("# a line that nobody reads\n", policy.MaxSize/27)))}
	for segment, key := range map[policy.Segment]policy.Key{
		policy.ConfiguredHosts: {Host: "a.example", Site: "a.example"},
		policy.UnknownHosts:    {Host: "invented.test"},
	} {
		p.fetchObserver(key)(policy.State{}, policy.State{FailureCount: 1, LastErr: errors.New("refused")})
		p.getOrComposePage(long, hostPeriod{segment: segment, host: key.Host, period: p.ServedSchedule().FindPeriod("a.example", time.Now())})
	}
	var about []string
	for _, line := range logs.All() {
		about = append(about, line.Message+" "+line.ContextMap()["error"].(string))
		for _, field := range line.Context {
			if strings.Contains(field.String, "invented") {
				t.Errorf("logged of an invented host: %s", line.Message)
			}
		}
	}
	if len(about) != 2 {
		t.Errorf("logged are %q, want a base that cannot be read and a text that is too long", about)
	}
}
