// Package handlerorder finds the handlers of this module in the routes of a configuration and checks
// their order. The checks apply to Caddyfiles and to JSON.
package handlerorder
