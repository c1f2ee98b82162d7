// Package rates reads the words of the option rate and has the matcher
// http.matchers.robots_rate. How fast a crawler may ask package rate of internal
// decides.
package rates
