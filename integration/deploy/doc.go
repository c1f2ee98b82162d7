// Package deploy reads the files of examples/deploy as those who run them do:
// Kubernetes by its API's types, Docker Compose by its loader, Docker by its parser
// and lint.
package deploy
