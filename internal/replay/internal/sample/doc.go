// Package sample makes access logs that look like those of a busy site: seven
// requests of ten are of browsers, three of robots of all kinds. Everything in
// them is made up; the same seed makes the same log.
package sample
