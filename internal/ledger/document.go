package ledger

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// MaxDocumentBytes is the maximum size of an encoded [ChangeGuardState] in bytes.
const MaxDocumentBytes = 1 << 20

// documentFormat is the version of the format.
const documentFormat = 3

// documentJSON is the JSON of a StoredDocument. The checksum covers Content only, so it does not
// depend on Saved.
type documentJSON struct {
	Format  int             `json:"format"`
	Saved   time.Time       `json:"saved"`
	SHA256  Version         `json:"sha256"`
	Content json.RawMessage `json:"content"`
}

// StoredDocument is JSON content with a checksum and the time of saving, encoded for the storage.
type StoredDocument struct {
	Data []byte
	// Checksum is the checksum of the content. It does not depend on Saved.
	Checksum [sha256.Size]byte
	Saved    time.Time
}

var errTooLarge = errors.New("the document exceeds its maximum size")

// EncodeDocument encodes content as JSON with a checksum, for [DecodeDocument]. A result of more
// than maxBytes bytes is an error.
func EncodeDocument(content any, saved time.Time, maxBytes int) (StoredDocument, error) {
	inner, err := json.Marshal(content)
	if err != nil {
		return StoredDocument{}, err
	}
	d := StoredDocument{Checksum: sha256.Sum256(inner), Saved: saved}
	if d.Data, err = json.Marshal(documentJSON{documentFormat, saved.UTC(), d.Checksum, inner}); err != nil {
		return StoredDocument{}, err
	}
	if len(d.Data) > maxBytes {
		err = errTooLarge
	}
	return d, err
}

// DecodeDocument decodes the result of [EncodeDocument] into content. Damaged data, unsupported
// formats and more than maxBytes bytes are an error.
func DecodeDocument(data []byte, content any, maxBytes int) (StoredDocument, error) {
	if len(data) > maxBytes {
		return StoredDocument{}, errTooLarge
	}
	var envelope documentJSON
	if err := json.Unmarshal(data, &envelope); err != nil {
		return StoredDocument{}, fmt.Errorf("invalid document: %w", err)
	}
	switch {
	case envelope.Format > documentFormat:
		return StoredDocument{}, fmt.Errorf("format %d is newer than the supported format %d", envelope.Format, documentFormat)
	case envelope.Format != documentFormat:
		return StoredDocument{}, fmt.Errorf("unknown format %d", envelope.Format)
	}
	sum := sha256.Sum256(envelope.Content)
	if sum != envelope.SHA256 {
		return StoredDocument{}, errors.New("damaged: the checksum does not match the content")
	}
	if !isPlausibleTime(envelope.Saved) {
		return StoredDocument{}, errors.New("the time at which the document was saved is out of range")
	}
	if err := json.Unmarshal(envelope.Content, content); err != nil {
		return StoredDocument{}, fmt.Errorf("invalid document: %w", err)
	}
	return StoredDocument{Data: data, Checksum: sum, Saved: envelope.Saved}, nil
}

// isPlausibleTime reports whether t is between the years 1990 and 9989. RFC 3339 can represent such
// times.
func isPlausibleTime(t time.Time) bool { return t.Year() >= 1990 && t.Year() < 9990 }
