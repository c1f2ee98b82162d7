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

// logInput is an access log to read: a file or standard input.
type logInput struct {
	name         string
	format       *logformat.Format
	compression  string // compression is "gzip", "zstd" or "".
	size         int64  // size is the size in bytes, or 0 for standard input.
	open         func() (io.ReadCloser, error)
	opened       io.ReadCloser // opened is an open file that cannot be opened again.
	firstRequest int64         // firstRequest is the time of the first request.
	hasTimes     bool          // hasTimes is true if firstRequest is known.
	hasRequests  bool          // hasRequests is true if the first lines contain a request.
	empty        bool
	readErr      error // readErr is the error if the first line is unreadable.
}

// detectionSize is the number of bytes that are read to recognise the format.
const detectionSize = 64 << 10

// expandPatterns replaces each pattern, such as access.log*, by the matching files. If a file with
// the name of the pattern exists, the pattern is that file's name. The same file twice is an error.
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
			return nil, fmt.Errorf("the pattern %s is invalid: %w", name, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("no file matches %s", name)
		}
		files = append(files, matches...)
	}
	seen := make(map[string]bool)
	for _, name := range files {
		if seen[name] {
			return nil, fmt.Errorf("%s is given twice, so its requests would count twice; give it once", name)
		}
		seen[name] = true
	}
	return files, nil
}

// openInputs returns the logs with their formats, sorted by the time of their first request. If a
// log has no times, the logs keep the given order.
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

// checkReadable returns an error if the file is missing or is a directory. Otherwise checkReadable
// sets in.open and, for a regular file, in.size.
func (in *logInput) checkReadable() error {
	info, err := os.Stat(in.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", in.name)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory; give its files, for example %s", in.name, filepath.Join(in.name, "access.log*"))
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

// detect sets the compression and the format of the log from its first bytes.
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

// readHead sets the compression. readHead returns the first detectionSize bytes of the uncompressed
// log, and a reader for the following bytes.
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
	case len(head) == 0: // The file was truncated before the first uncompressed byte, so it would look empty.
		in.readErr = err
	}
	return head, text, nil
}

// detectFormat sets the format and the time of the first request from the first bytes of the
// uncompressed log.
func (in *logInput) detectFormat(head []byte) error {
	if in.readErr != nil {
		return nil
	}
	if in.empty = len(bytes.TrimSpace(head)) == 0; in.empty && len(head) < detectionSize {
		return nil
	}
	var err error
	// NUL bytes come from truncating an open log.
	switch in.format, err = logformat.Recognise(bytes.TrimLeft(head, "\x00")); {
	case err != nil && containsNUL(head):
		return fmt.Errorf("%s is a binary file, not a log", in.name)
	case err != nil:
		return fmt.Errorf("%s: %w", in.name, err)
	}
	p := in.format.NewParser()
	var r logformat.Record
	for line := range bytes.Lines(head) {
		if what, _ := p.Parse(logformat.TrimLineEnd(line), &r); what == logformat.Request {
			in.firstRequest, in.hasTimes, in.hasRequests = r.At, r.HasTime, true
			break
		}
	}
	return nil
}

// explainReadError adds the name of the log and advice to an error of reading the log. nil stays
// nil.
func (in *logInput) explainReadError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && in.compression != "":
		return fmt.Errorf("%s cannot be read to the end: its %s data is cut off (%w); copy the whole file", in.name, in.compression, err)
	}
	return fmt.Errorf("%s cannot be read to the end: %w", in.name, err)
}

// containsNUL reports whether the first 4 KiB of a file contain a NUL byte. No log format has NUL
// bytes.
func containsNUL(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), 4096)], 0) >= 0
}

// openLines returns a reader for the whole uncompressed log. It may be called only once, because
// standard input cannot be read again.
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

// decompress returns a reader of the uncompressed bytes of raw, without a byte order mark. Closing
// the reader closes file.
func (in *logInput) decompress(raw io.Reader, file io.Closer) (io.ReadCloser, error) {
	switch in.compression {
	case "gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, err
		}
		return readCloser{skipByteOrderMark(z), closers{z, file}}, nil
	case "zstd":
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return readCloser{skipByteOrderMark(z), closers{z.IOReadCloser(), file}}, nil
	}
	return readCloser{skipByteOrderMark(raw), file}, nil
}

// skipByteOrderMark returns a reader for r without a leading byte order mark. skipByteOrderMark
// ignores an error of r, which the next read returns again.
func skipByteOrderMark(r io.Reader) io.Reader {
	const mark = "\ufeff"
	first := make([]byte, len(mark))
	n, _ := io.ReadFull(r, first)
	if string(first[:n]) == mark {
		return r
	}
	return io.MultiReader(bytes.NewReader(first[:n]), r)
}

// maxWindow is the maximum memory for decompressing a zstd stream, in bytes. It suffices for zstd
// --ultra --long=27.
const maxWindow = 128 << 20

// readCloser combines a reader with the closer of its source.
type readCloser struct {
	io.Reader
	io.Closer
}

// closers is a list of closers. Close calls all of them in order.
type closers []io.Closer

func (c closers) Close() (err error) {
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}
