package store

// listsName is the one value with all lists.
const listsName = "ranges" + suffixJSON

// newLists returns the kind of the lists of addresses of crawlers that were fetched.
func newLists(s *Store) *single {
	known := s.memory.parts.Lists
	return &single{
		store: s, kindName: kindLists, value: listsName, about: "the lists of addresses", known: known, wait: noteInterval,
		at: func() revision { return revision{other: known.Fetched()} },
	}
}
