package robotstxt

import (
	"context"
	"errors"
	"fmt"
	"time"
	"weak"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// lists has the lists of rules in use, by file or URL. It outlives a reload, so the last good
// versions stay.
var lists = caddy.NewUsagePool()

// loadTime is the maximum wait for a list at a URL when a configuration is loaded.
const loadTime = 5 * time.Second

// acquireLists loads the lists of rules, and keeps them in use until Cleanup. Errors of the lists
// are returned by [publish.ScheduleBuilder.FirstSchedule].
func (h *Handler) acquireLists(ctx caddy.Context, app *caddymodule.App, has func(host string) bool, observer publish.Observer) error {
	h.scheduleBuilder = &publish.ScheduleBuilder{
		Registry: h.registry, Spec: h.specWithoutLists(), HasHost: has, Logger: ctx.Logger(),
		Check:     func(s *managed.Schedule) error { return h.checkGate(s, ctx.Logger()) },
		OnFailure: func() { observer.OnPageFailed(publish.StageRules) },
	}
	for _, place := range h.ListSources {
		l, err := h.acquireList(place)
		if err != nil {
			return err
		}
		h.scheduleBuilder.Sources = append(h.scheduleBuilder.Sources, l)
	}
	h.releaseFuncs = append(h.releaseFuncs, h.scheduleBuilder.Start())
	for _, l := range h.scheduleBuilder.Sources {
		waiting, cancel := context.WithTimeoutCause(ctx, loadTime, fmt.Errorf("no complete answer within %v, the longest wait while a configuration is loaded", loadTime))
		l.Load(waiting, weak.Make(app), nil)
		cancel()
	}
	return nil
}

// readScheduleWithLists reads the lists, and returns the schedule for the commands. A list that
// cannot be read is an error.
func (h *Handler) readScheduleWithLists(hosts []string) (*managed.Schedule, error) {
	lists := publish.ScheduleBuilder{Registry: h.registryOrDefault(), Spec: h.specWithoutLists(), HasHost: hostMatcher(hosts), Logger: zap.NewNop()}
	for _, place := range h.ListSources {
		l, err := publish.NewRuleList(place, time.Now)
		if err != nil {
			return nil, err
		}
		l.Load(context.Background(), h, nil)
		if err := l.LastError(); err != nil {
			return nil, h.addListPosition([]*publish.RuleList{l}, err)
		}
		lists.Sources = append(lists.Sources, l)
	}
	return lists.FirstSchedule(true)
}

// setListLine records the Caddyfile line of the last list if its file is missing.
func (h *Handler) setListLine(d *caddyfile.Dispenser) {
	place := h.ListSources[len(h.ListSources)-1]
	if l, err := publish.NewRuleList(place, nil); err == nil && l.IsFile() && option.IsFileMissing(place) {
		h.recordPosition(place, d)
	}
}

// addListPosition adds the recorded Caddyfile line of a list to the error of that list.
func (h *Handler) addListPosition(lists []*publish.RuleList, err error) error {
	for _, l := range lists {
		if errors.Is(err, l.LastError()) {
			return option.AddCaddyfileLine(h.Positions[l.Name()], err)
		}
	}
	return err
}

// acquireList returns the list in a file or at a URL, and keeps it in use until Cleanup. A list
// that is not in use yet is read in the background.
func (h *Handler) acquireList(place string) (*publish.RuleList, error) {
	value, _, err := lists.LoadOrNew(place, func() (caddy.Destructor, error) {
		l, err := publish.NewRuleList(place, time.Now)
		if err != nil {
			return nil, err
		}
		return remote.StartBackground(l), nil
	})
	if err != nil {
		return nil, err
	}
	// The method Destruct of a BackgroundRunner returns no error.
	h.releaseFuncs = append(h.releaseFuncs, func() { _, _ = lists.Delete(place) })
	return value.(*remote.BackgroundRunner[*publish.RuleList]).Runner, nil
}

// isReload reports whether another configuration is running, which stays if the new configuration
// is rejected.
func isReload() bool {
	_, err := caddy.ActiveContext().AppIfConfigured("http")
	return err == nil
}
