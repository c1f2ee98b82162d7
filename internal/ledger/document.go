package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// MaxDocument is the size of what this package encodes, in bytes, that is never
// exceeded.
const MaxDocument = 1 << 20

// documentFormat is the version of the encoding.
const documentFormat = 2

// documentJSON is what a storage gets: JSON, so that its owner can look at it.
// The checksum is that of the bytes of content, so it does not change with Saved.
type (
	documentJSON struct {
		documentHead
		Content json.RawMessage `json:"content"`
	}
	documentHead struct {
		Format int       `json:"format"`
		Kind   string    `json:"kind"`
		Saved  time.Time `json:"saved"`
		SHA256 string    `json:"sha256"`
	}
)

// Document is what was encoded.
type Document struct {
	Data []byte
	// Sum is the same for the same content, whenever it is saved.
	Sum   [sha256.Size]byte
	Saved time.Time
}

var errTooLarge = fmt.Errorf("more than %d bytes", MaxDocument)

func encodeDocument(kind string, content any, saved time.Time) (Document, error) {
	inner, err := json.Marshal(content)
	if err != nil {
		return Document{}, err
	}
	d := Document{Sum: sha256.Sum256(inner), Saved: saved}
	head, err := json.Marshal(documentHead{documentFormat, kind, saved.UTC(), hex.EncodeToString(d.Sum[:])})
	if err != nil {
		return Document{}, err
	}
	// To marshal documentJSON would be to read the content once more.
	d.Data = slices.Concat(head[:len(head)-1], []byte(`,"content":`), inner, []byte("}"))
	if len(d.Data) > MaxDocument {
		err = errTooLarge
	}
	return d, err
}

func decodeDocument(kind string, data []byte, content any) (Document, error) {
	if len(data) > MaxDocument {
		return Document{}, errTooLarge
	}
	envelope, ok := opened(data)
	if !ok {
		if err := json.Unmarshal(data, &envelope); err != nil {
			return Document{}, fmt.Errorf("no %s: %w", kind, err)
		}
	}
	switch {
	case envelope.Format > documentFormat:
		return Document{}, fmt.Errorf("format %d was written by a newer version; this one reads %d", envelope.Format, documentFormat)
	case envelope.Format != documentFormat:
		return Document{}, fmt.Errorf("format %d is not known", envelope.Format)
	case envelope.Kind != kind:
		return Document{}, fmt.Errorf("it holds %q, not %s", envelope.Kind, kind)
	}
	sum := sha256.Sum256(envelope.Content)
	if hex.EncodeToString(sum[:]) != envelope.SHA256 {
		return Document{}, errors.New("the checksum does not match")
	}
	if !sane(envelope.Saved) {
		return Document{}, errors.New("the time when it was saved is out of range")
	}
	if err := json.Unmarshal(envelope.Content, content); err != nil {
		return Document{}, fmt.Errorf("no %s: %w", kind, err)
	}
	return Document{Data: data, Sum: sum, Saved: envelope.Saved}, nil
}

// opened takes apart an envelope as encodeDocument writes it, so that its content, which may
// be long, is parsed once only, by the caller. ok is false for an envelope that is written
// otherwise.
func opened(data []byte) (envelope documentJSON, ok bool) {
	head, content, ok := bytes.Cut(data, []byte(`,"content":`))
	if !ok || !bytes.HasSuffix(content, []byte("}")) {
		return documentJSON{}, false
	}
	head = append(bytes.Clone(head), '}')
	if json.Unmarshal(head, &envelope.documentHead) != nil {
		return documentJSON{}, false
	}
	envelope.Content = content[:len(content)-1]
	return envelope, true
}

// sane reports whether a time can be one of a robots.txt: within years that RFC 3339 can
// write, and not before there was any.
func sane(t time.Time) bool { return t.Year() >= 1990 && t.Year() < 9990 }

// hashJSON is a SHA-256 in hexadecimal, "" for all zero.
type hashJSON string

func encodeHash(h [sha256.Size]byte) hashJSON {
	if h == [sha256.Size]byte{} {
		return ""
	}
	return hashJSON(hex.EncodeToString(h[:]))
}

func (h hashJSON) decode() (sum [sha256.Size]byte, err error) {
	if h == "" {
		return sum, nil
	}
	if len(h) != 2*sha256.Size {
		return sum, errors.New("a SHA-256 has another length")
	}
	_, err = hex.Decode(sum[:], []byte(h))
	return sum, err
}
