package uaident

// Clients that act for somebody, by what tells it.
var serviceTests = map[string][]identifyTest{
	// As their operators document them, or as they are seen; the registry names
	// its source for each.
	"services": {
		{"Stripe/1.0 (+https://stripe.com/docs/webhooks)", "Stripe", Service, FromRegistry},
		{"GitHub-Hookshot/044aadd", "GitHub-Hookshot", Service, FromRegistry},
		{"PayPal IPN ( https://www.paypal.com/ipn )", "PayPal IPN", Service, FromRegistry},
		{"Amazon Simple Notification Service Agent", "Amazon Simple Notification Service Agent", Service, FromRegistry},
		{"LineBotWebhook/2.0", "LineBotWebhook", Service, FromRegistry},
		{"Patreon HTTP Robot", "Patreon HTTP Robot", Service, FromRegistry},
		{"DigiCert DCV Bot/1.1", "DigiCert DCV Bot", Service, FromRegistry},
		{"Mozilla/5.0 (compatible; Let's Encrypt validation server; +https://www.letsencrypt.org)", "Let's Encrypt validation server", Service, FromRegistry},
		{"kube-probe/1.31", "kube-probe", Service, FromRegistry},
		{"ELB-HealthChecker/2.0", "ELB-HealthChecker", Service, FromRegistry},
		{"GoogleHC/1.0", "GoogleHC", Service, FromRegistry},
		{"Lemmy/0.19.5; +https://lemmy.example", "Lemmy", Service, FromRegistry},
		{"Misskey/2024.5.0 (https://misskey.example)", "Misskey", Service, FromRegistry},
		{"Microsoft-BotFramework/3.1 (+https://botframework.com/ua)", "Microsoft-BotFramework", Service, FromRegistry},
	},
	"what a person or the owner of the site asked for": {
		{"Mozilla/5.0 (compatible; PerplexityUser/1.0; +https://acme.example)", "PerplexityUser", AIAssistant, FromRegistry},
		{"Citoid (Wikimedia tool; learn more at https://www.mediawiki.org/wiki/Citoid)", "Citoid", Service, FromRegistry},
		{"Prerender (+https://github.com/prerender/prerender)", "Prerender", Service, FromRegistry},
		{"WP Fastest Cache Preload Bot", "WP Fastest Cache Preload Bot", Service, FromRegistry},
		{"WP Fastest Cache Preload Bot - After Cache Timeout", "WP Fastest Cache Preload Bot", Service, FromRegistry},
		{"WP Fastest Cache Preload iPhone Mobile Bot", "WP Fastest Cache Preload iPhone Mobile Bot", Service, FromRegistry},
		{"Microsoft Windows Network Diagnostics", "Microsoft Windows Network Diagnostics", Service, FromRegistry},
		{"Nextcloud Webcal Service", "Nextcloud Webcal Service", Service, FromRegistry},
		{"Nextcloud Webcal Crawler", "Nextcloud Webcal Crawler", Service, FromRegistry},
		{"Mozilla/5.0 (Linux) AppleWebKit/537.36 (KHTML, like Gecko) SolarWindsTransactionBot/1.0 Safari/537.36 Chrome/134.0.0.0", "SolarWindsTransactionBot", Monitor, FromRegistry},
	},
	"services that nobody has heard of": {
		{"Acme-Webhooks/1.0", "Acme-Webhooks", Other, FromTool},
		{"AcmeUptimeBot/1.0 (+https://acme.example)", "AcmeUptimeBot", Other, FromTool},
		{"AcmeUnfurlBot/1.0", "AcmeUnfurlBot", Other, FromTool},
		{"AcmeRssBot/2.1", "AcmeRssBot", Other, FromTool},
		{"acme-dcv-robot", "acme-dcv-robot", Other, FromTool},
		{"Acme Notification Agent", "Acme Notification Agent", Other, FromTool},
		{"Mozilla/5.0 (compatible; AcmeUptimeBot/1.0; +https://acme.example)", "AcmeUptimeBot", Other, FromTool},
		{"Mozilla/5.0 (compatible; AcmeImageFetcher/9.0; +https://acme.example)", "AcmeImageFetcher", Other, FromTool},
		{"acme.com Uptime Monitoring Bot. https://acme.com/uptime-monitoring-bot.html", "acme.com", Other, FromTool},
		{"Mozilla/5.0 (compatible; AcmeMonitor/1.0; +https://acme.example)", "AcmeMonitor", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme-Link-Preview/v2.1; +https://acme.example/bot)", "Acme-Link-Preview", Other, FromTool},
		{"Acme OpenGraph Crawler", "Acme OpenGraph Crawler", Other, FromTool},
		{"AcmeBot-Preview/1.0", "AcmeBot-Preview", Other, FromTool},
		{"Acme Bot Webhook/1.0", "Acme Bot", Other, FromTool},
		{"AcmeBot Uptime Check", "AcmeBot", Other, FromTool},
		{"Mozilla/5.0 (compatible; Acme-Synthetics/1.0; +https://acme.example)", "Acme-Synthetics", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme-User/1.0; +https://acme.example)", "Acme-User", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeAgent/1.0; +https://acme.example)", "AcmeAgent", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme Service/1.0; +https://acme.example)", "Acme Service", Other, FromCompatible},
		{"DoCoMo/2.0 D903i(c100;TB;W28H20) (compatible; Acme-Mobile-Gateway/1.2; +http://acme.example/help)", "Acme-Mobile-Gateway", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeImageProxy/1.0; +https://acme.example)", "AcmeImageProxy", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeReader/1.0; +https://acme.example)", "AcmeReader", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme2RSS/0.7; +https://acme.example)", "Acme2RSS", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeFeeds/1.0; +https://acme.example)", "AcmeFeeds", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme/1.0; +https://github.com/acme/acme)", "Acme", Other, FromCompatible}, // a program, whoever runs it
		{"AcmePingBot/1.0", "AcmePingBot", Other, FromTool},
		{"AcmePodcastBot/1.0", "AcmePodcastBot", Other, FromTool},
		{"Podcast-Archiver/0.5 (https://acme.example)", "Podcast-Archiver", Other, FromTool},
		{chrome + " (web-crawlers+links@acme.example)", "", Browser, NoEvidence},
		{"AcmeLinkChecker/1.0 (+https://acme.example/bot)", "AcmeLinkChecker", Other, FromContact},
	},
	"robots whose names only seem to say that they serve somebody": {
		{"acme.com Price Monitoring Bot", "acme.com", GenericCrawler, FromSuffix},
		{"acme.com Uptime FooBot/1.0 (+https://acme.com/)", "FooBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; AcmeLinkCheckerBot/1.0; +https://acme.example)", "AcmeLinkCheckerBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; AcmeScan/1.0; +https://acme.example)", "AcmeScan", GenericCrawler, FromConvention},
		{"AcmeShoppingBot/1.0", "AcmeShoppingBot", GenericCrawler, FromSuffix},
		{"AcmeBot/1.0 webhook", "AcmeBot", GenericCrawler, FromSuffix},
		{"AcmeBot for webhooks", "AcmeBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; AcmeBot/1.0; +https://github.com/acme/acme)", "AcmeBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; Acme/1.0; +https://github.com/acme/acme-crawler)", "Acme", GenericCrawler, FromConvention}, // a program that says what it does
		{"Mozilla/5.0 (compatible; AcmeReagent/1.0; +https://acme.example)", "AcmeReagent", GenericCrawler, FromConvention},   // no agent
		{"Mozilla/5.0 (compatible; AcmeProxyBot/1.0; +https://acme.example)", "AcmeProxyBot", GenericCrawler, FromSuffix},     // a robot all the same
		{"AcmeSeedBot/1.0", "AcmeSeedBot", GenericCrawler, FromSuffix},                                                        // no feed
		{"acmescrapingbot/1.0", "acmescrapingbot", GenericCrawler, FromSuffix},
	},
}
