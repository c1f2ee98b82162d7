package robotstxt

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// gateWords are the words of Handler.Gate, and gates what they mean.
var (
	gateWords = []string{"error", "warning", "off"}
	gates     = map[string]managed.Gate{"error": {}, "warning": {Warnings: true}, "off": {Off: true}}
)

// mostAtStart bounds how many texts are checked when a configuration is loaded, and
// with that how long it takes. Those beyond are checked when they are composed.
const mostAtStart = 1000

// mostTold bounds how many findings are logged at once: a list may have any number.
const mostTold = 20

// passGate checks the texts that are to come, as far as the base is known: that of
// the handlers behind is not.
func (h *Handler) passGate(s *managed.Schedule, logger *zap.Logger) error {
	base, err := h.knownBase()
	if err != nil || h.Gate == "off" {
		return err
	}
	report := s.Check(base, time.Now(), mostAtStart)
	if f := gates[h.Gate].Stops(report.Findings); f != nil {
		at := ""
		if f.At != "" {
			at = f.At + ": "
		}
		return fmt.Errorf("%sgate %s: %s; mend it, or see caddy robots-guard managed check and the option gate", at, h.Gate, f)
	}
	told := slices.DeleteFunc(slices.Clone(report.Findings), func(f managed.Finding) bool {
		return f.Severity < policy.Warning && f.Code != managed.RuleOver
	})
	for i := range told[:min(len(told), mostTold)] {
		logger.Warn("robots_txt: "+told[i].String(), zap.String("at", told[i].At))
	}
	if more := len(told) - mostTold; more > 0 {
		logger.Warn("robots_txt: there is more of that kind; see caddy robots-guard managed check", zap.Int("more", more))
	}
	if report.Left > 0 {
		logger.Info("robots_txt: not all texts to come were checked now; the others are when they are composed", zap.Int("checked", report.Texts), zap.Int("left", report.Left))
	}
	return nil
}

// knownBase returns the base as far as it is known without asking the site.
func (h *Handler) knownBase() ([]byte, error) {
	if h.BaseFile == "" {
		return nil, nil
	}
	file, err := os.Open(h.BaseFile)
	if os.IsNotExist(err) {
		return nil, nil // as a missing robots.txt
	}
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policy.MaxSize+1))
}

// CheckRules looks at the texts that the rules make from now on for a site with some
// hosts, none for any, for the commands. Lists of rules are read. The base takes the
// place of the configured one unless it is nil.
func (h *Handler) CheckRules(registry *uaident.Registry, hosts []string, base []byte) (managed.Report, managed.Gate, error) {
	h.registry = registry
	h.setDefaults()
	if err := h.Validate(); err != nil {
		return managed.Report{}, managed.Gate{}, err
	}
	s, err := h.wholeSchedule(hosts)
	if err == nil && base == nil {
		base, err = h.knownBase()
	}
	if err != nil {
		return managed.Report{}, managed.Gate{}, err
	}
	const most = 1_000_000
	return s.Check(base, time.Now(), most), gates[h.Gate], nil
}
