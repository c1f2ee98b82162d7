// Package storage tests what outlives a reload, a restart or a crash, and what instances on one storage share.
package storage
