// Package changeguard knows which pages search engines were served, and keeps a
// robots.txt in force for a while when the next one forbids such pages.
package changeguard
