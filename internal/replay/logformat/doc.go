// Package logformat reads the lines of access logs, each in the format that its
// server writes, without allocating anything for a line.
//
// A [Format] is one of those that [Names] lists, is given as the format string of
// nginx or Apache ([Parse]), or is told by the first lines of a log ([Recognise]).
// What a line says of a request is a [Record]; what to make of it is the caller's
// business.
package logformat
