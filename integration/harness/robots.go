package harness

// ClosedRobots disallows /private/ for all crawlers and everything for GPTBot.
const ClosedRobots = "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n"

// RuledSite is a site with a robots.txt that names several kinds of clients.
const RuledSite = `http://a.test:$PORT {
	robots_guard $MODE
	handle /robots.txt {
		respond <<ROBOTS
			User-agent: *
			Disallow: /private/

			User-agent: Googlebot
			Disallow: /private/
			Allow: /private/press/

			User-agent: GPTBot
			Disallow: /

			User-agent: AdsBot-Google
			Disallow: /noads/

			User-agent: curl
			User-agent: HeadlessChrome
			Disallow: /notools/

			User-agent: facebookexternalhit
			User-agent: Feedly
			User-agent: ChatGPT-User
			User-agent: UptimeRobot
			Disallow: /named/

			User-agent: acmescraper
			User-agent: zorkly
			User-agent: Firefox
			User-agent: Mozilla
			User-agent: Windows
			Disallow: /

			ROBOTS
	}
	handle {
		respond "page {path}"
	}
}
`
