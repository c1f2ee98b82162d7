"""A Scrapy spider that slows down: scrapy runspider patient.py -a start=URL.

It begins with ten pages a second. Whenever it is answered 429 it leaves more time between
two requests, up to what Retry-After says, and AutoThrottle never leaves less again.
"""

import time

from scrapy import Spider
from scrapy.extensions.throttle import AutoThrottle


class Patient(Spider):
    name = "patient"
    handle_httpstatus_list = [429]
    download_delay = 0.1
    custom_settings = {
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 0.1,
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }

    def __init__(self, start, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [start]
        self.slowed = 0

    def parse(self, response):
        if response.status == 429:
            self.slow_down(int(response.headers["Retry-After"]))
            yield response.request.replace(dont_filter=True)
            return
        yield from response.follow_all(css="a[href]")

    def slow_down(self, longest):
        if time.monotonic() < self.slowed + longest:
            return  # responses to requests that were already in flight
        self.slowed = time.monotonic()
        throttle = next(e for e in self.crawler.extensions.middlewares if isinstance(e, AutoThrottle))
        throttle.mindelay = min(throttle.mindelay * 1.5, longest)
        for slot in self.crawler.engine.downloader.slots.values():
            slot.delay = throttle.mindelay
