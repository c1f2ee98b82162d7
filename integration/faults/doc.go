// Package faults tests origins that fail, hang, send invalid responses or never end a
// response. Browsers are not affected, and crawlers are subject to the last known
// rules.
package faults
