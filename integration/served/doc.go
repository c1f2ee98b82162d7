// Package served tests that a crawler is held to what it was served, and that nobody can change what others were served.
package served
