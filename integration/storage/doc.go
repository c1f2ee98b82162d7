// Package storage tests the state that survives a reload, a restart or a crash, and the
// state that instances share in a storage.
package storage
