// Package protocols tests all versions of HTTP: the guard evaluates requests of each
// version, and allowed requests and responses pass unchanged.
package protocols
