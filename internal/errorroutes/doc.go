// Package errorroutes tells what the error routes of a server do about the block of
// a crawler: whether one answers it, and whether one answers it with the very page
// that the crawler may not have.
package errorroutes
