package jsontext

// Nesting counts the objects and arrays of a JSON text, to be bounded before it is decoded:
// a few bytes of text can stand for much memory. So does each null, which is counted as
// the object whose room it takes.
func Nesting(text []byte) (objects, arrays int) {
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
