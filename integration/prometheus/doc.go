// Package prometheus tests the metrics in a real Prometheus, and the example rules,
// alerts and dashboard.
package prometheus
