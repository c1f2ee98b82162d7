// Package managed composes the robots.txt of a site from the site's own file, the base, and from
// rules about crawlers.
//
// A [Plan] has the rules in force. [Plan.Compose] makes a file from a base and a plan, and depends on
// nothing else. A [Schedule] returns the plan of a host at a time. Package publish serves the files.
//
// A composed file gives a crawler the rules of the base, changed by the rules about the crawler.
// Other crawlers get the rules of the base. A named group hides the * group. A crawler with a rule
// therefore gets its own group with a copy of its previous group. Crawlers also get their own group
// if they would obey the new group through a documented fallback.
package managed
