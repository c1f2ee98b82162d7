package publish

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// list returns a list with rules of these IDs.
func list(ids ...string) string {
	var rules []string
	for _, id := range ids {
		until := "null"
		if strings.HasPrefix(id, "old") {
			until = `"1999-01-01T00:00:00Z"`
		}
		rules = append(rules, fmt.Sprintf(`{"id": %q, "for": ["GPTBot"], "disallow": ["/%s"], "until": %s}`, id, id, until))
	}
	return `{"rules": [` + strings.Join(rules, ", ") + "]}"
}

func idsOf(list *managed.RuleList) string {
	if list == nil {
		return "nothing"
	}
	var ids []string
	for _, r := range list.Rules {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

// countedUser counts the changes of a list.
type countedUser struct {
	listUser
	changed *int
}

func (u *countedUser) Changed() { *u.changed++ }

// listReader is a list with a user.
type listReader struct {
	*RuleList
	source  *remotetest.Source
	log     *observer.ObservedLogs
	changed int
	failed  int
	end     func()
}

// readList loads a list with this content for a configuration.
func readList(t *testing.T, data string, err error) *listReader {
	t.Helper()
	core, log := observer.New(zapcore.InfoLevel)
	r := &listReader{source: remotetest.NewSource("https://cms.test/rules", data, err), log: log}
	r.RuleList = newRuleListFromSource(r.source, time.Now)
	lists := &ScheduleBuilder{OnFailure: func() { r.failed++ }, Logger: zap.New(core)}
	r.AddUser(&countedUser{listUser{lists, r.RuleList}, &r.changed})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	r.end = func() { cancel(); <-ended }
	r.Load(ctx, new(int), nil)
	return r
}

// advance advances the clock.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *listReader) has(t *testing.T, want string) {
	t.Helper()
	if got := idsOf(r.Content()); got != want {
		t.Errorf("the list has %s, want %s", got, want)
	}
}

// told compares the beginnings of the logged messages.
func (r *listReader) told(t *testing.T, want ...string) {
	t.Helper()
	remotetest.CheckLog(t, r.log, want...)
}

var errDown = remotetest.ErrDown
