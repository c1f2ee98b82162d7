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

// gateWords are the values of Handler.Gate.
var gateWords = []string{string(managed.GateErrors), string(managed.GateWarnings), string(managed.GateOff)}

// maxAtStart is the maximum number of files to check when a configuration is loaded. It limits the
// loading time. The other files are checked when they are composed.
const maxAtStart = 1000

// maxLogged is the maximum number of logged findings. A list may have any number of findings.
const maxLogged = 20

// checkGate lints the present and future files of a schedule. It returns the first finding that
// prevents publication as an error. Otherwise it logs the findings. A base from the next handlers
// is not known yet, so the files are checked with an empty base.
func (h *Handler) checkGate(s *managed.Schedule, logger *zap.Logger) error {
	base, err := h.readBase()
	if err != nil || h.Gate == string(managed.GateOff) {
		return err
	}
	report := s.Check(base, time.Now(), maxAtStart)
	if f := managed.Gate(h.Gate).FindBlocker(report.Findings); f != nil {
		at := ""
		if f.Position != "" {
			at = f.Position + ": "
		}
		return fmt.Errorf("%sgate %s: %s; fix it, or see caddy robots-guard managed check and the option gate", at, h.Gate, f)
	}
	findings := slices.DeleteFunc(slices.Clone(report.Findings), func(f managed.Finding) bool {
		return f.Severity < policy.Warning && f.Code != managed.RuleOver
	})
	for i := range findings[:min(len(findings), maxLogged)] {
		logger.Warn("robots_txt: "+findings[i].String(), zap.String("at", findings[i].Position))
	}
	if more := len(findings) - maxLogged; more > 0 {
		logger.Warn("robots_txt: more findings exist; see caddy robots-guard managed check", zap.Int("more", more))
	}
	if report.UncheckedFiles > 0 {
		logger.Info("robots_txt: not all future files were checked; each remaining file is checked when Caddy composes the file", zap.Int("checked", report.CheckedFiles), zap.Int("left", report.UncheckedFiles))
	}
	return nil
}

// readBase returns the content of the base file, or nil without a base file.
func (h *Handler) readBase() ([]byte, error) {
	if h.BaseFile == "" {
		return nil, nil
	}
	file, err := os.Open(h.BaseFile)
	if os.IsNotExist(err) {
		return nil, nil // A missing file is an empty base.
	}
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policy.MaxSize+1))
}

// CheckRules lints the present and future files of a site for the command managed check. No hosts
// means any host. It reads the lists of rules. A base that is not nil replaces the configured base.
func (h *Handler) CheckRules(registry *uaident.Registry, hosts []string, base []byte) (managed.CheckReport, managed.Gate, error) {
	h.registry = registry
	h.setDefaults()
	if err := h.Validate(); err != nil {
		return managed.CheckReport{}, "", err
	}
	s, err := h.readScheduleWithLists(hosts)
	if err == nil && base == nil {
		base, err = h.readBase()
	}
	if err != nil {
		return managed.CheckReport{}, "", err
	}
	const most = 1_000_000
	return s.Check(base, time.Now(), most), managed.Gate(h.Gate), nil
}
