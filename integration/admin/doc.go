// Package admin tests the responses of the admin API: policies, explanations and the
// ledger.
package admin
