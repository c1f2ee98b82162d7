// Package admin tests the admin API and what it reports: policies, reasons and the ledger.
package admin
