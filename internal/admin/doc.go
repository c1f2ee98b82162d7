// Package admin adds endpoints to Caddy's admin API. They return the policies, the reports about
// crawlers, and explanations of verdicts.
package admin
