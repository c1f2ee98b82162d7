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

// kinds describes every code. A finding of the parser has its own severity.
var kinds = []kind{
	{policy.TooLarge, policy.Error, "The file has more than 500 KiB"},
	{policy.LineCut, policy.Warning, "The limit of 500 KiB splits a line"},
	{policy.LineTooLong, policy.Warning, "A line is longer than some crawlers read"},
	{policy.UTF16, policy.Error, "The file is UTF-16"},
	{policy.NotText, policy.Warning, "A NUL byte ends a line"},
	{policy.ByteOrderMark, policy.Info, "The file starts with a byte order mark"},
	{policy.HTML, policy.Error, "The file is a web page"},
	{policy.NoKey, policy.Warning, "A line is not of the form key: value"},
	{policy.MissingColon, policy.Warning, "A colon is missing"},
	{policy.MisspeltKey, policy.Warning, "A key is misspelt"},
	{policy.UnknownKey, policy.Info, "A key is unknown"},
	{policy.RuleOutsideGroup, policy.Error, "A rule comes before the first user-agent line"},
	{policy.RuleWithoutSlash, policy.Error, "A rule starts with neither / nor *"},
	{policy.DollarInside, policy.Info, "A $ is not at the end of a rule"},
	{policy.EmptyName, policy.Warning, "A user-agent line names nobody"},
	{policy.NameList, policy.Warning, "A user-agent line has several names"},
	{policy.NamePattern, policy.Warning, "A name has a * in it"},
	{policy.RepeatedGroup, policy.Info, "A name stands above two groups"},
	{policy.GroupWithoutRule, policy.Info, "A group has no rule"},
	{policy.AmbiguousGroup, policy.Warning, "Crawlers disagree about the crawlers of a group"},

	{EmptyFile, policy.Info, "The file says nothing"},
	{SearchShutOut, policy.Warning, "Search engines may fetch nothing"},
	{SearchForbidden, policy.Info, "A search engine is named and may fetch nothing"},
	{YandexLimits, policy.Warning, "More or longer rules than Yandex reads"},
	{PrefixKey, policy.Warning, "Google's library reads a key as another"},
	{AdsIgnoreStar, policy.Info, "Google's ads crawlers ignore the * group"},
	{RobotsOnly, policy.Info, "No client sends this name"},
	{Misspelt, policy.Warning, "A crawler's name is misspelt"},
	{Retired, policy.Info, "A crawler is gone or has another name"},
	{NamesNobody, policy.Warning, "No crawler has this name"},
	{NamesApp, policy.Warning, "A group blocks people who use an app"},
	{LookAlike, policy.Error, "A character only looks like the right one"},
	{RegexpInName, policy.Warning, "A name is written as a regular expression"},
	{LinesJoined, policy.Error, "Several lines stand in one"},
	{WrittenBreak, policy.Error, "A line break is written as a backslash and n"},
	{DoubleSlash, policy.Warning, "A path has two slashes in a row"},
	{NameVersion, policy.Warning, "A crawler's name has a version"},
	{SplitCrawler, policy.Info, "Two groups name one crawler differently"},
	{OpensSite, policy.Warning, "A group without rules allows URLs that the * group disallows"},
	{DuplicateRule, policy.Info, "A rule stands there twice"},
	{SameEncoding, policy.Info, "Two rules differ in their spelling only"},
	{TiedRules, policy.Warning, "Allow and Disallow have the same path"},
	{NeverWins, policy.Warning, "A rule never decides anything"},
	{CoveredRule, policy.Info, "A rule forbids what another one forbids"},
	{CommentInPath, policy.Warning, "A # cuts a path"},
	{SpaceInPath, policy.Warning, "Two paths stand in one line"},
	{DotSegment, policy.Warning, "A path has a dot segment"},
	{RegexpInPath, policy.Warning, "A path is written as a regular expression"},
	{IndexAllow, policy.Info, "An index page opens its directory for Google alone"},
	{RecordOutside, policy.Warning, "A line about a group comes before the first user-agent line"},
	{DelayUnread, policy.Info, "Nobody obeys this Crawl-delay"},
	{DelayValue, policy.Warning, "Crawl-delay is not a number of seconds"},
	{DelayCut, policy.Info, "A Crawl-delay is longer than a crawler waits"},
	{DelayLong, policy.Warning, "A Crawl-delay leaves room for few pages"},
	{DelayPages, policy.Warning, "At this Crawl-delay a crawler needs longer than a month for the site"},
	{DelayBindsBing, policy.Info, "A Crawl-delay for all binds Bing"},
	{SitemapURL, policy.Error, "A sitemap is not a whole URL"},
	{SitemapHost, policy.Info, "A sitemap is on another host"},
	{HostUnread, policy.Info, "Nobody reads Host"},
	{CleanParam, policy.Info, "Yandex alone reads Clean-param"},
	{Noindex, policy.Warning, "Nobody reads Noindex"},
	{Unread, policy.Info, "Hardly anybody reads this record"},
	{ContentSignal, policy.Info, "Content-Signal does not block fetching"},
	{SignalValue, policy.Warning, "Content-Signal has an undefined value"},
	{ContentUsage, policy.Info, "Content-Usage does not block fetching"},
	{UsageValue, policy.Warning, "Content-Usage has an undefined value"},
	{UsageLabel, policy.Warning, "Content-Usage has an undefined label"},
	{UsagePath, policy.Warning, "The path of Content-Usage begins with no slash"},
	{UsageConflict, policy.Warning, "Two Content-Usage lines state opposites"},
	{UsageForbidden, policy.Info, "Content-Usage applies to a disallowed path"},
	{PreferenceContradicts, policy.Warning, "Lines of different kinds state opposites about use"},
	{PreferenceLost, policy.Warning, "A group hides a preference of the * group"},
	{TrainersAllowed, policy.Info, "train-ai=n does not block crawlers"},
	{License, policy.Info, "License does not block fetching"},
	{LicensePlace, policy.Info, "License stands in a group"},
	{LicenseURL, policy.Warning, "License is not a whole URL"},
	{NoAITraining, policy.Warning, "DisallowAITraining is misread"},
	{LLMPolicy, policy.Info, "Nobody reads LLM-Policy"},
}

// kind describes the findings with one code.
type kind struct {
	code     policy.Code
	severity policy.Severity
	says     string
}

func kindOf(code policy.Code) kind {
	for _, k := range kinds {
		if k.code == code {
			return k
		}
	}
	return kind{code, policy.Info, string(code)}
}

// severityOf returns the severity of findings with this code.
func severityOf(code policy.Code) policy.Severity { return kindOf(code).severity }

// describe returns a short description of a code.
func describe(code policy.Code) string { return kindOf(code).says }
