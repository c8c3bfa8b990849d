// Package sourcetest is what tests of sources share: the kit that every driver of queries passes
// (Run), and a source that answers what it is told to (Fake).
package sourcetest
