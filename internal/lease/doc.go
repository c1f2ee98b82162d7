// Package lease has the last of several configurations decide about what they
// share, for as long as it runs.
package lease
