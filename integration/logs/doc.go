// Package logs tests the logging of requests, and the examples that evaluate logs.
package logs
