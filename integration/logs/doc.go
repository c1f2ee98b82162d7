// Package logs tests what is logged of requests, and what the examples make of logs.
package logs
