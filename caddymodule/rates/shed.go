package rates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Shed says when a site is under load, and which crawlers are answered 503 then. Load is
// the time to the first byte of the site's answers.
type Shed struct {
	// Load begins where 5 % of the answers take longer than this. Default: `2s`.
	Above caddy.Duration `json:"above,omitempty"`

	// For how long they have to. Default: `30s`.
	For caddy.Duration `json:"for,omitempty"`

	// Load ends where 95 % of the answers take less than this. Default: `1s`.
	Below caddy.Duration `json:"below,omitempty"`

	// For how long they have to. Default: `2m`.
	Calm caddy.Duration `json:"calm,omitempty"`

	// The classes of crawlers that are answered 503. Default: `ai_training`, `seo`,
	// `crawler`, `archive` and `research`.
	Classes []string `json:"classes,omitempty"`
}

// Bounds of shed.
const (
	minLatency, maxLatency = 10 * time.Millisecond, time.Minute
	minFor, maxFor         = 5 * time.Second, time.Hour
)

// The words of the options when and resume.
const (
	wordLatency = "latency_p95"
	wordAbove   = ">"
	wordBelow   = "below"
	wordFor     = "for"
)

// shedOption is the line of the option shed, with its block.
func (r *Rate) shedOption() option.Option {
	return option.Option{
		Name: "shed", Usage: "nothing but a block", Inner: new(Shed).Options(),
		Set: func(args []string) error {
			r.Shed = new(Shed)
			return option.None(args)
		},
		Block: func(d *caddyfile.Dispenser) error {
			validate := func() error { return r.Shed.validate() }
			return option.ReadBlock(d, r.Shed.Options(), validate, validate)
		},
	}
}

// Options are what may stand in the block of shed.
func (s *Shed) Options() []option.Option {
	return []option.Option{
		{Name: "when", Usage: "latency_p95 > and a duration, for and a duration, such as latency_p95 > 2s for 30s", Set: func(args []string) error {
			if len(args) != 5 {
				return option.ErrCount
			}
			if args[0] != wordLatency || args[1] != wordAbove {
				return option.ErrValue
			}
			return setBoth(&s.Above, &s.For, args[2:])
		}},
		{Name: "resume", Usage: "below and a duration, for and a duration, such as below 1s for 2m", Set: func(args []string) error {
			if len(args) != 4 {
				return option.ErrCount
			}
			if args[0] != wordBelow {
				return option.ErrValue
			}
			return setBoth(&s.Below, &s.Calm, args[1:])
		}},
		{Name: "classes", Usage: "one or more classes of crawlers such as ai_training", Set: option.Many(&s.Classes)},
	}
}

// setBoth reads "2s for 30s".
func setBoth(latency, lasting *caddy.Duration, args []string) error {
	var ok, too bool
	*latency, ok = option.Duration(args[0])
	*lasting, too = option.Duration(args[2])
	if !ok || !too || args[1] != wordFor {
		return option.ErrValue
	}
	return nil
}

// validate tells what cannot be.
func (s *Shed) validate() error {
	if s == nil {
		return nil
	}
	if _, err := s.classes(); err != nil {
		return err
	}
	if err := cmp.Or(
		within("the latency of when", time.Duration(s.Above), minLatency, maxLatency),
		within("the time of when", time.Duration(s.For), minFor, maxFor),
		within("the latency of resume", time.Duration(s.Below), minLatency, maxLatency),
		within("the time of resume", time.Duration(s.Calm), minFor, maxFor),
	); err != nil {
		return err
	}
	if by := s.thresholds(); by.Below > by.Above {
		return fmt.Errorf("rate: shed resumes below %s and begins above %s, so that it would begin and end at once; let resume be below no more than when", short(by.Below), short(by.Above))
	}
	return nil
}

// classes returns the classes that are shed.
func (s *Shed) classes() (judge.Classes, error) {
	if len(s.Classes) == 0 {
		return rate.DefaultClasses(), nil
	}
	set, err := judge.ParseClasses(s.Classes)
	if err != nil {
		return 0, fmt.Errorf("rate: shed: %w", err)
	}
	var words []string
	for _, c := range uaident.Classes() {
		if rate.Sheddable().Has(c) {
			words = append(words, c.String())
		}
	}
	for _, word := range s.Classes {
		if c, _ := uaident.ParseClass(word); !rate.Sheddable().Has(c) {
			return 0, fmt.Errorf("rate: shed: %s is never shed, since people or the site depend on it; remove it, and name some of %s", word, strings.Join(words, ", "))
		}
	}
	return set, nil
}

// validateBeside tells of a class that is named here and exempt as a whole.
func (s *Shed) validateBeside(exempt []string) error {
	if s == nil {
		return nil
	}
	for _, word := range s.Classes {
		if slices.Contains(exempt, word) {
			return fmt.Errorf("rate: shed of %s is for nobody, since exempt has it, too; remove one", word)
		}
	}
	return nil
}

// thresholds returns when there is load.
func (s *Shed) thresholds() rate.Thresholds {
	above := cmp.Or(time.Duration(s.Above), rate.DefaultThresholds.Above)
	return rate.Thresholds{
		Above: above,
		For:   cmp.Or(time.Duration(s.For), rate.DefaultThresholds.For),
		Below: cmp.Or(time.Duration(s.Below), min(above, rate.DefaultThresholds.Below)),
		Calm:  cmp.Or(time.Duration(s.Calm), rate.DefaultThresholds.Calm),
	}
}

// settings returns what is decided, nil for nothing.
func (s *Shed) settings() (*rate.Shedding, error) {
	if s == nil {
		return nil, nil
	}
	classes, err := s.classes()
	return &rate.Shedding{Thresholds: s.thresholds(), Classes: classes}, err
}
