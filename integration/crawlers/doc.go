// Package crawlers runs real crawlers against the product. Each crawler runs in two
// modes, obeying and ignoring robots.txt, and under two names, its own and that of a
// known bot. It crawls a small site with unusual paths and many kinds of robots.txt,
// behind file_server and behind reverse_proxy.
//
// The tests compare the verdicts of the guard with Google's library (its Go port). A
// table in reasons_test.go explains every difference, and every block of a crawler that
// obeys. A reason that applies to no request is an error as well.
//
// The package is a separate module, so that the product does not depend on crawlers. It
// needs Linux (for 127.0.0.0/8), the Debian packages python3-scrapy, wget, wget2,
// httrack and nodejs, and the npm packages of package.json in node_modules (npm
// install). The tests skip missing crawlers, but fail with CI=true. With LONG_TESTS=1
// the crawlers crawl all robots.txt files, otherwise a few.
//
// The tests run the product's binary without importing it, so use -count=1.
package crawlers
