// Package prometheus tests the metrics, and what the examples make of them: rules, alerts and a dashboard, in a real Prometheus.
package prometheus
