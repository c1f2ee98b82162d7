package jsontext

// CountContainers returns the number of objects and arrays in a JSON text. Callers limit these
// numbers before decoding, because a short text can need much memory. A null counts as an object,
// because it can need the memory of an object.
func CountContainers(text []byte) (objects, arrays int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', 'n':
			objects++
		case '[':
			arrays++
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return objects, arrays
}
