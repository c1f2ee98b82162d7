package lint

import "github.com/robotsguard/caddy-robots-guard/policy"

// These are the codes of this package. Package policy has further codes. docs/findings.md has an
// example and the sources for each code.
const (
	EmptyFile               policy.Code = "empty-file"      // The file has no groups and no records.
	SearchEnginesDisallowed policy.Code = "search-shut-out" // A search engine may not fetch any page.
	// A search engine that the file names may not fetch any page.
	NamedSearchEnginesDisallowed policy.Code = "search-forbidden"
	// The file has more or longer rules than Yandex reads.
	AboveYandexLimits policy.Code = "yandex-limits"
	// Google's library reads the key as another key.
	KeyReadByPrefix policy.Code = "key-read-by-prefix"
	// The * group disallows everything, but Google's ads crawlers ignore it.
	AdsCrawlersIgnoreWildcard policy.Code = "ads-ignore-star"
	// No client sends the name of this user-agent line.
	NameNotInRequests policy.Code = "robots-only-token"
	// The name is similar to the name of a known crawler.
	MisspeltCrawlerName policy.Code = "misspelt-crawler"
	RetiredCrawler      policy.Code = "retired-crawler" // The crawler is retired or renamed.
	UnknownCrawlerName  policy.Code = "names-nobody"    // No crawler in the registry has the name.
	// The name is that of an app for people, not of a robot.
	AppName policy.Code = "names-app"
	// The name has characters that look like ASCII characters.
	LookAlikeCharacters policy.Code = "look-alike"
	RegexpInName        policy.Code = "regexp-in-name" // A name cannot be a regular expression.
	JoinedLines         policy.Code = "lines-joined"   // Several lines are joined into one.
	// A line break is written as the two characters \n.
	EscapedLineBreak policy.Code = "written-line-break"
	DoubleSlash      policy.Code = "double-slash"      // The rule matches only URLs with //.
	NameWithVersion  policy.Code = "name-with-version" // Some parsers compare the version, too.
	// Two groups with different rules have different names of the same crawler.
	CrawlerInTwoGroups policy.Code = "shadowed-group"
	// The group has no rules, so it allows pages that * disallows.
	EmptyGroupAllowsSite policy.Code = "group-opens-site"
	DuplicateRule        policy.Code = "duplicate-rule" // The same rule occurs twice.
	// The rule differs from another rule only in encoding.
	EquivalentRule        policy.Code = "same-rule-encoded"
	EqualAllowAndDisallow policy.Code = "tied-rules"      // The same path is allowed and disallowed.
	RuleWithoutEffect     policy.Code = "never-wins"      // Another rule always takes precedence.
	CoveredRule           policy.Code = "covered-rule"    // A shorter rule disallows the same URLs.
	CommentInPath         policy.Code = "comment-in-path" // A # ends the path.
	SpaceInPath           policy.Code = "space-in-path"   // The line contains two paths.
	DotSegment            policy.Code = "dot-segment"     // No client sends /./ and /../ in a path.
	// The path has an escape of a regular expression.
	RegexpInPath policy.Code = "regexp-in-path"
	// The rule allows the directory for Google only.
	AllowedIndexPage   policy.Code = "index-allow"
	RecordOutsideGroup policy.Code = "record-outside-group" // A record stands before the first group.
	DelayIgnored       policy.Code = "crawl-delay-unread"   // The named crawlers ignore Crawl-delay.
	InvalidDelay       policy.Code = "crawl-delay-value"    // The value is not a number of seconds.
	// The delay is longer than the crawlers support.
	DelayAboveMaximum policy.Code = "crawl-delay-cut"
	LongDelay         policy.Code = "crawl-delay-long" // The delay allows only a few pages per day.
	// The delay is too long for the number of pages.
	DelayTooLongForSite policy.Code = "crawl-delay-pages"
	DelayAppliesToBing  policy.Code = "crawl-delay-of-star" // The delay applies to Bing.
	RelativeSitemapURL  policy.Code = "sitemap-relative"    // The value is not an absolute URL.
	SitemapOnOtherHost  policy.Code = "sitemap-other-host"  // The sitemap is on another host.
	HostIgnored         policy.Code = "host-unread"         // No crawler reads Host any more.
	CleanParam          policy.Code = "clean-param"         // Only Yandex supports Clean-param.
	Noindex             policy.Code = "noindex-unread"      // No crawler supports Noindex.
	IgnoredRecord       policy.Code = "record-unread"       // Almost no crawler supports the record.
	// This says which crawlers support Content-Signal.
	ContentSignal policy.Code = "content-signal"
	InvalidSignal policy.Code = "content-signal-value" // The value has invalid syntax.
	// This says which crawlers support Content-Usage.
	ContentUsage      policy.Code = "content-usage"
	InvalidUsage      policy.Code = "content-usage-value" // The value has invalid syntax.
	UnknownUsageLabel policy.Code = "content-usage-label" // The label is not in the current draft.
	RelativeUsagePath policy.Code = "content-usage-path"  // The path does not begin with a slash.
	// The preferences for one path contradict each other.
	ConflictingUsages     policy.Code = "content-usage-conflict"
	UsageOfDisallowedPath policy.Code = "content-usage-forbidden" // The preference is about a disallowed page.
	// Content-Usage and Content-Signal lines contradict each other.
	ContradictoryPreferences policy.Code = "preference-contradicts"
	OmittedPreference        policy.Code = "preference-lost" // A named group omits a preference of *.
	// The preference train-ai=n alone disallows no crawler.
	TrainingCrawlersAllowed policy.Code = "training-allowed"
	License                 policy.Code = "license"          // This says which crawlers support License.
	LicenseInGroup          policy.Code = "license-in-group" // The line applies to the whole file.
	RelativeLicenseURL      policy.Code = "license-relative" // The value is not an absolute URL.
	// The record is not standardized, and Google's library misreads it.
	NoAITraining policy.Code = "disallow-ai-training"
	LLMPolicy    policy.Code = "llm-policy" // The record is not standardized.
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
