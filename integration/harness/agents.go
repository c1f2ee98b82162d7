package harness

// User-Agents of common browsers, crawlers and tools.
const (
	Firefox        = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	Chrome         = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
	GPTBot         = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)"
	Googlebot      = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	GooglebotImage = "Googlebot-Image/1.0"
	Baiduspider    = "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)"
	Bingbot        = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
	AdsBot         = "AdsBot-Google (+http://www.google.com/adsbot.html)"
	Slack          = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
	Facebook       = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
	Feedly         = "Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)"
	UptimeRobot    = "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"
	ChatGPTUser    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"
	Headless       = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36"
	FooBot         = "FooBarBot/3.1 (+https://foo.example/bot)" // not in the registry
	Curl           = "curl/8.7.1"
)
