package replay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
)

// maxLine is the maximum length of a line, in bytes, and the size of a chunk. Servers limit the
// length of a request to far less.
const maxLine = 512 << 10

// chunk is a part of a log that ends at the end of a line. One worker judges its lines.
type chunk struct {
	input  *logInput
	buffer []byte // The buffer has maxLine bytes.
	data   []byte // data has the lines. It is a part of buffer.

	isTooLong bool // isTooLong is true if data is the beginning of a line that is longer than maxLine.

	done chan struct{} // done receives a value when a worker has finished the chunk.

	// These are the results of the worker. The results of all chunks are added in the order of the
	// log.
	lines     int
	malformed int
	examples  []malformedLine
	events    []rateEvent
	hosts     []byte // hosts has the hosts of the events.
}

// malformedLine is a line that is too long or not in the format of the log.
type malformedLine struct {
	line   int // The lines of a chunk are counted from 1.
	reason string
	text   string
}

// maxExamples is the maximum number of malformed lines in the report.
const maxExamples = 5

// readChunks splits a log into chunks until the log ends or ctx is done. It takes unused chunks
// from free, and calls emit with each filled chunk.
func readChunks(ctx context.Context, in *logInput, free <-chan *chunk, emit func(*chunk)) (err error) {
	text, err := in.openLines()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, text.Close()) }() // The error of Close would repeat an error of Read.
	var rest []byte                                    // This is the beginning of a line, from the last chunk.
	skipping := false                                  // This is true inside a line that is too long.
	for {
		k := <-free
		*k = chunk{input: in, buffer: k.buffer, done: k.done, examples: k.examples[:0], events: k.events[:0], hosts: k.hosts[:0]}
		n := copy(k.buffer, rest)
		var readErr error
		for n < len(k.buffer) && readErr == nil {
			var m int
			m, readErr = text.Read(k.buffer[n:])
			n += m
			if ctx.Err() != nil {
				readErr = ctx.Err()
			}
		}
		data := k.buffer[:n]
		if skipping {
			if i := bytes.IndexByte(data, '\n'); i >= 0 {
				data, skipping = data[i+1:], false
			} else {
				data = nil
			}
		}
		end := bytes.LastIndexByte(data, '\n') + 1
		switch {
		case readErr != nil:
			end = len(data)
		case end == 0 && len(data) == len(k.buffer):
			k.isTooLong, skipping = true, true
			end = len(data)
		}
		k.data, rest = data[:end], append(rest[:0], data[end:]...)
		emit(k)
		if errors.Is(readErr, io.EOF) {
			return nil
		} else if readErr != nil {
			return readErr
		}
	}
}
