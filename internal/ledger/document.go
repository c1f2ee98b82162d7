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

// MaxDocument is the maximum size of an encoded document in bytes.
const MaxDocument = 1 << 20

// documentFormat is the version of the format.
const documentFormat = 2

// documentJSON is the stored form of a document. The checksum covers the bytes of Content
// only, so that Saved does not change it.
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

// Document is an encoded document.
type Document struct {
	Data []byte
	// Sum depends on the content only, not on Saved.
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
	// Marshaling documentJSON would scan the content again.
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
	envelope, ok := decodeEnvelope(data)
	if !ok {
		if err := json.Unmarshal(data, &envelope); err != nil {
			return Document{}, fmt.Errorf("invalid %s: %w", kind, err)
		}
	}
	switch {
	case envelope.Format > documentFormat:
		return Document{}, fmt.Errorf("format %d is newer than the supported format %d", envelope.Format, documentFormat)
	case envelope.Format != documentFormat:
		return Document{}, fmt.Errorf("unknown format %d", envelope.Format)
	case envelope.Kind != kind:
		return Document{}, fmt.Errorf("the document is a %q, not a %s", envelope.Kind, kind)
	}
	sum := sha256.Sum256(envelope.Content)
	if hex.EncodeToString(sum[:]) != envelope.SHA256 {
		return Document{}, errors.New("the checksum does not match")
	}
	if !isPlausibleTime(envelope.Saved) {
		return Document{}, errors.New("the time of saving is out of range")
	}
	if err := json.Unmarshal(envelope.Content, content); err != nil {
		return Document{}, fmt.Errorf("invalid %s: %w", kind, err)
	}
	return Document{Data: data, Sum: sum, Saved: envelope.Saved}, nil
}

// decodeEnvelope splits an envelope from encodeDocument, so that the caller parses the content only
// once. ok is false for any other formatting.
func decodeEnvelope(data []byte) (envelope documentJSON, ok bool) {
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

// isPlausibleTime reports whether a time is plausible and representable in RFC 3339.
func isPlausibleTime(t time.Time) bool { return t.Year() >= 1990 && t.Year() < 9990 }

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
		return sum, errors.New("a SHA-256 has an invalid length")
	}
	_, err = hex.Decode(sum[:], []byte(h))
	return sum, err
}
