// Package lint checks a robots.txt and reports problems to its owner.
//
// Package policy reports the problems that its parser finds. Package lint adds findings that need
// data about crawlers or a comparison of lines: unknown names, ignored lines, and rules without
// effect. Package lint also compares how Googlebot, Bingbot, Yandex, GPTBot, a crawler that follows
// only RFC 9309, and a strict parser interpret the file.
package lint
