package uaident

// Names of the registry that are spelled in another way, or stand beside another.
var spelledTests = map[string][]identifyTest{
	"a name that its operator writes longer": {
		{chrome + " Agent-NovaAct/0.9", "Agent-NovaAct", AIAssistant, FromRegistry},
		{"ia_archiver-web.archive.org", "ia_archiver-web.archive.org", Archive, FromRegistry},
	},
	"a version that the name runs into": {
		{"Mozilla/5.0 (X11; trendictionbot0.6.1; trendiction search; https://foo.example/)", "trendictionbot0", GenericCrawler, FromRegistry},
		{"trendictionbot/0.6.1", "trendictionbot", GenericCrawler, FromRegistry},
		{"trendictionbot2", "trendictionbot2", GenericCrawler, FromSuffix}, // no version
		{chrome + " Acme1.2 curl8", "", Browser, NoEvidence},
	},
	"a library beside the language that it is written in": {
		{"Python/3.12 aiohttp/3.10.10", "aiohttp", Library, FromLibrary},
		{"Python/3.12", "Python", Library, FromLibrary},
		{"aiohttp/3.10.10 Python/3.12", "aiohttp", Library, FromLibrary},
		{"Python/3.12 (Acme 1.0) aiohttp/3.10.10", "aiohttp", Library, FromLibrary},
		{"Java/17 Apache-HttpClient/4.5", "Java", Library, FromLibrary}, // whom a group for Java means
		{"python-requests/2.32.0 Python/3.12", "python-requests", Library, FromLibrary},
	},
	"an unknown name that is spared, before one of the registry": {
		{"AcmeBot-Preview/1.0 GPTBot/1.2", "GPTBot", AITraining, FromRegistry},
		{"AcmeUptimeBot/1.0 (compatible; GPTBot/1.2)", "GPTBot", AITraining, FromRegistry},
		{"AcmeUptimeBot/1.0 Twitterbot/1.0", "AcmeUptimeBot", Other, FromTool},
	},
}
