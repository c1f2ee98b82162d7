// Package faults tests origins that fail, hang, lie or never end: browsers notice nothing, and a crawler keeps to what was known.
package faults
