// Package dashboard is the page that shows what crawlers do at a server: an
// http.Handler that serves the page, its assets, and the data behind it as JSON
// and CSV. It knows the types of packages report and alert only, and changes
// nothing but which alerts are acknowledged.
//
// Everything lies in one directory, so the handler works wherever it is
// mounted: the page at the directory's own path, and beside it
//
//	summary.json     summary.csv      what happens now; the series over time
//	crawlers.json    crawlers.csv     all crawlers
//	crawler.json     crawler.csv      one of them: ?id=; its paths
//	violations.json  violations.csv   requests outside robots.txt
//	robots.json      robots.csv       one robots.txt: ?site=; its lines
//	impact.json      impact.csv       what enforce means
//	parity.json      parity.csv       what crawlers really get; the answers by crawler
//	shadow.json      shadow.csv       what texts that are tried would change
//	evidence.json    evidence.txt     all that is kept about one crawler: ?id=
//	api/alerts                        what the owner should do something about
//	api/alerts/<id>/acknowledge       POST: the owner knows; DELETE: undone
//
// The parameters site, class, identity and window (1h, 24h, 7d, 30d) or, in
// place of the last, from and to narrow each of the files. The lists of crawlers
// and violations take limit and, for the next page, after.
package dashboard
