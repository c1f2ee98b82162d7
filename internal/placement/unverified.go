package placement

import (
	"encoding/json"
	"slices"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// unverified is an option or a matcher that is for clients who are verified, or who are found
// out, with a site where it stands.
type unverified struct {
	words, site string
}

// noteGuard keeps the options of a guard that are for nobody unless claims are verified.
func (w *walk) noteGuard(p *Placed) {
	var config struct {
		ExemptVerified  []string `json:"exempt_verified"`
		OnlyLogVerified []string `json:"only_log_verified"`
		Spoofed         string   `json:"spoofed"`
	}
	if json.Unmarshal(p.Config, &config) != nil {
		return
	}
	note := func(is bool, words string) {
		if is {
			w.unverified = append(w.unverified, unverified{words, p.Site()})
		}
	}
	note(len(config.ExemptVerified) > 0, "exempt verified")
	note(len(config.OnlyLogVerified) > 0, "only_log verified")
	note(config.Spoofed == "block" || config.Spoofed == "log", "spoofed "+config.Spoofed)
}

// noteCrawler keeps a matcher robots_crawler that is for nobody unless claims are verified.
func (w *walk) noteCrawler(config json.RawMessage, site string) {
	var matcher struct {
		Clients []string `json:"clients"`
	}
	if json.Unmarshal(config, &matcher) != nil {
		return
	}
	var words []string
	for _, state := range verify.States() {
		if slices.Contains(matcher.Clients, state.String()) {
			if state == verify.Claimed {
				return // as all are
			}
			words = append(words, state.String())
		}
	}
	if len(words) > 0 {
		w.unverified = append(w.unverified, unverified{"robots_crawler " + words[0], site})
	}
}

// warnUnverified tells of what is for nobody, where no claim is verified.
func (w *walk) warnUnverified(logger *zap.Logger) {
	told := make(map[unverified]bool)
	for _, u := range w.unverified {
		if !told[u] {
			told[u] = true
			logger.Warn(u.words+" is for nobody: nobody is verified, or found out, while verify is off; write verify on into robots_guard { ... } of the global options",
				zap.String("site", u.site))
		}
	}
}
