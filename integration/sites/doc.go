// Package sites tests which site a request belongs to, and the guard in many forms of
// Caddyfiles.
package sites
