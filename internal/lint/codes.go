package lint

import "github.com/robotsguard/caddy-robots-guard/policy"

// These are the codes of this package. Package policy has further codes. docs/findings.md has an
// example and the sources for each code.
const (
	// The first codes are about the file as a whole.
	EmptyFile                    policy.Code = "empty-file"              // no groups and no records
	SearchEnginesDisallowed      policy.Code = "search-shut-out"         // a search engine may not fetch any page
	NamedSearchEnginesDisallowed policy.Code = "search-forbidden"        // the same, but the file names the engine
	AboveYandexLimits            policy.Code = "yandex-limits"           // more or longer rules than Yandex reads
	KeyReadByPrefix              policy.Code = "key-read-by-prefix"      // Google's library reads the key as another key
	AdsCrawlersIgnoreWildcard    policy.Code = "ads-ignore-star"         // * is disallowed, but Google's ads crawlers ignore *
	NameNotInRequests            policy.Code = "robots-only-token"       // no client sends the name of this user-agent line
	MisspeltCrawlerName          policy.Code = "misspelt-crawler"        // similar to the name of a known crawler
	RetiredCrawler               policy.Code = "retired-crawler"         // the crawler is retired or renamed
	UnknownCrawlerName           policy.Code = "names-nobody"            // no crawler in the registry has the name
	AppName                      policy.Code = "names-app"               // an app for people, not a robot
	LookAlikeCharacters          policy.Code = "look-alike"              // characters that look like ASCII characters
	RegexpInName                 policy.Code = "regexp-in-name"          // a name cannot be a regular expression
	JoinedLines                  policy.Code = "lines-joined"            // several lines are joined into one
	EscapedLineBreak             policy.Code = "written-line-break"      // \n is written as two characters
	DoubleSlash                  policy.Code = "double-slash"            // the rule matches only URLs with //
	NameWithVersion              policy.Code = "name-with-version"       // some parsers compare the version, too
	CrawlerInTwoGroups           policy.Code = "shadowed-group"          // another name of the crawler has the group that applies
	EmptyGroupAllowsSite         policy.Code = "group-opens-site"        // no rules, so the group allows pages that * disallows
	DuplicateRule                policy.Code = "duplicate-rule"          // the same rule occurs twice
	EquivalentRule               policy.Code = "same-rule-encoded"       // differs from another rule only in encoding
	EqualAllowAndDisallow        policy.Code = "tied-rules"              // allow and disallow of the same path
	RuleWithoutEffect            policy.Code = "never-wins"              // another rule always takes precedence
	CoveredRule                  policy.Code = "covered-rule"            // a shorter rule disallows the same URLs
	CommentInPath                policy.Code = "comment-in-path"         // # ends the path
	SpaceInPath                  policy.Code = "space-in-path"           // a line contains two paths
	DotSegment                   policy.Code = "dot-segment"             // no client sends /./ and /../
	RegexpInPath                 policy.Code = "regexp-in-path"          // an escape of a regular expression
	AllowedIndexPage             policy.Code = "index-allow"             // allows the directory for Google only
	RecordOutsideGroup           policy.Code = "record-outside-group"    // a record stands before the first group
	DelayIgnored                 policy.Code = "crawl-delay-unread"      // the named crawlers ignore Crawl-delay
	InvalidDelay                 policy.Code = "crawl-delay-value"       // the value is not a number of seconds
	DelayAboveMaximum            policy.Code = "crawl-delay-cut"         // the delay is longer than the crawlers support
	LongDelay                    policy.Code = "crawl-delay-long"        // allows only a few pages per day
	DelayTooLongForSite          policy.Code = "crawl-delay-pages"       // too long for the number of pages
	DelayAppliesToBing           policy.Code = "crawl-delay-of-star"     // the delay applies to Bing
	RelativeSitemapURL           policy.Code = "sitemap-relative"        // the value is not an absolute URL
	SitemapOnOtherHost           policy.Code = "sitemap-other-host"      // the sitemap is on another host
	HostIgnored                  policy.Code = "host-unread"             // no crawler reads Host any more
	CleanParam                   policy.Code = "clean-param"             // only Yandex supports Clean-param
	Noindex                      policy.Code = "noindex-unread"          // no crawler supports Noindex
	IgnoredRecord                policy.Code = "record-unread"           // almost no crawler supports the record
	ContentSignal                policy.Code = "content-signal"          // which crawlers support Content-Signal
	InvalidSignal                policy.Code = "content-signal-value"    // the value has invalid syntax
	ContentUsage                 policy.Code = "content-usage"           // which crawlers support Content-Usage
	InvalidUsage                 policy.Code = "content-usage-value"     // the value has invalid syntax
	UnknownUsageLabel            policy.Code = "content-usage-label"     // not a label of the current draft
	RelativeUsagePath            policy.Code = "content-usage-path"      // does not begin with a slash
	ConflictingUsages            policy.Code = "content-usage-conflict"  // the preferences for one path contradict each other
	UsageOfDisallowedPath        policy.Code = "content-usage-forbidden" // a preference about a disallowed page
	ContradictoryPreferences     policy.Code = "preference-contradicts"  // Content-Usage and Content-Signal lines contradict each other
	OmittedPreference            policy.Code = "preference-lost"         // a named group omits a preference of *
	TrainingCrawlersAllowed      policy.Code = "training-allowed"        // train-ai=n alone disallows no crawler
	License                      policy.Code = "license"                 // which crawlers support License
	LicenseInGroup               policy.Code = "license-in-group"        // the line applies to the whole file
	RelativeLicenseURL           policy.Code = "license-relative"        // the value is not an absolute URL
	NoAITraining                 policy.Code = "disallow-ai-training"    // not standardized; Google's library misreads it
	LLMPolicy                    policy.Code = "llm-policy"              // the record is not standardized
)

// severities has the severity of each code. A finding of the parser has its own severity.
var severities = severityByCode(map[policy.Severity][]policy.Code{
	policy.Error: {
		policy.TooLarge, policy.UTF16, policy.HTML, policy.RuleOutsideGroup, policy.RuleWithoutSlash, LookAlikeCharacters,
		JoinedLines, EscapedLineBreak, RelativeSitemapURL,
	},
	policy.Warning: {
		policy.LineSplitByLimit, policy.LineTooLong, policy.ContainsNUL, policy.LineWithoutKey, policy.MissingColon, policy.MisspeltKey,
		policy.EmptyAgentName, policy.SeveralAgentNames, policy.WildcardInAgentName, policy.AmbiguousGroup, SearchEnginesDisallowed, AboveYandexLimits,
		KeyReadByPrefix, MisspeltCrawlerName, UnknownCrawlerName, AppName, RegexpInName, DoubleSlash, NameWithVersion, EmptyGroupAllowsSite, EqualAllowAndDisallow,
		RuleWithoutEffect, CommentInPath, SpaceInPath, DotSegment, RegexpInPath, RecordOutsideGroup, InvalidDelay, LongDelay,
		DelayTooLongForSite, Noindex, InvalidSignal, InvalidUsage, UnknownUsageLabel, RelativeUsagePath, ConflictingUsages, ContradictoryPreferences,
		OmittedPreference, RelativeLicenseURL, NoAITraining,
	},
	policy.Info: {
		policy.ByteOrderMark, policy.UnknownKey, policy.DollarBeforeEnd, policy.RepeatedGroup, policy.GroupWithoutRule,
		EmptyFile, NamedSearchEnginesDisallowed, AdsCrawlersIgnoreWildcard, NameNotInRequests, RetiredCrawler, CrawlerInTwoGroups, DuplicateRule, EquivalentRule,
		CoveredRule, AllowedIndexPage, DelayIgnored, DelayAboveMaximum, DelayAppliesToBing, SitemapOnOtherHost, HostIgnored, CleanParam, IgnoredRecord,
		ContentSignal, ContentUsage, UsageOfDisallowedPath, TrainingCrawlersAllowed, License, LicenseInGroup, LLMPolicy,
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
