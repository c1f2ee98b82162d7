package lint

import "github.com/robotsguard/caddy-robots-guard/policy"

// These are the codes of this package. Package policy has further codes. docs/findings.md has an
// example and the sources for each code.
const (
	// The first codes are about the file as a whole.
	EmptyFile             policy.Code = "empty-file"              // no groups and no records
	SearchShutOut         policy.Code = "search-shut-out"         // a search engine may not fetch any page
	SearchForbidden       policy.Code = "search-forbidden"        // the same, but the file names the engine
	YandexLimits          policy.Code = "yandex-limits"           // more or longer rules than Yandex reads
	PrefixKey             policy.Code = "key-read-by-prefix"      // Google's library reads the key as another key
	AdsIgnoreStar         policy.Code = "ads-ignore-star"         // * is disallowed, but Google's ads crawlers ignore *
	RobotsOnly            policy.Code = "robots-only-token"       // no client sends this name
	Misspelt              policy.Code = "misspelt-crawler"        // similar to the name of a known crawler
	Retired               policy.Code = "retired-crawler"         // the crawler is retired or renamed
	NamesNobody           policy.Code = "names-nobody"            // no crawler has this name
	NamesApp              policy.Code = "names-app"               // an app for people, not a robot
	LookAlike             policy.Code = "look-alike"              // characters that look like ASCII
	RegexpInName          policy.Code = "regexp-in-name"          // a name cannot be a regular expression
	LinesJoined           policy.Code = "lines-joined"            // several lines in one
	WrittenBreak          policy.Code = "written-line-break"      // \n as two characters
	DoubleSlash           policy.Code = "double-slash"            // matches only URLs with //
	NameVersion           policy.Code = "name-with-version"       // some parsers compare the version, too
	SplitCrawler          policy.Code = "shadowed-group"          // another name of the crawler has the group that applies
	OpensSite             policy.Code = "group-opens-site"        // no rules, so the group allows pages that * disallows
	DuplicateRule         policy.Code = "duplicate-rule"          // the same rule twice
	SameEncoding          policy.Code = "same-rule-encoded"       // differs from another rule only in encoding
	TiedRules             policy.Code = "tied-rules"              // allow and disallow of the same path
	NeverWins             policy.Code = "never-wins"              // another rule always wins
	CoveredRule           policy.Code = "covered-rule"            // a shorter rule disallows the same URLs
	CommentInPath         policy.Code = "comment-in-path"         // # cuts the path
	SpaceInPath           policy.Code = "space-in-path"           // two paths in a line
	DotSegment            policy.Code = "dot-segment"             // no client sends /./ and /../
	RegexpInPath          policy.Code = "regexp-in-path"          // an escape of a regular expression
	IndexAllow            policy.Code = "index-allow"             // allows the directory for Google only
	RecordOutside         policy.Code = "record-outside-group"    // before any group
	DelayUnread           policy.Code = "crawl-delay-unread"      // these crawlers ignore Crawl-delay
	DelayValue            policy.Code = "crawl-delay-value"       // not a number of seconds
	DelayCut              policy.Code = "crawl-delay-cut"         // longer than these crawlers support
	DelayLong             policy.Code = "crawl-delay-long"        // allows only a few pages per day
	DelayPages            policy.Code = "crawl-delay-pages"       // too long for the number of pages
	DelayBindsBing        policy.Code = "crawl-delay-of-star"     // applies to Bing
	SitemapURL            policy.Code = "sitemap-relative"        // not an absolute URL
	SitemapHost           policy.Code = "sitemap-other-host"      // on another host
	HostUnread            policy.Code = "host-unread"             // no crawler reads Host any more
	CleanParam            policy.Code = "clean-param"             // only Yandex reads it
	Noindex               policy.Code = "noindex-unread"          // no crawler reads it
	Unread                policy.Code = "record-unread"           // almost no crawler reads it
	ContentSignal         policy.Code = "content-signal"          // the crawlers that read it
	SignalValue           policy.Code = "content-signal-value"    // invalid syntax
	ContentUsage          policy.Code = "content-usage"           // the crawlers that read it
	UsageValue            policy.Code = "content-usage-value"     // invalid syntax
	UsageLabel            policy.Code = "content-usage-label"     // not a label of the current draft
	UsagePath             policy.Code = "content-usage-path"      // does not begin with a slash
	UsageConflict         policy.Code = "content-usage-conflict"  // contradictory preferences for one path
	UsageForbidden        policy.Code = "content-usage-forbidden" // a preference about a disallowed page
	PreferenceContradicts policy.Code = "preference-contradicts"  // contradictory lines of different kinds
	PreferenceLost        policy.Code = "preference-lost"         // a named group omits a preference of *
	TrainersAllowed       policy.Code = "training-allowed"        // train-ai=n alone blocks no crawler
	License               policy.Code = "license"                 // the crawlers that read it
	LicensePlace          policy.Code = "license-in-group"        // the line applies to the whole file
	LicenseURL            policy.Code = "license-relative"        // not an absolute URL
	NoAITraining          policy.Code = "disallow-ai-training"    // not standardized; Google's library misreads it
	LLMPolicy             policy.Code = "llm-policy"              // not standardized
)

// severities has the severity of each code. A finding of the parser has its own severity.
var severities = severityByCode(map[policy.Severity][]policy.Code{
	policy.Error: {
		policy.TooLarge, policy.UTF16, policy.HTML, policy.RuleOutsideGroup, policy.RuleWithoutSlash, LookAlike,
		LinesJoined, WrittenBreak, SitemapURL,
	},
	policy.Warning: {
		policy.LineCut, policy.LineTooLong, policy.NotText, policy.NoKey, policy.MissingColon, policy.MisspeltKey,
		policy.EmptyName, policy.NameList, policy.NamePattern, policy.AmbiguousGroup, SearchShutOut, YandexLimits,
		PrefixKey, Misspelt, NamesNobody, NamesApp, RegexpInName, DoubleSlash, NameVersion, OpensSite, TiedRules,
		NeverWins, CommentInPath, SpaceInPath, DotSegment, RegexpInPath, RecordOutside, DelayValue, DelayLong,
		DelayPages, Noindex, SignalValue, UsageValue, UsageLabel, UsagePath, UsageConflict, PreferenceContradicts,
		PreferenceLost, LicenseURL, NoAITraining,
	},
	policy.Info: {
		policy.ByteOrderMark, policy.UnknownKey, policy.DollarInside, policy.RepeatedGroup, policy.GroupWithoutRule,
		EmptyFile, SearchForbidden, AdsIgnoreStar, RobotsOnly, Retired, SplitCrawler, DuplicateRule, SameEncoding,
		CoveredRule, IndexAllow, DelayUnread, DelayCut, DelayBindsBing, SitemapHost, HostUnread, CleanParam, Unread,
		ContentSignal, ContentUsage, UsageForbidden, TrainersAllowed, License, LicensePlace, LLMPolicy,
	},
})

func severityByCode(codes map[policy.Severity][]policy.Code) map[policy.Code]policy.Severity {
	all := make(map[policy.Code]policy.Severity)
	for severity, list := range codes {
		for _, code := range list {
			all[code] = severity
		}
	}
	return all
}
