// Package metrics contains the collectors of the module. All label values come from closed
// sets.
package metrics
