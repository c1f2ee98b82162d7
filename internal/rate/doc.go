// Package rate knows how fast crawlers ask: whose budget a request spends, and
// whether it is one too many.
package rate
