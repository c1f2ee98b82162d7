package jsontext

// CountContainers returns the numbers of objects and arrays in JSON. Callers limit both before
// decoding, because short JSON can need much memory. Each null counts as an object, because it can
// need as much memory.
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
