// Package lint checks a robots.txt and reports problems to its owner.
//
// Package policy reports the problems that its parser finds. This package adds findings that need
// data about crawlers: unknown names, ignored lines, and rules without effect. It also compares how
// Googlebot, Bingbot, Yandex, GPTBot, and a crawler that follows only RFC 9309 interpret the file.
package lint
