"""A Scrapy spider that follows every link: scrapy runspider spider.py -a starts=FILE."""

from scrapy import Request, Spider


class Everything(Spider):
    name = "everything"
    handle_httpstatus_all = True
    custom_settings = {
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "CONCURRENT_REQUESTS": 16,
        "DEPTH_LIMIT": 2,
        "LOG_LEVEL": "ERROR",
    }

    def start_requests(self):
        with open(self.starts) as urls:
            yield from (Request(url.strip()) for url in urls)

    def parse(self, response):
        if hasattr(response, "text"):
            yield from response.follow_all(css="a[href]")
