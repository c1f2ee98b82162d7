package jsontext

// CountContainers returns the number of objects and arrays in JSON. Callers limit both numbers
// before decoding, because short JSON can need much memory. The number of objects includes nulls,
// because a null can need the memory of an object.
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
