// Package policy holds what every part of hpad keeps to, as tests: who may import whom, that every
// package says what it is, that what is shipped works as written.
package policy
