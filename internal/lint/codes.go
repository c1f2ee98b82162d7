package lint

import "github.com/robotsguard/caddy-robots-guard/policy"

// What this package finds beside the codes of package policy. docs/findings.md
// has an example and the sources for each.
const (
	// About the file as a whole.
	EmptyFile             policy.Code = "empty-file"              // says nothing
	SearchShutOut         policy.Code = "search-shut-out"         // a search engine may fetch nothing at all
	SearchForbidden       policy.Code = "search-forbidden"        // the same, but the file names it
	YandexLimits          policy.Code = "yandex-limits"           // more or longer rules than Yandex takes
	PrefixKey             policy.Code = "key-read-by-prefix"      // a key that Google's library takes for another
	AdsIgnoreStar         policy.Code = "ads-ignore-star"         // * is shut out, but Google's ads crawlers are not
	RobotsOnly            policy.Code = "robots-only-token"       // a name that no client sends
	Misspelt              policy.Code = "misspelt-crawler"        // nearly the name of a known crawler
	Retired               policy.Code = "retired-crawler"         // a crawler that is gone or has another name now
	NamesNobody           policy.Code = "names-nobody"            // a word that no crawler can be told by
	NamesApp              policy.Code = "names-app"               // an app that people use, and no robot
	LookAlike             policy.Code = "look-alike"              // characters that only look like ASCII
	RegexpInName          policy.Code = "regexp-in-name"          // a name is not a regular expression
	LinesJoined           policy.Code = "lines-joined"            // several lines in one
	WrittenBreak          policy.Code = "written-line-break"      // \n as two characters
	DoubleSlash           policy.Code = "double-slash"            // matches only URLs with //
	NameVersion           policy.Code = "name-with-version"       // some parsers compare the version, too
	SplitCrawler          policy.Code = "shadowed-group"          // a crawler's other name has the group that counts
	OpensSite             policy.Code = "group-opens-site"        // no rule for it, so what * forbids is open to it
	DuplicateRule         policy.Code = "duplicate-rule"          // the same rule twice
	SameEncoding          policy.Code = "same-rule-encoded"       // differs from another rule in spelling only
	TiedRules             policy.Code = "tied-rules"              // allow and disallow of the same path
	NeverWins             policy.Code = "never-wins"              // a rule that another one always beats
	CoveredRule           policy.Code = "covered-rule"            // forbids what a shorter rule forbids already
	CommentInPath         policy.Code = "comment-in-path"         // # cuts the path
	SpaceInPath           policy.Code = "space-in-path"           // two paths in a line
	DotSegment            policy.Code = "dot-segment"             // no client sends /./ and /../
	RegexpInPath          policy.Code = "regexp-in-path"          // an escape of a regular expression
	IndexAllow            policy.Code = "index-allow"             // allows the directory for Google alone
	RecordOutside         policy.Code = "record-outside-group"    // it is for nobody
	DelayUnread           policy.Code = "crawl-delay-unread"      // those it is for do not read it
	DelayValue            policy.Code = "crawl-delay-value"       // not a number of seconds
	DelayCut              policy.Code = "crawl-delay-cut"         // longer than those it is for keep
	DelayLong             policy.Code = "crawl-delay-long"        // leaves room for few pages
	DelayPages            policy.Code = "crawl-delay-pages"       // leaves room for fewer than there are
	DelayBindsBing        policy.Code = "crawl-delay-of-star"     // binds Bing
	SitemapURL            policy.Code = "sitemap-relative"        // not a whole URL
	SitemapHost           policy.Code = "sitemap-other-host"      // on another host
	HostUnread            policy.Code = "host-unread"             // nobody reads Host any more
	CleanParam            policy.Code = "clean-param"             // Yandex alone reads it
	Noindex               policy.Code = "noindex-unread"          // nobody reads it
	Unread                policy.Code = "record-unread"           // hardly anybody reads it
	ContentSignal         policy.Code = "content-signal"          // who reads it
	SignalValue           policy.Code = "content-signal-value"    // not of the form that is defined
	ContentUsage          policy.Code = "content-usage"           // who reads it
	UsageValue            policy.Code = "content-usage-value"     // not of the form that is defined
	UsageLabel            policy.Code = "content-usage-label"     // not a label of today's draft
	UsagePath             policy.Code = "content-usage-path"      // does not begin with a slash
	UsageConflict         policy.Code = "content-usage-conflict"  // equal paths state opposites
	UsageForbidden        policy.Code = "content-usage-forbidden" // about what may not be fetched
	PreferenceContradicts policy.Code = "preference-contradicts"  // lines of different kinds state opposites
	PreferenceLost        policy.Code = "preference-lost"         // a named group does not repeat what * states
	TrainersAllowed       policy.Code = "training-allowed"        // train-ai=n alone keeps nobody away
	License               policy.Code = "license"                 // who reads it
	LicensePlace          policy.Code = "license-in-group"        // it is about the whole file
	LicenseURL            policy.Code = "license-relative"        // not a whole URL
	NoAITraining          policy.Code = "disallow-ai-training"    // nobody defines it, Google's library misreads it
	LLMPolicy             policy.Code = "llm-policy"              // nobody defines it
)

// kinds describes every code. Of the parser's codes the severity is that of the
// finding.
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
	{ContentSignal, policy.Info, "Content-Signal forbids no fetching"},
	{SignalValue, policy.Warning, "Content-Signal has an undefined value"},
	{ContentUsage, policy.Info, "Content-Usage forbids no fetching"},
	{UsageValue, policy.Warning, "Content-Usage has an undefined value"},
	{UsageLabel, policy.Warning, "Content-Usage has an undefined label"},
	{UsagePath, policy.Warning, "The path of Content-Usage begins with no slash"},
	{UsageConflict, policy.Warning, "Two Content-Usage lines state opposites"},
	{UsageForbidden, policy.Info, "Content-Usage applies to a disallowed path"},
	{PreferenceContradicts, policy.Warning, "Lines of different kinds state opposites about use"},
	{PreferenceLost, policy.Warning, "A group hides a preference of the * group"},
	{TrainersAllowed, policy.Info, "train-ai=n does not block crawlers"},
	{License, policy.Info, "License forbids no fetching"},
	{LicensePlace, policy.Info, "License stands in a group"},
	{LicenseURL, policy.Warning, "License is not a whole URL"},
	{NoAITraining, policy.Warning, "DisallowAITraining is misread"},
	{LLMPolicy, policy.Info, "Nobody reads LLM-Policy"},
}

// kind is a kind of finding.
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

// severityOf returns the severity of a code's findings.
func severityOf(code policy.Code) policy.Severity { return kindOf(code).severity }

// describe says in a few words what a code stands for.
func describe(code policy.Code) string { return kindOf(code).says }
