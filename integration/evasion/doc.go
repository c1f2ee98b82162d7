// Package evasion tests all known ways to get a disallowed page: spellings of the URL,
// unusual requests, modified names, and reloads of the configuration.
package evasion
