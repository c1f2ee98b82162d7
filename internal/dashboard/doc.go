// Package dashboard serves the dashboard: the page, its assets, and the data as JSON and CSV. The
// dashboard depends on the types of packages report, responseaudit and alert only, and changes
// nothing except acknowledgements of alerts.
//
// All files are in one directory, so that the handler works under any path:
//
//	summary.json     summary.csv      current state; series over time
//	crawlers.json    crawlers.csv     all crawlers
//	crawler.json     crawler.csv      one crawler: ?id=; its paths
//	violations.json  violations.csv   disallowed requests
//	robots.json      robots.csv       one robots.txt: ?site=; its lines
//	impact.json      impact.csv       effect of enforce
//	parity.json      parity.csv       response audit; responses by crawler
//	shadow.json      shadow.csv       effect of trial files
//	managed.json                      files that robots_txt serves; details: ?site=
//	evidence.json    evidence.txt     all data about one crawler: ?id=
//	api/alerts                        alerts
//	api/alerts/<id>/acknowledge       POST: acknowledge; DELETE: reopen
//
// The parameters site, host, class, identity and window (1h, 24h, 7d, 30d) filter the data files.
// The parameter host affects only violations and the details of a crawler. from and to replace
// window. The lists of crawlers and violations also accept limit and, for the next page, after.
package dashboard
