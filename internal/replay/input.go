package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/robotsguard/caddy-robots-guard/internal/replay/logformat"
)

// logInput is a log to read.
type logInput struct {
	name         string
	format       *logformat.Format
	compression  string // "gzip", "zstd" or ""
	size         int64  // in bytes; 0 for standard input
	open         func() (io.ReadCloser, error)
	opened       io.ReadCloser // an open file, if opening it again is impossible
	firstRequest int64         // the time of the first request
	hasTimes     bool          // whether begins is known
	hasRequests  bool          // the first lines contain a request
	empty        bool
	readErr      error // the error if the first line is unreadable
}

// detectionSize is the number of bytes that are read to recognise the format.
const detectionSize = 64 << 10

// expandPatterns replaces patterns like access.log* by the matching files. A file with the same
// name as a pattern has precedence.
func expandPatterns(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		if !strings.ContainsAny(name, "*?[") {
			files = append(files, name)
			continue
		}
		if _, err := os.Lstat(name); err == nil {
			files = append(files, name)
			continue
		}
		matches, err := filepath.Glob(name)
		if err != nil {
			return nil, fmt.Errorf("the pattern %s cannot be read: %w", name, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("no file matches %s", name)
		}
		files = append(files, matches...)
	}
	seen := make(map[string]bool)
	for _, name := range files {
		if seen[name] {
			return nil, fmt.Errorf("%s is named twice; its requests would count twice", name)
		}
		seen[name] = true
	}
	return files, nil
}

// openInputs opens the named logs, recognises their formats, and sorts the logs by the time of their
// first request.
func openInputs(names []string, stdin io.Reader) ([]*logInput, error) {
	names, err := expandPatterns(names)
	if err != nil {
		return nil, err
	}
	var all []*logInput
	for _, name := range names {
		in := &logInput{name: name}
		if name == "-" {
			in.name = "standard input"
			in.open = func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
		} else if err := in.checkReadable(); err != nil {
			return nil, err
		}
		if err := in.detect(); err != nil {
			return nil, err
		}
		all = append(all, in)
	}
	if !slices.ContainsFunc(all, func(in *logInput) bool { return !in.hasTimes && !in.empty && in.readErr == nil }) {
		slices.SortStableFunc(all, func(a, b *logInput) int { return cmp.Compare(a.firstRequest, b.firstRequest) })
	}
	return all, nil
}

// checkReadable reports an error if the file is missing or not readable.
func (in *logInput) checkReadable() error {
	info, err := os.Stat(in.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", in.name)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory; name its files, for example %s", in.name, filepath.Join(in.name, "access.log*"))
	}
	if info.Mode().IsRegular() {
		in.size = info.Size()
	}
	in.open = func() (io.ReadCloser, error) { return os.Open(in.name) }
	return nil
}

// unsupportedSignatures are the first bytes of archives and other files that may contain logs.
var unsupportedSignatures = []struct{ magic, advice string }{
	{"BZh", "is compressed by bzip2; pipe it: bzcat FILE | caddy robots-guard audit -"},
	{"\xfd7zXZ\x00", "is compressed by xz; pipe it: xzcat FILE | caddy robots-guard audit -"},
	{"PK\x03\x04", "is a zip archive; unpack it first"},
	{"PAR1", "is a Parquet file; export the logs as text"},
	{"\xff\xfe", "is UTF-16; save the log as UTF-8"},
	{"\xfe\xff", "is UTF-16; save the log as UTF-8"},
}

// detect reads the head of the log and recognises the compression and the format.
func (in *logInput) detect() error {
	file, err := in.open()
	if err != nil {
		return err
	}
	head, text, err := in.readHead(file)
	if err != nil {
		file.Close()
		return fmt.Errorf("%s %w", in.name, err)
	}
	if in.size > 0 {
		text.Close()
	} else {
		in.opened = readCloser{io.MultiReader(bytes.NewReader(head), text), text}
	}
	return in.detectFormat(head)
}

// readHead returns the first uncompressed bytes and a reader of the rest.
func (in *logInput) readHead(file io.ReadCloser) (head []byte, text io.ReadCloser, err error) {
	raw := bufio.NewReaderSize(file, 1<<16)
	magic, err := raw.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("cannot be read: %w", err)
	}
	for _, s := range unsupportedSignatures {
		if bytes.HasPrefix(magic, []byte(s.magic)) {
			return nil, nil, errors.New(s.advice)
		}
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		in.compression = "gzip"
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		in.compression = "zstd"
	}
	if text, err = in.decompress(raw, file); err != nil {
		return nil, nil, fmt.Errorf("cannot be read: %w", err)
	}
	head, err = io.ReadAll(io.LimitReader(text, detectionSize))
	switch {
	case err == nil:
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil, fmt.Errorf("cannot be read: %w", err)
	case len(head) == 0: // truncated before the first uncompressed byte, so the file would look empty
		in.readErr = err
	}
	return head, text, nil
}

// detectFormat sets the format and the time of the first request from the head of the log.
func (in *logInput) detectFormat(head []byte) error {
	if in.readErr != nil {
		return nil
	}
	if in.empty = len(bytes.TrimSpace(head)) == 0; in.empty && len(head) < detectionSize {
		return nil
	}
	var err error
	switch in.format, err = logformat.Recognise(bytes.TrimLeft(head, "\x00")); { // NUL bytes come from truncating an open log
	case err != nil && containsNUL(head):
		return fmt.Errorf("%s is a binary file, not a log", in.name)
	case err != nil:
		return fmt.Errorf("%s: %w", in.name, err)
	}
	p := in.format.Parser()
	var r logformat.Record
	for line := range bytes.Lines(head) {
		if what, _ := p.Parse(logformat.TrimEnd(line), &r); what == logformat.Request {
			in.firstRequest, in.hasTimes, in.hasRequests = r.At, r.HasTime, true
			break
		}
	}
	return nil
}

// adviseOnError adds advice to an error of reading the log, which may be nil.
func (in *logInput) adviseOnError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && in.compression != "":
		return fmt.Errorf("%s cannot be read to the end: its %s data ends in the middle (%w); take a whole copy", in.name, in.compression, err)
	}
	return fmt.Errorf("%s cannot be read to the end: %w", in.name, err)
}

// containsNUL reports whether a NUL is near the start of a file. No log format has NULs.
func containsNUL(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), 4096)], 0) >= 0
}

// openLines opens the log to read the lines. Call reader once.
func (in *logInput) openLines() (io.ReadCloser, error) {
	if in.opened != nil {
		return in.opened, nil
	}
	file, err := in.open()
	if err != nil {
		return nil, err
	}
	text, err := in.decompress(file, file)
	if err != nil {
		file.Close()
	}
	return text, err
}

// decompress decompresses raw and skips a byte order mark. Closing the result closes file.
func (in *logInput) decompress(raw io.Reader, file io.Closer) (io.ReadCloser, error) {
	switch in.compression {
	case "gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, err
		}
		return readCloser{withoutByteOrderMark(z), closers{z, file}}, nil
	case "zstd":
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return readCloser{withoutByteOrderMark(z), closers{z.IOReadCloser(), file}}, nil
	}
	return readCloser{withoutByteOrderMark(raw), file}, nil
}

// withoutByteOrderMark skips a byte order mark. The next read returns an error of r again.
func withoutByteOrderMark(r io.Reader) io.Reader {
	const mark = "\ufeff"
	first := make([]byte, len(mark))
	n, _ := io.ReadFull(r, first)
	if string(first[:n]) == mark {
		return r
	}
	return io.MultiReader(bytes.NewReader(first[:n]), r)
}

// maxWindow bounds the memory of a zstd stream, in bytes. It suffices for zstd --ultra --long=27.
const maxWindow = 128 << 20

// readCloser is a reader with the closers to call after reading.
type readCloser struct {
	io.Reader
	io.Closer
}

// closers close in their order.
type closers []io.Closer

func (c closers) Close() (err error) {
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}
