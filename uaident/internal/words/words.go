package words

// These are the classes of non-word bytes in [Fold].
const (
	Gap = 0 // Gap ends a word.
	Dot = 1 // Dot is part of a word only between two word bytes.
)

// Fold maps a byte to its hash input: letters to lower case, other word bytes to themselves,
// and the rest to [Dot] or [Gap]. The underscore gets another value, so that only letters have the
// bit [Letter].
var Fold = func() (t [256]byte) {
	for c := '0'; c <= '9'; c++ {
		t[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = byte(c), byte(c)
	}
	t['_'], t['-'], t['!'], t['.'] = 0x1f, '-', '!', Dot
	return t
}()

// Letter is set in every folded letter.
const Letter = 0x40

// Seed and Prime are the constants of 32-bit FNV-1a.
const (
	Seed  = 2166136261
	Prime = 16777619
)

// Hash returns the FNV-1a hash of a word, ignoring ASCII case.
func Hash(word string) uint32 {
	h := uint32(Seed)
	for i := range len(word) {
		h = AddToHash(h, Fold[word[i]])
	}
	return h
}

// AddToHash returns the hash of a word that is one byte longer. h is the hash so far, and folded is
// the byte after [Fold].
func AddToHash(h uint32, folded byte) uint32 { return (h ^ uint32(folded)) * Prime }

// The hash table uses open addressing with linear probing. A slot consists of the upper bits
// of the hash and, in the lower IndexBits, the index of the key plus one. An empty slot is
// zero.
const (
	SlotBits  = 13
	Slots     = 1 << SlotBits
	IndexBits = 12
	MaxKeys   = 1<<IndexBits - 1 // MaxKeys is the maximum number of keys. The hash table stays at most half full.
)

// FirstSlot returns the index of the slot of a [Table] at which the search for a hash begins.
// FirstSlot combines the lower bits of the FNV hash, most of which HashTag omits, with upper bits.
func FirstSlot(h uint32) uint32 { return (h ^ h>>16) & (Slots - 1) }

// HashTag returns the upper bits of a hash, which a slot of a [Table] contains.
func HashTag(h uint32) uint32 { return h &^ (1<<IndexBits - 1) }

// KeyNumber returns the index of the key in a slot plus one, or 0 for an empty slot.
func KeyNumber(slot uint32) int { return int(slot & (1<<IndexBits - 1)) }

// Table is a hash table from words to the indexes of their keys.
type Table [Slots]uint32

// Add adds a word with the index of its key. A Table has room for [MaxKeys] words.
func (t *Table) Add(word string, number int) {
	h := Hash(word)
	i := FirstSlot(h)
	for t[i] != 0 {
		i = (i + 1) & (Slots - 1)
	}
	t[i] = HashTag(h) | uint32(number+1)
}
