// Package metrics holds the collectors of the module and their labels, all of
// whose values are from closed sets.
package metrics
