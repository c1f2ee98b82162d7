// Package changeguard records the pages that search engines were served. If a new robots.txt
// disallows such pages, it keeps the previous version in force for a limited time.
package changeguard
