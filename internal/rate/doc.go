// Package rate measures the request rates of crawlers. Each request is charged to a budget, and
// the package reports whether the request exceeds the rate.
package rate
