package jsontext

// CountContainers returns the number of objects and arrays in a JSON text. Callers limit these numbers
// before they decode, since a short text can need much memory. A null is an object here, since it
// may need the memory of one.
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
