package ledger

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// MaxDocument is the maximum size of an encoded document in bytes.
const MaxDocument = 1 << 20

// documentFormat is the version of the format.
const documentFormat = 3

// documentJSON is the stored form of a document. The checksum covers Content only, and is
// independent of Saved.
type documentJSON struct {
	Format  int             `json:"format"`
	Saved   time.Time       `json:"saved"`
	SHA256  Version         `json:"sha256"`
	Content json.RawMessage `json:"content"`
}

// Document is an encoded document.
type Document struct {
	Data []byte
	// Sum depends on the content only, not on Saved.
	Sum   [sha256.Size]byte
	Saved time.Time
}

var errTooLarge = errors.New("the document has too many bytes")

func encodeDocument(content any, saved time.Time) (Document, error) {
	return EncodeDocument(content, saved, MaxDocument)
}

// EncodeDocument encodes content as JSON for [DecodeDocument]. More than maxBytes bytes are an error.
func EncodeDocument(content any, saved time.Time, maxBytes int) (Document, error) {
	inner, err := json.Marshal(content)
	if err != nil {
		return Document{}, err
	}
	d := Document{Sum: sha256.Sum256(inner), Saved: saved}
	if d.Data, err = json.Marshal(documentJSON{documentFormat, saved.UTC(), d.Sum, inner}); err != nil {
		return Document{}, err
	}
	if len(d.Data) > maxBytes {
		err = errTooLarge
	}
	return d, err
}

func decodeDocument(data []byte, content any) (Document, error) {
	return DecodeDocument(data, content, MaxDocument)
}

// DecodeDocument decodes the result of [EncodeDocument] into content. Damaged data and other formats
// are an error.
func DecodeDocument(data []byte, content any, maxBytes int) (Document, error) {
	if len(data) > maxBytes {
		return Document{}, errTooLarge
	}
	var envelope documentJSON
	if err := json.Unmarshal(data, &envelope); err != nil {
		return Document{}, fmt.Errorf("invalid document: %w", err)
	}
	switch {
	case envelope.Format > documentFormat:
		return Document{}, fmt.Errorf("format %d is newer than the supported format %d", envelope.Format, documentFormat)
	case envelope.Format != documentFormat:
		return Document{}, fmt.Errorf("unknown format %d", envelope.Format)
	}
	sum := sha256.Sum256(envelope.Content)
	if sum != envelope.SHA256 {
		return Document{}, errors.New("the checksum does not match")
	}
	if !isPlausibleTime(envelope.Saved) {
		return Document{}, errors.New("the time of saving is out of range")
	}
	if err := json.Unmarshal(envelope.Content, content); err != nil {
		return Document{}, fmt.Errorf("invalid document: %w", err)
	}
	return Document{Data: data, Sum: sum, Saved: envelope.Saved}, nil
}

// isPlausibleTime reports whether a time is plausible and representable in RFC 3339.
func isPlausibleTime(t time.Time) bool { return t.Year() >= 1990 && t.Year() < 9990 }
