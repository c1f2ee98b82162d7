// Package directive tests what the directive does to a request, by its mode, its options and its matchers.
package directive
