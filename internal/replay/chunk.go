package replay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
)

// maxLine bounds a line, in bytes. It is also the size of a chunk. A server
// bounds what it takes in as a request to far less.
const maxLine = 512 << 10

// chunk is some whole lines of one log.
type chunk struct {
	in   *input
	buf  []byte // memory of maxLine bytes
	data []byte // the part of buf that holds the lines

	tooLong bool // data is the start of a line that is longer than maxLine
	last    bool // the last of its log

	done chan struct{} // receives when a worker is through with it

	// What the worker found, for the one who goes through the chunks in order.
	lines     int
	malformed int
	examples  []example
	events    []event
	paths     []byte // those of the events
}

// example is a malformed line.
type example struct {
	line int // counted from 1 within the chunk
	why  string
	text string
}

// maxExamples is how many malformed lines are shown.
const maxExamples = 5

// chunker reads logs in chunks.
type chunker struct {
	free chan *chunk
	emit func(*chunk) // takes over a chunk
}

// read reads a log to its end or until ctx is done.
func (c *chunker) read(ctx context.Context, in *input) (err error) {
	text, err := in.reader()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, text.Close()) }() // which says the same again, if anything
	var rest []byte                                    // of the last chunk: the beginning of a line
	skipping := false                                  // within a line that is too long
	for {
		var k *chunk
		select {
		case k = <-c.free:
		case <-ctx.Done():
			return ctx.Err()
		}
		*k = chunk{in: in, buf: k.buf, done: k.done, examples: k.examples[:0], events: k.events[:0], paths: k.paths[:0]}
		n := copy(k.buf, rest)
		var readErr error
		for n < len(k.buf) && readErr == nil {
			var m int
			m, readErr = text.Read(k.buf[n:])
			n += m
			if ctx.Err() != nil {
				readErr = ctx.Err()
			}
		}
		data := k.buf[:n]
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
		case end == 0 && len(data) == len(k.buf):
			k.tooLong, skipping = true, true
			end = len(data)
		}
		k.data, rest = data[:end], append(rest[:0], data[end:]...)
		k.last = readErr != nil
		c.emit(k)
		switch {
		case readErr == nil:
		case errors.Is(readErr, io.EOF):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			return readErr
		}
	}
}
