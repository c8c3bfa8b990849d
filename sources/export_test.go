package sources

// Kept is the number of answers s remembers.
func Kept(s *Shared) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}
