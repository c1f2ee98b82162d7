// Package sites tests which site a request belongs to, and the shapes of Caddyfiles in which sites are written.
package sites
