// Package alerts tests what an owner is told of, and by whom it can be acknowledged.
package alerts
