// Package publish publishes the changes of a managed robots.txt, and stores their history.
//
// A [Change] is a submitted set of rules with a state. A [History] contains the changes of a site, and its
// methods are pure. A [Store] stores the history in a storage shared by instances. After any failure
// exactly one complete change is published. A [Publisher] submits the rules of a configuration, and
// composes, caches and serves the files of the published change.
package publish
