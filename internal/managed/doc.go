// Package managed composes the robots.txt that a site serves: from the one that the
// site has, its base, and from rules about crawlers.
//
// A [Plan] is what the owner wants. [Plan.Compose] makes a text of a base and a
// plan; it is a function of these alone. A [Schedule] returns the plan of a host at a
// time. Package publish serves the files.
//
// What a composed text says to a crawler is what the base said to it, and then what
// the rules about it say; to a crawler that no rule is about it says what the base
// did. For that a crawler that a rule is about gets a group of its own, with a copy
// of what it obeyed until then, since a named group hides the * group. Crawlers that
// would obey that group instead of theirs, by a documented fallback, get one too.
package managed
