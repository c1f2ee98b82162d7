// Package dashboard tests the page of robots_guard_dashboard in Chromium: the
// built binary with requests of crawlers, and a scripted day of a server for
// what needs hours to happen.
//
// It is a module of its own, so that what drives the browser is no dependency
// of the product. It needs Chromium and, for the check of accessibility, the
// npm package axe-core in node_modules (npm install). Where they are missing
// the tests say so and are skipped, but with CI=true they fail.
//
// The tests run the product's binary without importing it, so use -count=1.
//
//	go test -run TestImages -update
//
// writes the images of the documentation anew.
package dashboard
