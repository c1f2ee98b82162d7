// Package dashboard tests the page of robots_guard_dashboard in Chromium. Some tests
// use the built binary with requests of crawlers. The others use a scripted day with
// data that would take hours to collect.
//
// The package is a separate module, so that the product does not depend on the browser
// driver. It needs Chromium and, for the accessibility check, the npm package axe-core
// in node_modules (npm install). The tests skip missing programs, but fail with
// CI=true.
//
// The tests run the product's binary without importing it, so use -count=1.
//
//	go test -run TestImages -update
//
// renders the images of the documentation again.
package dashboard
