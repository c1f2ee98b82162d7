// Package jsontext decodes handwritten JSON with a fixed structure. Unknown and repeated fields are
// errors. Errors have the line and the column.
package jsontext
