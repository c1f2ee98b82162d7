package uaident

import "testing"

// serviceTests are clients that act for a person or a site, by the evidence.
var serviceTests = map[string][]identifyTest{
	// By documentation or observation. The registry contains the source of each entry.
	"services": {
		{"Stripe/1.0 (+https://stripe.com/docs/webhooks)", "Stripe", Service, FromRegistry},
		{"GitHub-Hookshot/044aadd", "GitHub-Hookshot", Service, FromRegistry},
		{"PayPal IPN ( https://www.paypal.com/ipn )", "PayPal IPN", Service, FromRegistry},
		{"Amazon Simple Notification Service Agent", "Amazon Simple Notification Service Agent", Service, FromRegistry},
		{"LineBotWebhook/2.0", "LineBotWebhook", Service, FromRegistry},
		{"Patreon HTTP Robot", "Patreon HTTP Robot", Service, FromRegistry},
		{"DigiCert DCV Bot/1.1", "DigiCert DCV Bot", Service, FromRegistry},
		{"Mozilla/5.0 (compatible; Let's Encrypt validation server; +https://www.letsencrypt.org)", "Let's Encrypt validation server", Service, FromRegistry},
		{"PINGOMETER_BOT_(HTTPS://PINGOMETER.COM)", "PINGOMETER_BOT_", Monitor, FromRegistry},
		{"Mozilla/5.0 (compatible; WatchForBot/1.0; +https://watchfor.io/bot)", "WatchForBot", Monitor, FromRegistry},
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
		{"Mozilla/5.0 (compatible; AppBeat/1.0; +http://www.appbeat.io/)", "AppBeat", Monitor, FromRegistry},
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
		{"Mozilla/5.0 (compatible; Acme-User/1.0; +https://acme.example)", "Acme-User", Other, FromTool},
		{"Mozilla/5.0 (compatible; Acme-User/1.0; +https://acme.example/bot)", "Acme-User", Other, FromTool},
		{"Mozilla/5.0 (compatible; AcmeAgent/1.0; +https://acme.example)", "AcmeAgent", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme Service/1.0; +https://acme.example)", "Acme Service", Other, FromCompatible},
		{"DoCoMo/2.0 D903i(c100;TB;W28H20) (compatible; Acme-Mobile-Gateway/1.2; +http://acme.example/help)", "Acme-Mobile-Gateway", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeImageProxy/1.0; +https://acme.example)", "AcmeImageProxy", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeReader/1.0; +https://acme.example)", "AcmeReader", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme2RSS/0.7; +https://acme.example)", "Acme2RSS", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeFeeds/1.0; +https://acme.example)", "AcmeFeeds", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme/1.0; +https://github.com/acme/acme)", "Acme", Other, FromCompatible}, // a program that many people run
		{"AcmePingBot/1.0", "AcmePingBot", Other, FromTool},
		{"AcmePodcastBot/1.0", "AcmePodcastBot", Other, FromTool},
		{"Podcast-Archiver/0.5 (https://acme.example)", "Podcast-Archiver", Other, FromTool},
		{chrome + " (web-crawlers+links@acme.example)", "", Browser, NoEvidence},
		{"AcmeLinkChecker/1.0 (+https://acme.example/bot)", "AcmeLinkChecker", Other, FromContact},
	},
	"robots that serve somebody by what stands before the word for a robot": {
		{"AcmeStatusBot/1.0", "AcmeStatusBot", Other, FromTool},
		{"acme-status-bot/1.0", "acme-status-bot", Other, FromTool},
		{"Acme Status Bot/1.0", "Acme Status Bot", Other, FromTool},
		{"Acme_Status_Robot/1.0", "Acme_Status_Robot", Other, FromTool},
		{"Acme RSS Bot/1.0", "Acme RSS Bot", Other, FromTool},
		{"Mozilla/5.0 (compatible; ACME RSS Bot/1.0)", "ACME RSS Bot", Other, FromTool},
		{"AcmeFeedBot/1.0 (+https://acme.example)", "AcmeFeedBot", Other, FromTool},
		{"AcmeReaderBot/1.0 (+https://acme.example)", "AcmeReaderBot", Other, FromTool},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AcmeHealthBot/1.0", "AcmeHealthBot", Other, FromTool},
		{"AcmeMonitoringBot/1.0", "AcmeMonitoringBot", Other, FromTool},
		{"acme-monitor-bot/1.0", "acme-monitor-bot", Other, FromTool},
		{"Mozilla/5.0 (compatible; CalendarBot/1.0; +https://acme.example)", "CalendarBot", Other, FromTool},
		{"Mozilla/5.0 (compatible; FaviconBot/1.0)", "FaviconBot", Other, FromTool},
		{"Mozilla/5.0 (compatible; BookmarkManagerBot/1.0)", "BookmarkManagerBot", Other, FromTool},
		{"AcmeNotificationBot/1.0", "AcmeNotificationBot", Other, FromTool},
		{"Acme Webcal Crawler", "Acme Webcal Crawler", Other, FromTool},
		{"AcmeCalDAVBot/1.0", "AcmeCalDAVBot", Other, FromTool},
		{"acme-caldav-crawler/1.0", "acme-caldav-crawler", Other, FromTool},
		{"Mozilla/5.0 (compatible; FooBot-User/1.0; +https://acme.example)", "FooBot-User", Other, FromTool},
		{"Acme/1.0 (+https://acme.example/status-bot)", "Acme", Other, FromContact},
		{"Mozilla/5.0 (compatible; AcmeFetch/1.0; +https://acme.example)", "AcmeFetch", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AIAgent/1.0; +https://acme.example)", "AIAgent", Other, FromCompatible}, // a part after capital letters
		{"Mozilla/5.0 (compatible; AcmeBrowser/1.0; +https://acme.example)", "AcmeBrowser", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeMail/1.0; +https://acme.example)", "AcmeMail", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmePlayer/1.0; +https://acme.example)", "AcmePlayer", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; ChatApp/1.0; +https://acme.example)", "ChatApp", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeCalendar/1.0; +https://acme.example)", "AcmeCalendar", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeApps/1.0; +https://acme.example)", "AcmeApps", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AcmeMail2/1.0; +https://acme.example)", "AcmeMail2", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Acme-App-v2/1.0; +https://acme.example)", "Acme-App-v2", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; AIApp/1.0; +https://acme.example)", "AIApp", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; acme-app/1.0; +https://acme.example)", "acme-app", Other, FromCompatible},
	},
	"names with a word that ends like a robot's": {
		{"Mein Angebot/2.3 okhttp/4.9.1", "Mein Angebot", Other, FromFirstProduct},
		{"Talbot Hotels/2.0", "Talbot Hotels", Other, FromFirstProduct},
		{"Acme Talbot/1.0", "Acme Talbot", Other, FromFirstProduct},
		{"Frau Abbot/1.0", "Frau Abbot", Other, FromFirstProduct},
		{"My Cubot/1.0", "My Cubot", Other, FromFirstProduct},
	},
	"robots whose names only seem to say that they serve somebody": {
		{"AcmeHealthNewsBot/1.0", "AcmeHealthNewsBot", GenericCrawler, FromSuffix},
		{"AcmeHealthBotanyCrawler/1.0", "AcmeHealthBotanyCrawler", GenericCrawler, FromSuffix},
		{chrome + " (+https://acme.health/bot)", "acme.health", GenericCrawler, FromRobotContact},
		{"Acme/1.0 (+https://acme.example/reader/bot)", "Acme", GenericCrawler, FromRobotContact},
		{"SEOAudit/1.0 (+https://acme.example/bot)", "SEOAudit", GenericCrawler, FromRobotContact}, // a part after capital letters, as in AIAgent
		{"WebCalcBot/1.0", "WebCalcBot", GenericCrawler, FromSuffix},
		{"Foo/1.0 (+https://webcalculator.example/bot)", "Foo", GenericCrawler, FromRobotContact},
		{"Mozilla/5.0 (compatible; EmailHunter/1.0; +https://acme.example)", "EmailHunter", GenericCrawler, FromConvention},
		{"Mozilla/5.0 (compatible; AppNexus/1.0; +https://acme.example)", "AppNexus", GenericCrawler, FromConvention},
		{"Mozilla/5.0 (compatible; MailHunter/1.0; +https://acme.example)", "MailHunter", GenericCrawler, FromConvention},
		{"Mozilla/5.0 (compatible; Acme-App-Hunter/1.0; +https://acme.example)", "Acme-App-Hunter", GenericCrawler, FromConvention},
		{"Mozilla/5.0 (compatible; PlayerStats/1.0; +https://acme.example)", "PlayerStats", GenericCrawler, FromConvention},
		{"Mozilla/5.0 (compatible; AcmeHealthNews/1.0; +https://acme.example)", "AcmeHealthNews", GenericCrawler, FromConvention},
		{"AcmeFeederBot/1.0", "AcmeFeederBot", GenericCrawler, FromSuffix},
		{"AcmeUserBot/1.0", "AcmeUserBot", GenericCrawler, FromSuffix},
		{"AcmeMailBot/1.0 (+https://acme.example)", "AcmeMailBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; AcmeMapper/1.0; +https://acme.example)", "AcmeMapper", GenericCrawler, FromConvention},
		{"Mozilla/5.0 (compatible; AcmePrefetch/1.0; +https://acme.example)", "AcmePrefetch", GenericCrawler, FromConvention},
		{"Mozilla/5.0 (compatible; AcmeMail/1.0; +https://acme.example/bot)", "AcmeMail", GenericCrawler, FromRobotContact},
		{"Acme/FooBot 1.0", "FooBot", GenericCrawler, FromSuffix},
		{"Acme/Chatbot (iPhone; iOS 17.0)", "Chatbot", Other, FromFirstProduct},
		{"acme.com Price Monitoring Bot", "acme.com", GenericCrawler, FromSuffix},
		{"acme.com Uptime FooBot/1.0 (+https://acme.com/)", "FooBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; AcmeLinkCheckerBot/1.0; +https://acme.example)", "AcmeLinkCheckerBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; AcmeScan/1.0; +https://acme.example)", "AcmeScan", GenericCrawler, FromConvention},
		{"AcmeShoppingBot/1.0", "AcmeShoppingBot", GenericCrawler, FromSuffix},
		{"AcmeBot/1.0 webhook", "AcmeBot", GenericCrawler, FromSuffix},
		{"AcmeBot for webhooks", "AcmeBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; AcmeBot/1.0; +https://github.com/acme/acme)", "AcmeBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; Acme/1.0; +https://github.com/acme/acme-crawler)", "Acme", GenericCrawler, FromConvention}, // a program that describes itself as a crawler
		{"Mozilla/5.0 (compatible; AcmeReagent/1.0; +https://acme.example)", "AcmeReagent", GenericCrawler, FromConvention},   // does not contain the word agent
		{"Mozilla/5.0 (compatible; AcmeProxyBot/1.0; +https://acme.example)", "AcmeProxyBot", GenericCrawler, FromSuffix},     // the word bot outweighs the word proxy
		{"AcmeSeedBot/1.0", "AcmeSeedBot", GenericCrawler, FromSuffix},                                                        // does not contain the word feed
		{"acmescrapingbot/1.0", "acmescrapingbot", GenericCrawler, FromSuffix},
	},
}

// TestServant checks words for services before "bot". Such a word counts only if it directly
// precedes "bot" or if a hyphen, an underscore or a space separates both.
func TestServant(t *testing.T) {
	for name, want := range map[string]bool{
		"StatusBot": true, "status-bot": true, "status_bot": true, "Status Bot": true, "StatusRobot": true, "acme_rss-robot/2": true,
		"status.bot": false, "status/bot": false, "status1bot": false, "status+bot": false, "StatusBotany": false, "Acme Monitoring Bot": false, "bot": false, "": false,
	} {
		if got := isServiceName(name); got != want {
			t.Errorf("%q: got %t, want %t", name, got, want)
		}
	}
}
