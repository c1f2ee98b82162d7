// Package crawlers lets real crawlers loose on the product: each obeying
// robots.txt and ignoring it, under its own name and under a known bot's, over a
// small site with odd paths and many kinds of robots.txt, before file_server and
// before reverse_proxy.
//
// What the guard decides is held against Google's library (in its Go port). Where
// the two differ, and where a crawler that obeys is blocked all the same, a table
// in reasons_test.go has to give the reason; a reason that no request needs is an
// error as well.
//
// It is a module of its own, so that crawlers are no dependencies of the product.
// It needs Linux (all of 127.0.0.0/8 is the machine itself), the Debian packages
// python3-scrapy, wget, wget2, httrack and nodejs, and the npm packages of
// package.json in node_modules (npm install). Crawlers that are missing are
// skipped, but with CI=true that is an error. With LONG_TESTS=1 the crawlers crawl
// all robots.txt files, else a few of them.
//
// The tests run the product's binary without importing it, so use -count=1.
package crawlers
