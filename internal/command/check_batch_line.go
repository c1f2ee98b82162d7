package command

import (
	"bufio"
	"errors"
	"io"
)

// maxBatchLine bounds a line with its end, in bytes. A robots.txt of which all is read takes up to
// 3 MiB if it is all escapes.
const maxBatchLine = 8 << 20

// readLine reads a line with its end, if it has one. It is good until the next one is
// read; long is memory for one that is longer than the buffer. Of one that is longer than
// maxBatchLine it returns nothing but [bufio.ErrTooLong], and goes to its end.
func readLine(lines *bufio.Reader, long *[]byte) (line []byte, err error) {
	line, err = lines.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole, tooLong := (*long)[:0], false
	for more := true; more; {
		if tooLong = tooLong || len(whole)+len(line) > maxBatchLine; !tooLong {
			whole = append(whole, line...)
		}
		if more = errors.Is(err, bufio.ErrBufferFull); more {
			line, err = lines.ReadSlice('\n')
		}
	}
	*long = whole
	if tooLong && (err == nil || errors.Is(err, io.EOF)) {
		return nil, bufio.ErrTooLong
	}
	return whole, err
}
