package words

// Classes of bytes in [Fold] that are no word bytes.
const (
	Gap = 0 // ends a word
	Dot = 1 // part of a word only between two word bytes
)

// Fold maps a byte to what is hashed for it: letters without their case, other
// word bytes as themselves, [Dot], or [Gap]. The underscore is moved out of the
// letters' range so that bit 6 is set for letters alone.
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

// Letter is the bit that a folded byte has if it is a letter.
const Letter = 0x40

// Seed and Prime are those of 32-bit FNV-1a.
const (
	Seed  = 2166136261
	Prime = 16777619
)

// Hash is FNV-1a over the folded bytes of a word, the dot as itself.
func Hash(word string) uint32 {
	h := uint32(Seed)
	for i := range len(word) {
		h = Step(h, Fold[word[i]])
	}
	return h
}

// Step adds one folded byte to a hash.
func Step(h uint32, folded byte) uint32 { return (h ^ uint32(folded)) * Prime }

// The hash table is open addressing with linear probing. A slot holds the upper
// bits of the hash and, in the lower [IndexBits], the number of the key plus
// one; zero is an empty slot.
const (
	SlotBits  = 13
	Slots     = 1 << SlotBits
	IndexBits = 12
	MaxKeys   = 1<<IndexBits - 1 // half of the slots
)

// Slot is where the search for a hash begins. The lower bits of an FNV hash are
// the better ones, and the upper ones are the tag.
func Slot(h uint32) uint32 { return (h ^ h>>16) & (Slots - 1) }

// Tag is the part of a hash that a slot keeps.
func Tag(h uint32) uint32 { return h &^ (1<<IndexBits - 1) }

// Number is the number in a slot plus one, 0 for an empty slot.
func Number(slot uint32) int { return int(slot & (1<<IndexBits - 1)) }

// Table is a filled hash table.
type Table [Slots]uint32

// Add enters the key with the given number; at most [MaxKeys] fit.
func (t *Table) Add(word string, number int) {
	h := Hash(word)
	i := Slot(h)
	for t[i] != 0 {
		i = (i + 1) & (Slots - 1)
	}
	t[i] = Tag(h) | uint32(number+1)
}
