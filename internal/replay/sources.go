package replay

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/replay/logformat"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// These are bounds of the sources. One source needs up to 30 KB.
const (
	maxSources         = 10000 // maxSources is the maximum number for each worker.
	maxSamples         = 10
	maxSourceRules     = 50  // maxSourceRules is the maximum number for each worker.
	maxSourceUserAgent = 512 // maxSourceUserAgent is a number of bytes. A longer User-Agent is cut.
	// maxSampleText is the maximum number of bytes of a target or User-Agent. A request with more
	// bytes is not used as a sample.
	maxSampleText  = 8 << 10
	maxSamplesText = 20 << 10
)

// Source is a network from which a crawler sent requests that mode enforce would have blocked.
type Source struct {
	Network netip.Prefix // Network is a /24 of IPv4 or a /48 of IPv6.
	// Address is the address of all requests. It is the zero Addr if they came from several
	// addresses.
	Address netip.Addr
	// Crawler is the claimed name in the spelling of the registry or the robots.txt, or "" if
	// neither has the name. UserAgent is the User-Agent of the first request.
	Crawler, UserAgent string
	// RobotsVersion is the version of the robots.txt that disallows the requests.
	RobotsVersion Version
	// Requests is the number of requests from First to Last. Bytes is the total size of their
	// responses.
	Requests    uint64
	Bytes       uint64
	First, Last time.Time
	Rules       []SourceRule // Rules are the violated rules, the most frequent first.
	Samples     []Sample     // Samples are the first requests whose text fits the bounds, sorted by time.
}

// SourceRule is a rule that requests of a source violated, and their number.
type SourceRule struct {
	Group    string `json:"group"`
	Rule     string `json:"rule"`
	Line     int    `json:"line"`
	Requests uint64 `json:"requests"`
}

// Sample is one of the first requests of a source, as evidence.
type Sample struct {
	Time      time.Time `json:"time"`
	Client    string    `json:"client"` // Client is the address of the client.
	Method    string    `json:"method"`
	Host      string    `json:"host,omitempty"`
	Target    string    `json:"target"` // Target is the target as sent.
	Status    int       `json:"status,omitempty"`
	UserAgent string    `json:"user_agent"`
}

// sourceKey identifies a source and the violated version. userAgent is empty for a crawler in the
// registry or the robots.txt.
type sourceKey struct {
	network                netip.Prefix
	robotsVersion, crawler int32
	userAgent              string
}

type sourceCount struct {
	userAgent        string
	address          netip.Addr
	severalAddresses bool
	sampleSize       int // sampleSize is the number of bytes of targets and User-Agents in samples.
	requests         uint64
	bytes            uint64
	first, last      int64
	rules            map[policy.Rule]*SourceRule
	samples          []Sample
}

// sourceTally counts violations by source.
type sourceTally struct {
	bySource map[sourceKey]*sourceCount
	// These are the numbers of requests that are not in bySource: beyond maxSources, from masked
	// addresses, and without a public address or without a time.
	droppedRequests, maskedRequests, nonPublicRequests uint64
}

// add counts the violation in w.record for its source. v is the verdict on the request.
func (t *sourceTally) add(w *worker, who *cachedIdentity, v policy.Verdict) {
	r := &w.record
	client, err := netip.ParseAddr(unsafeString(r.Client))
	client = addr.Normalize(client)
	switch {
	case err != nil || !r.HasTime || !addr.MayBeFromInternet(client):
		t.nonPublicRequests++
		return
	case isMasked(client):
		t.maskedRequests++
		return
	}
	userAgent := r.UserAgent[:min(len(r.UserAgent), maxSourceUserAgent)]
	key := sourceKey{network: addr.NetworkOfAddr(client), robotsVersion: int32(w.version), crawler: who.crawlerNumber}
	if w.crawlers.lookUpKey(who.crawlerNumber).name == otherName {
		key.userAgent = unsafeString(userAgent)
	}
	c := t.bySource[key]
	if c == nil {
		if len(t.bySource) == maxSources {
			t.droppedRequests++
			return
		}
		key.userAgent = strings.Clone(key.userAgent)
		c = &sourceCount{userAgent: string(userAgent), address: client, first: r.At, last: r.At, rules: make(map[policy.Rule]*SourceRule)}
		if t.bySource == nil {
			t.bySource = make(map[sourceKey]*sourceCount)
		}
		t.bySource[key] = c
	}
	c.requests++
	c.bytes += uint64(r.Bytes)
	c.severalAddresses = c.severalAddresses || c.address != client
	c.first, c.last = min(c.first, r.At), max(c.last, r.At)
	if rule := c.rules[v.Rule]; rule != nil {
		rule.Requests++
	} else if len(c.rules) < maxSourceRules {
		c.rules[v.Rule] = &SourceRule{Group: v.Group.Name, Rule: v.Rule.String(), Line: v.Rule.Line, Requests: 1}
	} else {
		return // A sample without its rule cannot be verified.
	}
	c.addSample(r, client)
}

// addSample adds a request to the samples, if the limits on their number and size allow that. It
// does not shorten the target or the User-Agent, because their ends can decide the verdict.
func (c *sourceCount) addSample(r *logformat.Record, client netip.Addr) {
	size := len(r.Target) + len(r.UserAgent)
	if len(c.samples) == maxSamples || len(r.Target) > maxSampleText || len(r.UserAgent) > maxSampleText || c.sampleSize+size > maxSamplesText {
		return
	}
	c.sampleSize += size
	c.samples = append(c.samples, Sample{
		Time: fromUnixNano(r.At), Client: client.String(), Method: methodText(r.Method), Host: validUTF8(string(r.Host)),
		Target: escapeInvalidUTF8(r.Target), Status: r.Status, UserAgent: validUTF8(string(r.UserAgent)),
	})
}

// escapeInvalidUTF8 returns a target with invalid UTF-8 percent-encoded. Rules match the target as
// before.
func escapeInvalidUTF8(target []byte) string {
	if utf8.Valid(target) {
		return string(target)
	}
	var b strings.Builder
	for len(target) > 0 {
		r, n := utf8.DecodeRune(target)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", target[0])
		} else {
			b.Write(target[:n])
		}
		target = target[n:]
	}
	return b.String()
}

// isMasked reports whether the last part of an address is zero, probably because the log hides it
// for privacy: the last byte of IPv4, or the last 8 bytes of IPv6.
func isMasked(client netip.Addr) bool {
	bytes := client.AsSlice()
	host := bytes[len(bytes)-1:]
	if client.Is6() {
		host = bytes[8:]
	}
	return !slices.ContainsFunc(host, func(b byte) bool { return b != 0 })
}

// merge adds the counts of another worker. It takes over the other worker's maps.
func (t *sourceTally) merge(o *sourceTally) {
	t.droppedRequests += o.droppedRequests
	t.maskedRequests += o.maskedRequests
	t.nonPublicRequests += o.nonPublicRequests
	for key, more := range o.bySource {
		c := t.bySource[key]
		if c == nil {
			if t.bySource == nil {
				t.bySource = make(map[sourceKey]*sourceCount)
			}
			t.bySource[key] = more
			continue
		}
		if more.first < c.first {
			c.userAgent = more.userAgent
		}
		c.severalAddresses = c.severalAddresses || more.severalAddresses || c.address != more.address
		c.requests += more.requests
		c.bytes += more.bytes
		c.first, c.last = min(c.first, more.first), max(c.last, more.last)
		for rule, r := range more.rules {
			if have := c.rules[rule]; have != nil {
				have.Requests += r.Requests
			} else {
				c.rules[rule] = r // The samples of the worker need this rule.
			}
		}
		c.samples = append(c.samples, more.samples...)
	}
}

// listSources returns the sources. The source with the most requests comes first.
func (t *sourceTally) listSources(p *replayPlan) []Source {
	sources := make([]Source, 0, len(t.bySource))
	for key, c := range t.bySource {
		s := Source{
			Network: key.network, UserAgent: validUTF8(c.userAgent), RobotsVersion: p.versions[key.robotsVersion].original(), Requests: c.requests, Bytes: c.bytes,
			First: fromUnixNano(c.first), Last: fromUnixNano(c.last), Samples: c.samples,
		}
		if name := p.crawlers.lookUpKey(key.crawler).name; name != otherName {
			s.Crawler = name
		}
		if !c.severalAddresses {
			s.Address = c.address
		}
		for _, rule := range c.rules {
			s.Rules = append(s.Rules, *rule)
		}
		slices.SortFunc(s.Rules, func(a, b SourceRule) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Line, b.Line))
		})
		slices.SortStableFunc(s.Samples, func(a, b Sample) int { return a.Time.Compare(b.Time) })
		s.Samples = s.Samples[:min(len(s.Samples), maxSamples)]
		sources = append(sources, s)
	}
	slices.SortFunc(sources, func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), a.Network.Compare(b.Network), cmp.Compare(a.Crawler, b.Crawler), cmp.Compare(a.UserAgent, b.UserAgent), cmp.Compare(a.RobotsVersion.Name, b.RobotsVersion.Name))
	})
	return sources
}
