package uaident

// spelledTests are registry names in another spelling or in another context.
var spelledTests = map[string][]identifyTest{
	"a name that its operator writes longer": {
		{chrome + " Agent-NovaAct/0.9", "Agent-NovaAct", AIAssistant, FromRegistry},
		{"ia_archiver-web.archive.org", "ia_archiver-web.archive.org", Archive, FromRegistry},
	},
	"a version that the name runs into": {
		{"Mozilla/5.0 (X11; trendictionbot0.6.1; trendiction search; https://foo.example/)", "trendictionbot0", GenericCrawler, FromRegistry},
		{"trendictionbot/0.6.1", "trendictionbot", GenericCrawler, FromRegistry},
		{"trendictionbot2", "trendictionbot2", GenericCrawler, FromSuffix}, // not a version
		{chrome + " Acme1.2 curl8", "", Browser, NoEvidence},
	},
	"a name that its operator writes as his site's": {
		{"Mozilla/4.0 (compatible; HostTracker.com/1.0;+http://host-tracker.com/)", "HostTracker.com", Monitor, FromRegistry},
		{"PagePeeker.com (info: http://pagepeeker.com/robots)", "PagePeeker.com", Preview, FromRegistry},
		{"Mozilla/5.0 (compatible; MegaIndex.com/2.0; +http://megaindex.com/crawler)", "MegaIndex.com", SEO, FromRegistry},
		{"MegaIndex.ru/2.0", "MegaIndex.ru", SEO, FromRegistry},                     // a separate registry entry
		{"Buck.com/1.0", "Buck.com", Other, FromContact},                            // an ordinary word
		{"wget.com/1.0", "wget.com", Other, FromContact},                            // a site with a library's name
		{"com.hosttracker.app/1.0", "com.hosttracker.app", Other, FromFirstProduct}, // an app
		{"Mozilla/5.0 (compatible; +probely.com/sos) " + chrome[len("Mozilla/5.0 "):] + " ProbelySPDR/0.2.0", "ProbelySPDR", Monitor, FromRegistry},
		{"HostTracker.acme/1.0", "HostTracker.acme", Other, FromFirstProduct}, // not a top-level domain
		{"hosttracker.com/about", "hosttracker.com", Other, FromContact},
		{"AcmeBot/1.0 (+https://hosttracker.com)", "AcmeBot", GenericCrawler, FromSuffix}, // only in the contact
		{"Mozilla/5.0 (compatible; HostTracker.com.acme/1.0; +http://acme.example/)", "HostTracker.com.acme", GenericCrawler, FromConvention},
	},
	"a name with the number of whom it crawls for": {
		{"amazon-kendra-customer-id-0a1b2c3d4e5f", "amazon-kendra-customer-id-0a1b2c3d4e5f", AISearch, FromFamily},
		{"amazon-kendra", "amazon-kendra", AISearch, FromRegistry},
		{"amazon-QBusiness", "amazon-QBusiness", AISearch, FromRegistry}, // also builds an index
	},
	"a library beside the language that it is written in": {
		{"Python/3.12 aiohttp/3.10.10", "aiohttp", Library, FromLibrary},
		{"Python/3.12", "Python", Library, FromLibrary},
		{"aiohttp/3.10.10 Python/3.12", "aiohttp", Library, FromLibrary},
		{"Python/3.12 (Acme 1.0) aiohttp/3.10.10", "aiohttp", Library, FromLibrary},
		{"Java/17 Apache-HttpClient/4.5", "Java", Library, FromLibrary}, // a group for Java applies
		{"python-requests/2.32.0 Python/3.12", "python-requests", Library, FromLibrary},
	},
	"an unknown name that is spared, before one of the registry": {
		{"AcmeBot-Preview/1.0 GPTBot/1.2", "GPTBot", AITraining, FromRegistry},
		{"AcmeUptimeBot/1.0 (compatible; GPTBot/1.2)", "GPTBot", AITraining, FromRegistry},
		{"AcmeUptimeBot/1.0 Twitterbot/1.0", "AcmeUptimeBot", Other, FromTool},
	},
	"libraries by the names that they send": {
		{"ReactorNetty/1.2.10", "ReactorNetty", Library, FromLibrary},
		{"Ktor client", "Ktor client", Library, FromLibrary},
		{"Tcl http client package 2.9.5", "Tcl http client package", Library, FromLibrary},
		{"HTTP.jl/1.10.3", "HTTP.jl", Library, FromLibrary},
		{"Mozilla/5.0 (pc-x86_64-linux-gnu) Siege/4.1.6", "Siege", Library, FromLibrary},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Siege/2.0", "", Browser, NoEvidence},
	},
}
