// Package alerts tests which alerts an owner receives, and who may acknowledge them.
package alerts
