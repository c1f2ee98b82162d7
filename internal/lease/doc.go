// Package lease lets the latest of several running configurations decide about state that they share.
package lease
