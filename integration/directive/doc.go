// Package directive tests the effects of the directive on requests, by mode, option and
// matcher.
package directive
