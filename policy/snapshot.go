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

// MaxSnapshot is the maximum size of an encoded Snapshot in bytes. The largest current
// version fits. Previous versions are omitted if necessary.
const MaxSnapshot = 1 << 20

// snapshotFormat is the version of the encoding.
const snapshotFormat = 2

// maxValidator is the maximum length of a stored entity tag or date in bytes. Without a stored
// validator the next fetch is unconditional.
const maxValidator = 1024

// Snapshot is the stored state of a site, which has its versions. FailureCount is not stored, because
// another process may succeed.
type Snapshot struct {
	// Key is the key of the site.
	Key Key
	// State has only Current, Previous, RedirectTargets and NextFetch.
	State State
	// Saved is the time of the snapshot.
	Saved time.Time
}

// The format is JSON. The checksum covers the bytes of the policy. Texts are base64, because
// they can contain any bytes.
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

// Forms of a text that is not the whole body.
const (
	formCut   = "cut"   // the whole lines within MaxSize
	formUTF16 = "utf16" // no text
)

// Encode encodes the snapshot for [DecodeSnapshot]. Encode returns an error without a version, and
// for a key that is not UTF-8.
func (s Snapshot) Encode() ([]byte, error) {
	good := s.State.Current
	if good == nil {
		return nil, errors.New("no version of the robots.txt is known")
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
		perVersion = 16 << 10 // upper bound for a version without its text
		perKey     = 6 * maxKey
		perVia     = 6 * maxRedirectLength * MaxRedirects
	)
	room := MaxSnapshot - perKey - perVia - 2*perVersion - base64Length(p.Current)
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
	if len(data) > MaxSnapshot {
		return nil, fmt.Errorf("the snapshot takes %d bytes, more than %d", len(data), MaxSnapshot)
	}
	return data, nil
}

// maxKey bounds the names in a key, in bytes.
const maxKey = 8 << 10

// checkStorable returns an error if a key cannot be encoded.
func (k Key) checkStorable() error {
	names := [...]string{k.Source, k.Server, k.Site, k.Host, k.ForwardedHost}
	if n := len(strings.Join(names[:], "")); n > maxKey {
		return fmt.Errorf("the key has %d bytes, which is too long", n)
	}
	for _, name := range names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("%q is not UTF-8", name)
		}
	}
	return nil
}

// base64Length returns the length of a text in base64.
func base64Length(v versionJSON) int { return (len(v.Text) + 2) / 3 * 4 }

// toJSON returns the version in the form of the encoding. toJSON corrects the order of times after
// a clock was set back.
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
		e.Form = formCut
		findings, _ := v.Robots.Findings()
		if len(findings) > 0 && findings[0].Code == UTF16 {
			e.Form = formUTF16
		}
	}
	return e
}

// storableValidator returns an entity tag or date, or "" if it is too long.
func storableValidator(s string) string {
	if len(s) > maxValidator || !utf8.ValidString(s) {
		return ""
	}
	return s
}
