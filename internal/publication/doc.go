// Package publication knows which change of a site's robots.txt is published, which
// one waits or is tried, and what was before.
//
// A change is what its owner wants: rules, as a spec in JSON that this package does
// not look into. A [State] is what is known of a site's changes; its methods are
// pure. A [Store] keeps it in a storage that many instances share, such that at any
// time, whatever fails or ends there, one whole change is published.
package publication
