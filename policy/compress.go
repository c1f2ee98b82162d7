package policy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"
)

// gzipWriters reuses writers, which have 1.2 MB each.
var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // The level is valid.
	return w
}}

// CompressedText returns [Robots.Text] compressed with gzip, for [ParseCompressed]. Only the first
// call compresses the text. The caller must not modify the result.
func (r *Robots) CompressedText() []byte {
	r.compressOnce.Do(func() {
		var buffer bytes.Buffer
		w := gzipWriters.Get().(*gzip.Writer)
		w.Reset(&buffer)
		_, _ = io.WriteString(w, r.text) // A Buffer returns no errors.
		_ = w.Close()
		w.Reset(nil)
		gzipWriters.Put(w)
		r.compressed = bytes.Clone(buffer.Bytes())
	})
	return r.compressed
}

// ParseCompressed decompresses and parses the result of [Robots.CompressedText]. ParseCompressed
// returns an error for data in another format, and for more than [MaxSize] bytes of text.
func ParseCompressed(data []byte) (*Robots, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("the decompressed robots.txt has more than %d bytes", MaxSize)
	}
	return Parse(text), nil
}
