package uaident

// appTests are apps on people's devices, by the evidence for an app. Some apps and phones have
// names of robots.
var appTests = map[string][]identifyTest{
	"apps that are called robots": {
		{"Chatbot/53300 CFNetwork/1335.0.3 Darwin/21.6.0", "Chatbot", Other, FromFirstProduct},
		{"Chatbot/5 Dalvik/2.1.0 (Linux; U; Android 14; K)", "Chatbot", Other, FromFirstProduct},
		{"Chatbot/5.2 (iPhone; iOS 18.5; Scale/3.00)", "Chatbot", Other, FromFirstProduct},
		{"Acme Chatbot/5.2 (example.acme.chatbot; build:7; iOS 18.5.0) Alamofire/5.9.1", "Chatbot", Other, FromFirstProduct},
		{"Chatbot/5.2 (Mac OS X Version 15.5 (Build 24F74))", "Chatbot", Other, FromFirstProduct},
		{"Chatbot/5 watchOS/11.5 model/Watch7,3", "Chatbot", Other, FromFirstProduct},
		{"Chatbot/5.2 (Android 14; K; de_DE)", "Chatbot", Other, FromFirstProduct},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Chatbot/5.2", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Linux; Android 14; K; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36 Chatbot/5.2", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chatbot/5.2 Chrome/138.0.0.0 Electron/37.2.0 Safari/537.36", "", Browser, NoEvidence},
		{"Chatbot/5.2 Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148", "Chatbot", Other, FromFirstProduct},
		// An ordinary word that is also a robot's name.
		{"Zeus/3.1 (example.acme.zeus; build:1; iOS 18.0.0) Alamofire/5.9.1", "Zeus", Other, FromFirstProduct},
	},
	"apps with an escaped name": {
		{"Acme%20Mail/49268 CFNetwork/1121.2.2 Darwin/19.3.0", "Acme%20Mail", Other, FromFirstProduct},
		{"Acme%20Caf%C3%A9%20Mail/1 CFNetwork/1121.2.2 Darwin/19.3.0", "Acme%20Caf%C3%A9%20Mail", Other, FromFirstProduct},
		{"Acme%20Mail CFNetwork/1121.2.2", "Acme%20Mail", Other, FromFirstProduct},
		{"Acme%2/1 CFNetwork/1121.2.2", "Acme", Other, FromFirstProduct},
		{"Acme%zz/1 CFNetwork/1121.2.2", "Acme", Other, FromFirstProduct},
		{"Acme%20Mail/49268", "Acme", Other, FromFirstProduct},
	},
	"phones that are called robots, in apps": {
		{"Acme/3.1 (Moon Spider 9; Android 14#1234#34; gzip)", "Acme", Other, FromFirstProduct},
		{"Acme/3.1 (Android 14; Moon Spider 9; )[locale=de_DE;client=android-google]", "Acme", Other, FromFirstProduct},
		{"[FBAN/FB4A;FBAV/470.0.0.50.77;FBDV/Kinder Robot 2;]", "", Browser, NoEvidence},
	},
	"robots under a phone's name": {
		{"FooBot/5.2 (iPhone; iOS 18.5; +https://foo.example/)", "FooBot", GenericCrawler, FromSuffix},
		{"FooBot/5.2 (compatible; Android 14)", "FooBot", GenericCrawler, FromSuffix},
		{"FooBot Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1", "FooBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1 FooBot", "FooBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (Linux; Android 14; K; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36 (compatible; FooBot/1.0; +https://foo.example/)", "FooBot", GenericCrawler, FromConvention},
		{"GPTBot/1.2 (iPhone; iOS 18.5; Scale/3.00)", "GPTBot", AITraining, FromRegistry},
	},
}
