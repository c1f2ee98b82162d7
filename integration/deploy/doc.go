// Package deploy checks the files of examples/deploy with the parsers of their tools:
// the API types of Kubernetes, the loader of Docker Compose, and the parser and lint of
// Docker.
package deploy
