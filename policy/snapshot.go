package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxSnapshotSize is the maximum size of an encoded Snapshot in bytes. The largest possible current
// version fits. If the previous versions do not fit, the oldest are omitted.
const MaxSnapshotSize = 1 << 20

// snapshotFormat is the version of the encoding.
const snapshotFormat = 2

// maxValidatorLength is the maximum length of a stored ETag or Last-Modified in bytes. A longer validator
// is not stored, so that the next fetch is unconditional.
const maxValidatorLength = 1024

// Snapshot is the part of a State that is stored, and shared with other instances. Failures are not
// stored, because the fetches of another process can succeed.
type Snapshot struct {
	// Key is the key of the site.
	Key Key
	// State has values only in Current, Previous, RedirectTargets, NextFetch and, after
	// DecodeSnapshot, LastResult.
	State State
	// Saved is the time at which the snapshot was made.
	Saved time.Time
}

// The encoding is JSON. The checksum covers the bytes of policy. Bodies are base64, because they can
// contain any bytes.
type (
	snapshotJSON struct {
		Format int             `json:"format"`
		SHA256 string          `json:"sha256"`
		Policy json.RawMessage `json:"policy"`
	}
	policyJSON struct {
		Key
		Saved           time.Time     `json:"saved"`
		NextFetch       time.Time     `json:"due"`
		RedirectTargets []string      `json:"via,omitempty"`
		Current         versionJSON   `json:"current"`
		Previous        []versionJSON `json:"past,omitempty"`
	}
	versionJSON struct {
		SHA256       string     `json:"sha256"`
		Status       int        `json:"status"`
		Served       bool       `json:"served,omitempty"`
		ETag         string     `json:"etag,omitempty"`
		LastModified string     `json:"last_modified,omitempty"`
		FirstFetched time.Time  `json:"first_read"`
		LastFetched  time.Time  `json:"last_read"`
		ReplacedAt   *time.Time `json:"until,omitempty"`
		Form         string     `json:"form,omitempty"`
		Text         []byte     `json:"text,omitempty"`
	}
)

// These are the values of versionJSON.Form for a text that is not the whole body.
const (
	formTruncated = "cut"   // The text has only the lines within MaxSize.
	formUTF16     = "utf16" // The body is UTF-16, and the text is empty.
)

// Encode returns the snapshot as data for [DecodeSnapshot]. Encode returns an error for a state
// without a current version, and for a key that is too long or not UTF-8.
func (s Snapshot) Encode() ([]byte, error) {
	good := s.State.Current
	if good == nil {
		return nil, errors.New("the state has no version of the robots.txt to store")
	}
	if err := s.Key.checkStorable(); err != nil {
		return nil, err
	}
	p := policyJSON{
		Key: s.Key, Saved: s.Saved.UTC(), RedirectTargets: storableRedirects(s.State.RedirectTargets), Current: good.toJSON(),
	}
	p.NextFetch = s.State.NextFetch.UTC()
	if latest := p.Current.LastFetched.Add(MaxAge); p.NextFetch.After(latest) {
		p.NextFetch = latest
	}
	const (
		perVersion = 16 << 10 // This is an upper bound for a version without its text.
		perKey     = 6 * maxStoredKeyLength
		perVia     = 6 * maxRedirectLength * MaxRedirects
	)
	room := MaxSnapshotSize - perKey - perVia - 2*perVersion - base64Length(p.Current)
	for _, v := range s.State.Previous {
		e := v.toJSON()
		if room -= perVersion + base64Length(e); room < 0 || len(p.Previous) == MaxVersions {
			break
		}
		p.Previous = append(p.Previous, e)
	}
	policy, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(policy)
	// Marshaling snapshotJSON would encode the policy a second time.
	data := slices.Concat(fmt.Appendf(nil, `{"format":%d,"sha256":"%x","policy":`, snapshotFormat, sum), policy, []byte("}"))
	if len(data) > MaxSnapshotSize {
		return nil, fmt.Errorf("the encoded snapshot has %d bytes, more than the maximum of %d", len(data), MaxSnapshotSize)
	}
	return data, nil
}

// maxStoredKeyLength is the maximum length of all strings in a stored key together, in bytes.
const maxStoredKeyLength = 8 << 10

// checkStorable returns an error for a key that a Snapshot cannot contain.
func (k Key) checkStorable() error {
	names := [...]string{k.Source, k.Server, k.Site, k.Host, k.ForwardedHost}
	if n := len(strings.Join(names[:], "")); n > maxStoredKeyLength {
		return fmt.Errorf("the key of the site has %d bytes, more than the maximum of %d", n, maxStoredKeyLength)
	}
	for _, name := range names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("the key of the site contains %q, which is not UTF-8", name)
		}
	}
	return nil
}

// base64Length returns the length of the text of a version in base64.
func base64Length(v versionJSON) int { return (len(v.Text) + 2) / 3 * 4 }

// toJSON returns the version for its encoding. If a clock was set back, toJSON corrects times that
// are out of order.
func (v *Version) toJSON() versionJSON {
	e := versionJSON{
		SHA256: hex.EncodeToString(v.Hash[:]), Status: v.Status, Served: v.WasServed,
		ETag: storableValidator(v.ETag), LastModified: storableValidator(v.LastModified),
		FirstFetched: v.FirstFetched.UTC(), LastFetched: v.LastFetched.UTC(),
		Text: []byte(v.Robots.Text()),
	}
	if e.FirstFetched.After(e.LastFetched) {
		e.FirstFetched = e.LastFetched
	}
	if !v.ReplacedAt.IsZero() {
		until := v.ReplacedAt.UTC()
		if until.Before(e.LastFetched) {
			until = e.LastFetched
		}
		e.ReplacedAt = &until
	}
	if sha256.Sum256(e.Text) != v.Hash {
		e.Form = formTruncated
		findings, _ := v.Robots.Findings()
		if len(findings) > 0 && findings[0].Code == UTF16 {
			e.Form = formUTF16
		}
	}
	return e
}

// storableValidator returns an ETag or Last-Modified, or "" if it is too long or not UTF-8.
func storableValidator(s string) string {
	if len(s) > maxValidatorLength || !utf8.ValidString(s) {
		return ""
	}
	return s
}
